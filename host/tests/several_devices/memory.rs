//! Memory is freed once no GPU uses it, and a copy has ended when it returns.

use crate::fake_driver::controls::Launches;
use crate::fake_driver::log;
use crate::{KERNELS, Machine, both, faulty_fault, launch, of_gpu, one, waiting};
use gridsync::device::{Buffer, DeviceError, Devices, EmulatorConfig, HostBuffer};
use gridsync::primitives::scan::Form;
use gridsync::primitives::{Spread, SpreadReducer, SpreadScanner};
use gridsync_kernels::op::Sum;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{mem, thread};

/// Time limit for a call that must not wait: longer than the interval at which the other GPUs are
/// polled.
const SOON: Duration = Duration::from_millis(20);

/// Checks that `work` neither ends nor frees memory before the grid on GPU 1 has ended.
#[track_caller]
pub(crate) fn waits_for_gpu_1(machine: &Machine, work: impl FnOnce() + Send + 'static) {
    let frees = || log().iter().filter(|line| line.starts_with("free ")).count();
    let before = frees();
    let working = thread::spawn(work);
    thread::sleep(SOON);
    let is_early = working.is_finished() || frees() > before;
    machine.controls.end();
    working.join().expect("it ends with the grid");
    assert!(!is_early, "it did not wait");
}

#[test]
fn a_spread_scanner_is_freed_after_the_work_of_all_gpus() {
    let machine = Machine::of(2);
    let devices = Devices::cuda(&[0, 1], KERNELS).expect("there are two");
    let spread = || Spread::<f32>::in_stripes(&devices, 1 << 16, 1 << 15).expect("there is room");
    let (input, mut output) = (spread(), spread());
    let scanner = SpreadScanner::new(Sum::<f32>::new(), &devices, input.len());
    let mut scanner = scanner.expect("there is room");
    machine.controls.launches(1, Launches::Endless);
    scanner.launch(&input, &mut output, Form::Inclusive).expect("it is launched");
    waits_for_gpu_1(&machine, move || drop(scanner));
    drop((input, output, devices));
    assert_eq!(machine.controls.live(), "");
}

/// Records its drop.
struct Owner(Arc<AtomicBool>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn memory_of_one_gpu_is_freed_after_the_work_of_all() {
    let machine = Machine::of(2);
    let devices = both();
    let begin = || {
        machine.controls.launches(1, Launches::Endless);
        launch::<waiting>(&devices).expect("it is launched");
    };
    let buffer = || devices[0].zeroed::<u32>(64).expect("there is room");
    let own = buffer();
    begin();
    waits_for_gpu_1(&machine, move || drop(own));

    let (memory, is_dropped) = (buffer(), Arc::new(AtomicBool::new(false)));
    let owner = Owner(Arc::clone(&is_dropped));
    // SAFETY: the memory outlives the buffer.
    let owned = unsafe { Buffer::<u32>::from_raw(&devices[0], memory.address(), 64, owner) };
    let owned = owned.expect("it is memory of the device");
    begin();
    let seen = Arc::clone(&is_dropped);
    waits_for_gpu_1(&machine, move || {
        drop(owned);
        assert!(seen.load(Ordering::Relaxed));
    });
    machine.controls.launches(1, Launches::Run);
    drop((memory, devices));
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_stream_of_another_gpu_that_outlives_its_devices_may_still_use_memory() {
    let machine = Machine::of(2);
    let devices = both();
    let own = devices[0].zeroed::<u32>(64).expect("there is room");
    let other = devices[1].new_stream().expect("there is room");
    drop(devices);
    machine.controls.launches(1, Launches::Endless);
    // SAFETY: the kernel accesses no memory.
    unsafe { other.launch::<waiting>(&one(), ()) }.expect("it is launched");
    waits_for_gpu_1(&machine, move || drop(own));
    drop(other);
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_copy_has_ended_when_it_returns_even_if_another_gpu_failed() {
    type Work = fn(&mut Buffer<u32>) -> Result<Vec<u32>, DeviceError>;
    let copies: [Work; 2] =
        [|words| words.download(), |words| words.copy_from(&[7]).map(|()| Vec::new())];
    for (copy, expected) in copies.into_iter().zip([vec![5], vec![]]) {
        let machine = Machine::of(2);
        let devices = both();
        let mut words = devices[0].upload(&[5u32]).expect("there is room");
        machine.controls.hold_copies(0);
        // SAFETY: the kernel accesses no memory.
        unsafe { devices[1].launch::<faulty_fault>(&one(), ()) }.expect("it is launched");
        let copying = thread::spawn(move || copy(&mut words));
        thread::sleep(SOON);
        assert!(!copying.is_finished(), "the copy has not run");
        while !copying.is_finished() {
            machine.controls.end();
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(copying.join().expect("no panic"), Ok(expected));
    }
}

/// Whether memory is mapped at an address.
fn is_allocated(address: *const u8) -> bool {
    // SAFETY: this changes nothing, and accepts any page-aligned address.
    unsafe { libc::msync(address.cast_mut().cast(), 1, libc::MS_ASYNC) == 0 }
}

#[test]
fn memory_that_stays_pinned_is_not_freed() {
    let machine = Machine::of(2);
    for is_given_up in [false, true] {
        let devices = both();
        // Freed buffers of this size return to the system at once.
        let mut buffer = HostBuffer::zeroed(64 << 20).expect("it fits");
        buffer.pin(&devices[0]).expect("there is room");
        let address = buffer.bytes().as_ptr();
        assert!(is_allocated(address));
        if is_given_up {
            machine.controls.launches(1, Launches::Refused);
            launch::<waiting>(&devices).expect_err("GPU 1 refuses it");
        }
        drop(buffer);
        assert_eq!(is_allocated(address), is_given_up);
    }
}

#[test]
fn an_array_that_is_not_spread_over_all_devices_is_refused() {
    let config = EmulatorConfig { gpus: 2, ..EmulatorConfig::default() };
    let devices = Devices::emulated(config).expect("there may be two");
    let (len, op, form) = (1 << 13, Sum::<f32>::new(), Form::Inclusive);
    let spread = || {
        let mut spread = Spread::in_stripes(&devices, len, len / 2).expect("there is room");
        spread.copy_from(&vec![1f32; len]).expect("it is as long");
        spread
    };
    let (mut input, mut output) = (spread(), spread());
    let one = Devices::from(&devices[0]);
    let mut scanner = SpreadScanner::new(op, &one, len).expect("there is room");
    let mut sum = SpreadReducer::new(op, &one).expect("there is room");
    let elsewhere = DeviceError::SpreadElsewhere { parts: 2, gpus: 1 };
    assert_eq!(scanner.launch(&input, &mut output, form), Err(elsewhere.clone()));
    assert_eq!(sum.reduce(&input), Err(elsewhere));

    let mut scanner = SpreadScanner::new(op, &devices, len).expect("there is room");
    let mut sum = SpreadReducer::new(op, &devices).expect("there is room");
    let short = || devices[1].upload(&[1f32; 16]).expect("there is room");
    let is_refused = |result: Result<(), DeviceError>| {
        let error = of_gpu(result);
        assert_eq!(error, (1, DeviceError::LengthMismatch { buffer: 16, given: len / 2 }));
    };
    let part = mem::replace(output.part_mut(1), short());
    is_refused(scanner.launch(&input, &mut output, form));
    *output.part_mut(1) = part;
    let part = mem::replace(input.part_mut(1), short());
    is_refused(scanner.launch(&input, &mut output, form));
    is_refused(sum.reduce(&input).map(|_| ()));
    *input.part_mut(1) = part;
    assert_eq!(scanner.launch(&input, &mut output, form), Ok(()));
}

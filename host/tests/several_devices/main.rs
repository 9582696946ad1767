//! Several devices, on a driver that never runs two grids at once: opening, launching and waiting,
//! and that no call waits forever for a grid that never ends.

#[macro_use]
#[path = "../fake_driver/mod.rs"]
mod fake_driver;
mod memory;
mod order;
mod spread;
#[cfg(feature = "cust")]
mod with_cust;

use cuda_std::{f16, prelude::*};
use fake_driver::controls::{Controls, Launches};
use fake_driver::log_of;
use gridsync::device::cuda::{PtxImage, reaches};
use gridsync::device::{Device, DeviceError, Devices, Geometry, Launch};
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::primitives::{PartScanner, Reducer, Scanner, Spread, SpreadReducer};
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::Sum;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const IMAGES: &[PtxImage] = &[PtxImage::text(
    90,
    ptx!("sm_90": on_both_store reached_store unreached_store waiting faulty_fault refused_once recorded halfway whole),
)];

/// Kernels of primitives, which the fake driver runs. There, a scan over several GPUs does nothing.
const KERNELS: &[PtxImage] = &[PtxImage::text(
    90,
    ptx!("sm_90": reduce_sum_f32 reduce_sum_u64 scan_sum_f32 scan_bulk_sum_f32 scan_sum_f16_in_f64 scan_spread_sum_f32),
)];

macro_rules! kernels {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        ///
        /// The fake driver acts on the name alone.
        #[kernel]
        unsafe fn $name($($argument: $type),*) {}
    )*};
}
kernels! {
    on_both_store(_address: u64, _value: u32);
    reached_store(_address: u64, _value: u32);
    unreached_store(_address: u64, _value: u32);
    waiting();
    faulty_fault();
    refused_once();
    recorded();
    halfway();
    whole();
}

/// One block.
fn one() -> Geometry {
    Geometry::new(1, 32)
}

/// The fake driver, for one test at a time.
struct Machine {
    controls: Controls,
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Machine {
    /// A machine with this many devices.
    fn of(devices: u32) -> Self {
        static TAKEN: Mutex<()> = Mutex::new(());
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let controls = Controls::new();
        controls.devices(devices);
        Self { controls, _one_at_a_time: taken }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Release everything that still waits for an endless grid.
        self.controls.forget();
        self.controls.devices(1);
    }
}

/// Runs `work` on another thread and returns its result, or `None` after a second. In that case the
/// thread continues when the machine is dropped.
#[track_caller]
fn within_a_second<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, result) = mpsc::channel();
    let begun = Instant::now();
    thread::spawn(move || done.send(work()));
    let result = result.recv_timeout(Duration::from_secs(1));
    result.unwrap_or_else(|error| panic!("{error} after {:?}", begun.elapsed()))
}

fn both() -> Devices {
    Devices::cuda(&[0, 1], IMAGES).expect("there are two that reach each other")
}

/// Launches a kernel without arguments on all devices.
fn launch<K: cuda_std::launch::Kernel<Args = ()>>(devices: &Devices) -> Result<(), DeviceError> {
    let launches: Vec<_> = devices.iter().map(|_| Launch::new::<K>(one(), ())).collect();
    // SAFETY: kernels without arguments access no memory in the fake driver.
    unsafe { devices.launch(&launches) }
}

/// Launches `K` on `device`, which stores 7 at `address`.
fn store<K: cuda_std::launch::Kernel<Args = (u64, u32)>>(
    device: &Device,
    address: u64,
) -> Result<(), DeviceError> {
    // SAFETY: the fake driver refuses an address that does not exist.
    unsafe { device.launch::<K>(&one(), (address, 7)) }
}

/// The GPU number and the message of an error.
#[track_caller]
fn of_gpu<T: std::fmt::Debug>(result: Result<T, DeviceError>) -> (usize, DeviceError) {
    match result {
        Err(DeviceError::OnGpu { gpu, error, .. }) => (gpu, *error),
        other => panic!("an error of one of them: {other:?}"),
    }
}

#[track_caller]
fn are_given_up(devices: &Devices) {
    for device in devices {
        let refused = [
            device.synchronize(),
            device.zeroed::<u32>(1).map(|_| ()),
            device.free_memory().map(|_| ()),
            device.compile::<waiting>(),
            // SAFETY: the launch is refused.
            unsafe { device.launch::<waiting>(&one(), ()) },
        ];
        for refused in refused {
            assert!(matches!(refused, Err(DeviceError::GivenUp { .. })), "{refused:?}");
        }
    }
    for (gpu, error) in [of_gpu(devices.synchronize()), of_gpu(launch::<waiting>(devices))] {
        assert!(gpu == 0 && matches!(error, DeviceError::GivenUp { .. }), "{gpu}: {error}");
    }
}

#[test]
fn each_reaches_the_memory_of_the_other() {
    let machine = Machine::of(2);
    let devices = both();
    assert_eq!((devices.len(), devices.sharing()), (2, 1));
    let [mut here, there] = [0, 1].map(|gpu| devices[gpu].zeroed::<u32>(2).expect("there is room"));
    store::<reached_store>(&devices[0], there.address()).expect("0 reaches 1");
    store::<reached_store>(&devices[1], here.address() + 4).expect("1 reaches 0");
    devices.synchronize().expect("both have run");
    assert_eq!((here.download(), there.download()), (Ok(vec![0, 7]), Ok(vec![7, 0])));
    here.zero().expect("it is there");
    drop((here, there, devices));
    assert_eq!(machine.controls.live(), "");

    // Opened separately, neither reaches the other.
    let [alone, other] = [0, 1].map(|gpu| Device::cuda(gpu, IMAGES).expect("it is there"));
    let there = other.zeroed::<u32>(1).expect("there is room");
    store::<unreached_store>(&alone, there.address()).expect("it is launched");
    assert!(matches!(alone.synchronize(), Err(DeviceError::Lost { .. })));
    assert_eq!(there.download(), Ok(vec![0]));
}

#[test]
fn devices_that_were_opened_before_open_again() {
    let machine = Machine::of(2);
    let (first, second) = (both(), both());
    drop(first);
    let there = second[1].zeroed::<u32>(1).expect("there is room");
    store::<reached_store>(&second[0], there.address()).expect("it reaches it");
    assert_eq!(there.download(), Ok(vec![7]));
    drop((there, second));
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn one_way_access_is_refused_with_the_numbers_of_both_devices() {
    let machine = Machine::of(3);
    machine.controls.apart(2, 1);
    for ordinals in [&[2, 1][..], &[1, 2], &[0, 1, 2]] {
        let refused = Devices::cuda(ordinals, IMAGES).expect_err("2 does not reach 1");
        assert_eq!(refused, DeviceError::NoPeerAccess { from: 2, to: 1 });
        assert_eq!(machine.controls.live(), "", "{ordinals:?}");
    }
    assert_eq!((reaches(1, 2), reaches(2, 1), reaches(2, 2)), (Ok(true), Ok(false), Ok(true)));
    Devices::cuda(&[2, 0], IMAGES).expect("these reach each other");
    Devices::cuda(&[2, 2], IMAGES).expect("each reaches itself");
}

#[test]
fn missing_devices_and_wrong_counts_are_refused() {
    let machine = Machine::of(2);
    let missing = DeviceError::NoSuchDevice { ordinal: 2, count: 2 };
    assert_eq!(Devices::cuda(&[0, 1, 2], IMAGES).expect_err("there are two"), missing);
    assert_eq!(reaches(0, 2), Err(missing));
    for count in [0, 33] {
        let refused = Devices::cuda(&vec![0; count], IMAGES).expect_err("none, or too many");
        assert_eq!(refused, DeviceError::GpuCount { asked: count, limit: 32 });
    }
    assert_eq!(machine.controls.live(), "");
    assert_eq!(Devices::cuda(&[0; 32], IMAGES).map(|devices| devices.sharing()), Ok(32));
    assert_eq!(Devices::all_cuda(IMAGES).map(|devices| devices.len()), Ok(2));
}

#[test]
fn a_launch_on_all_is_one_launch_in_the_stream_of_each() {
    let machine = Machine::of(2);
    let devices = both();
    let words = devices.zeroed::<u32>(1).expect("there is room");
    let launches: Vec<_> = (words.iter().zip([5, 6]))
        .map(|(words, value)| Launch::new::<on_both_store>(one(), (words.address(), value)))
        .collect();
    // SAFETY: each address points to a word.
    unsafe { devices.launch(&launches) }.expect("it should run");
    devices.synchronize().expect("both have run");
    let stored: Vec<_> = words.iter().map(|words| words.download()).collect();
    assert_eq!(stored, [Ok(vec![5]), Ok(vec![6])]);
    // Both kernels are loaded before the first launch: loading may wait for a grid that runs.
    let steps: Vec<String> = log_of("on_both_store");
    let steps: Vec<_> = steps.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(steps, ["load", "find", "load", "find", "plain", "plain"]);
    drop((words, devices));
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_launch_that_the_second_device_refuses_gives_up_all() {
    let machine = Machine::of(2);
    let devices = both();
    let words = devices.zeroed::<u32>(1).expect("there is room");
    machine.controls.launches(0, Launches::Endless);
    machine.controls.launches(1, Launches::Refused);
    within_a_second(move || {
        let (gpu, error) = of_gpu(launch::<refused_once>(&devices));
        assert!(gpu == 1 && matches!(error, DeviceError::Launch { .. }), "{gpu}: {error}");
        are_given_up(&devices);
        drop((words, devices));
    });
}

#[test]
fn a_launch_that_the_first_device_refuses_changes_nothing() {
    let machine = Machine::of(2);
    let devices = both();
    machine.controls.launches(0, Launches::Refused);
    let (gpu, error) = of_gpu(launch::<refused_once>(&devices));
    assert!(gpu == 0 && matches!(error, DeviceError::Launch { .. }), "{gpu}: {error}");
    machine.controls.launches(0, Launches::Run);
    assert_eq!((launch::<refused_once>(&devices), devices.synchronize()), (Ok(()), Ok(())));
    drop(devices);
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_fault_ends_the_wait_for_a_device_that_never_ends() {
    for faulty in [0, 1] {
        let machine = Machine::of(2);
        let devices = both();
        let words = devices.zeroed::<u32>(1).expect("there is room");
        machine.controls.launches(1 - faulty, Launches::Endless);
        within_a_second(move || {
            launch::<faulty_fault>(&devices).expect("it is put into both streams");
            let (gpu, error) = of_gpu(devices.synchronize());
            assert_eq!(gpu as u32, faulty);
            assert!(matches!(error, DeviceError::Lost { .. }), "{error}");
            assert!(error.to_string().contains("`faulty_fault`"), "{error}");
            are_given_up(&devices);
            drop((words, devices));
        });
    }
}

#[test]
fn a_fault_reported_by_the_next_call_gives_up_all_devices() {
    type Call = fn(&Devices) -> Result<(), DeviceError>;
    let next_calls: [Call; 3] = [
        launch::<faulty_fault>,
        |devices| devices.zeroed::<u32>(1).map(|_| ()),
        |devices| devices.each(|_, device| device.synchronize()).map(|_| ()),
    ];
    for next_call in next_calls {
        let machine = Machine::of(2);
        let devices = both();
        let words = devices.zeroed::<u32>(1).expect("there is room");
        machine.controls.launches(1, Launches::Endless);
        within_a_second(move || {
            launch::<faulty_fault>(&devices).expect("it is put into both streams");
            let (gpu, error) = of_gpu(next_call(&devices));
            assert!(gpu == 0 && matches!(error, DeviceError::Lost { .. }), "{gpu}: {error}");
            are_given_up(&devices);
            drop((words, devices));
        });
    }
}

#[test]
fn a_copy_from_a_device_does_not_wait_for_one_that_has_failed() {
    for asked in [0, 1] {
        for faulty in [0, 1] {
            let machine = Machine::of(2);
            let devices = both();
            let words = devices.zeroed::<u32>(1).expect("there is room");
            machine.controls.launches(1 - faulty, Launches::Endless);
            within_a_second(move || {
                launch::<faulty_fault>(&devices).expect("it is put into both streams");
                let error = words[asked].download().expect_err("one of them has failed");
                let said = error.to_string();
                assert!(said.contains("`faulty_fault`"), "{said}");
                if asked as u32 != faulty {
                    assert_eq!(of_gpu::<()>(Err(error)).0, faulty as usize);
                }
                drop((words, devices));
            });
        }
    }
}

#[test]
fn drops_do_not_wait_for_a_failed_device() {
    let machine = Machine::of(2);
    let devices = both();
    let words = devices.zeroed::<u32>(1).expect("there is room");
    machine.controls.launches(0, Launches::Endless);
    within_a_second(move || {
        launch::<faulty_fault>(&devices).expect("it is put into both streams");
        drop((words, devices));
    });
}

#[test]
fn a_call_refused_during_a_recording_gives_up_no_device() {
    let machine = Machine::of(2);
    for recording in [0, 1] {
        let devices = both();
        let mut refused = Vec::new();
        let graph = devices[recording].record(|| {
            refused.extend([launch::<recorded>(&devices), devices.synchronize()]);
            Ok(())
        });
        drop(graph.expect("nothing is recorded"));
        for refused in refused {
            let (gpu, error) = of_gpu(refused);
            assert_eq!(gpu, recording);
            assert!(matches!(error, DeviceError::NotRecordable { .. }), "{error}");
        }
        assert_eq!((launch::<recorded>(&devices), devices.synchronize()), (Ok(()), Ok(())));
        let ran = log_of("recorded").into_iter().filter(|line| line.starts_with("plain"));
        assert_eq!(ran.count(), 2 * (recording + 1), "nothing ran that was refused");
    }
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_buffer_of_one_device_is_refused_by_another() {
    let machine = Machine::of(2);
    let devices = Devices::cuda(&[0, 1], KERNELS).expect("there are two");
    let [here, there] = [0, 1].map(|gpu| devices[gpu].zeroed::<f32>(64).expect("there is room"));
    let refused = |result: Result<(), DeviceError>| {
        assert!(matches!(result, Err(DeviceError::OtherDevice { .. })), "{result:?}");
    };
    let op = Sum::<f32>::new();
    let mut sum = Reducer::new(op, &devices[0]).expect("there is room");
    refused(sum.reduce(&there).map(|_| ()));
    assert_eq!(sum.reduce(&here), Ok(0.0));
    let mut scanner = Scanner::new(op, &devices[1], 64).expect("there is room");
    let mut output = devices[1].zeroed::<f32>(64).expect("there is room");
    refused(scanner.launch(&here, &mut output, Form::Inclusive));
    assert_eq!(scanner.launch(&there, &mut output, Form::Inclusive), Ok(()));
    let mut elsewhere = devices[0].zeroed::<f32>(64).expect("there is room");
    refused(scanner.launch(&there, &mut elsewhere, Form::Inclusive));
    // If a primitive did not check this, the driver would report the error here.
    devices.synchronize().expect("nothing has failed");
    drop((here, there, output, elsewhere, sum, scanner, devices));
    assert_eq!(machine.controls.live(), "");
}

#[test]
#[ignore = "8 s: a share of a scan has at least 4 Mi elements"]
fn a_shared_scan_resumes_where_it_was_after_a_failure() {
    let machine = Machine::of(2);
    let devices = Devices::cuda(&[0, 1], KERNELS).expect("there are two");
    let (op, form) = (Sum::<f16, f64>::new(), Form::Exclusive);
    // The first part is shared. The second one starts with the result of both devices.
    let group = Shape::part::<f16, f64>();
    let part = group + 300;
    // Sums of these values are rounded, so their bits show where a sum started.
    let value = |i: usize| f16::from_f32((i * 37 % 101) as f32 * 0.37 - 11.0);
    let input: Vec<f16> = (0..part + 500).map(value).collect();
    let scanner = PartScanner::new(op, &devices, 4 * group, form, 2 * group);
    let (mut scanner, mut sums) = (scanner.expect("there is room"), vec![0.0; input.len()]);
    let (first, second) = sums.split_at_mut(part);
    machine.controls.launches(1, Launches::Refused);
    let error = scanner.next(&input[..part], first).expect_err("device 1 refuses its share");
    assert!(error.to_string().contains("scan_sum_f16_in_f64"), "{error}");
    machine.controls.launches(1, Launches::Run);
    scanner.next(&input[..part], first).expect("it is tried again");
    machine.controls.launches(0, Launches::Refused);
    scanner.next(&input[part..], second).expect_err("device 0 refuses its share");
    machine.controls.launches(0, Launches::Run);
    scanner.next(&[], &mut []).expect("a part without elements changes nothing");
    scanner.next(&input[part..], second).expect("it is tried again");
    let expected = scan_on_cpu(op, &input, form);
    let differs = sums.iter().zip(&expected).position(|(a, b)| a.to_bits() != b.to_bits());
    assert_eq!(differs, None);
}

#[test]
fn the_driver_notices_memory_of_another_device() {
    let machine = Machine::of(2);
    let devices = both();
    let [here, there] = [0, 1].map(|gpu| devices[gpu].zeroed::<u32>(1).expect("there is room"));
    // SAFETY: the fake driver refuses an address of another device.
    let copied = unsafe { devices[0].backend().upload(there.address(), &[0; 4]) };
    assert!(copied.is_err(), "{copied:?}");
    drop((here, there, devices));
    assert_eq!(machine.controls.live(), "1 use of what another device has");
}

/// Each device writes its results to host memory. If one fails, the others have already written or
/// still will.
#[test]
fn a_sum_over_both_is_right_after_any_call_has_failed() {
    let machine = Machine::of(2);
    let devices = Devices::cuda(&[0, 1], KERNELS).expect("there are two that reach each other");
    // Above 4 MiB, leaves are tiles.
    let spread = |factor: u64| {
        let input: Vec<u64> = (0..(1 << 19) + 3001).map(|i| factor * i).collect();
        let mut spread = Spread::in_stripes(&devices, input.len(), 1 << 18).expect("there is room");
        spread.copy_from(&input).expect("it is as long");
        (spread, input.iter().sum::<u64>())
    };
    // One by one, so a leftover of an earlier sum gives a wrong result.
    let spreads = [spread(1), spread(2)];
    let mut sums = SpreadReducer::new(Sum::<u64>::new(), &devices).expect("there is room");
    let unasked = DeviceError::NoResult { what: "result of a reduction" };
    assert_eq!(sums.result(&spreads[0].0), Err(unasked.clone()));
    // Loads the kernels, so that all calls below are those of the sum.
    assert_eq!(sums.reduce(&spreads[1].0), Ok(spreads[1].1));
    let mut failed = Vec::new();
    loop {
        let (spread, expected) = &spreads[failed.len() % 2];
        machine.controls.fail(failed.len() as u64 + 1, false);
        let found = sums.reduce(spread);
        let Some(call) = machine.controls.failed() else {
            assert_eq!(found, Ok(*expected));
            break;
        };
        if found != Ok(*expected) {
            let (gpu, error) = of_gpu(found);
            assert!(gpu < 2, "{call}: {error}");
        }
        failed.push(call);
    }
    machine.controls.fail(0, false);
    let launches = failed.iter().filter(|call| call.contains("Launch")).count();
    assert_eq!(launches, 2, "{failed:?}");
    let (spread, expected) = &spreads[1];
    assert_eq!(sums.result(spread), Err(unasked));
    sums.launch(spread).expect("it is launched");
    assert_eq!(sums.result(spread), Ok(*expected));
}

//! Several streams of one device, and events between them: in the emulator, and on a driver where
//! work ends when the test decides.

#[macro_use]
mod fake_driver;

use cuda_std::prelude::*;
use fake_driver::controls::{Controls, Launches};
use fake_driver::{log, log_of};
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Buffer, Device, DeviceError, Emulator, EmulatorConfig, Geometry};
use gridsync::primitives::Reducer;
use gridsync_kernels::op::Sum;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

const IMAGES: &[PtxImage] = &[PtxImage::text(
    90,
    ptx!("sm_90": reduce_sum_f32 first_store once_store then_store waits_to_be_ended),
)];

macro_rules! stores {
    ($($name:ident)*) => {$(
        /// # Safety
        ///
        /// The address points to a word. The fake driver stores the value there.
        #[kernel]
        unsafe fn $name(_address: u64, _value: u32) {}
    )*};
}
stores!(first_store once_store then_store);

/// # Safety
///
/// It accesses no memory.
#[kernel]
unsafe fn waits_to_be_ended() {}

fn emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig::default()))
}

/// The fake driver, for one test at a time.
struct Machine {
    controls: Controls,
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Machine {
    fn new() -> Self {
        static TAKEN: Mutex<()> = Mutex::new(());
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let controls = Controls::new();
        controls.devices(2);
        Self { controls, _one_at_a_time: taken }
    }

    fn open(&self, ordinal: u32) -> Device {
        Device::cuda(ordinal, IMAGES).expect("the fake driver has two devices")
    }

    /// Adds a launch to the stream of `device` that ends when the returned value is dropped.
    fn keep_busy(&self, device: &Device) -> Busy<'_> {
        self.controls.launches(0, Launches::Endless);
        // SAFETY: the kernel accesses no memory.
        unsafe { device.launch::<waits_to_be_ended>(&Geometry::new(1, 32), ()) }
            .expect("it should launch");
        self.controls.launches(0, Launches::Run);
        Busy(&self.controls)
    }
}

/// Work that has not ended.
struct Busy<'a>(&'a Controls);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.controls.forget();
        self.controls.devices(1);
    }
}

/// Stores `value` in the word, in the stream of `device`.
fn store<K: cuda_std::launch::Kernel<Args = (u64, u32)>>(
    device: &Device,
    word: &Buffer<u32>,
    value: u32,
) {
    // SAFETY: the word lives until the streams have been synchronized.
    unsafe { device.launch::<K>(&Geometry::new(1, 1), (word.address(), value)) }
        .expect("it should launch");
}

/// The handle of the device's stream, as in the log.
fn handle(device: &Device) -> usize {
    let stream = device.backend().cuda_stream().expect("nobody records");
    stream.expect("it is a CUDA device").addr()
}

#[test]
fn streams_of_a_device_share_its_buffers_and_no_others() {
    let machine = Machine::new();
    let places = [[emulator(), emulator()], [machine.open(0), machine.open(0)]];
    for [device, stranger] in &places {
        let stream = device.new_stream().expect("there may be several");
        let input = device.upload(&[1.5f32; 100]).expect("it fits");
        let mut sum = Reducer::new(Sum::<f32>::new(), &stream).expect("it fits");
        assert_eq!(sum.reduce(&input), Ok(150.0));
        assert!(stream.shares_memory_with(device) && !stranger.shares_memory_with(device));
        let mut sum = Reducer::new(Sum::<f32>::new(), stranger).expect("it fits");
        let refused = sum.reduce(&input);
        assert!(matches!(refused, Err(DeviceError::OtherDevice { .. })), "{refused:?}");
    }
    drop(places);
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn work_that_waits_for_an_event_runs_after_it_and_no_other_work_waits() {
    let machine = Machine::new();
    let busy = machine.open(0);
    let [waiting, free] = [(); 2].map(|()| busy.new_stream().expect("there is room"));
    let [first, then] = [(); 2].map(|()| free.zeroed::<u32>(1).expect("there is room"));
    let work = machine.keep_busy(&busy);
    store::<first_store>(&busy, &first, 1);
    let event = busy.record_event().expect("nobody records");
    waiting.wait_for(&event).expect("nobody records");
    store::<then_store>(&waiting, &then, 2);
    let elsewhere = free.record_event().expect("nobody records");
    assert_eq!((event.is_done(), elsewhere.is_done()), (Ok(false), Ok(true)));
    assert_eq!(elsewhere.synchronize(), Ok(()));
    // This waits only for the stream of `free`.
    assert_eq!((first.download(), then.download()), (Ok(vec![0]), Ok(vec![0])));
    drop(work);
    assert_eq!((event.synchronize(), event.is_done()), (Ok(()), Ok(true)));
    assert_eq!((first.download(), then.download()), (Ok(vec![1]), Ok(vec![2])));
    drop((first, then, event, elsewhere, busy, waiting, free));
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_stream_waits_for_an_event_of_another_gpu() {
    let machine = Machine::new();
    let [busy, waiting] = [0, 1].map(|gpu| machine.open(gpu));
    let word = waiting.new_stream().expect("there is room").zeroed::<u32>(1).expect("it fits");
    let work = machine.keep_busy(&busy);
    let event = busy.record_event().expect("nobody records");
    waiting.wait_for(&event).expect("nobody records");
    store::<then_store>(&waiting, &word, 3);
    assert_eq!(word.download(), Ok(vec![0]));
    drop(work);
    assert_eq!(word.download(), Ok(vec![3]));
    let here = waiting.record_event().expect("nobody records");
    let refused = here.microseconds_since(&event);
    assert!(matches!(refused, Err(DeviceError::Unsupported { .. })), "{refused:?}");
}

#[test]
fn a_buffer_is_freed_after_all_streams_of_its_device() {
    let machine = Machine::new();
    let device = machine.open(0);
    let streams = [device.clone(), device.new_stream().expect("there is room")];
    let buffer = device.zeroed::<u32>(1).expect("it fits");
    let waits = streams.each_ref().map(|stream| format!("synchronize {}", handle(stream)));
    let free = format!("free {}", buffer.address());
    let before = log().len();
    drop(buffer);
    let after = log().split_off(before);
    let at = |line: &String| after.iter().position(|logged| logged == line);
    let freed = at(&free).expect("it has been freed");
    for wait in &waits {
        assert!(at(wait).is_some_and(|waited| waited < freed), "{wait} before {free}: {after:?}");
    }
    device.synchronize_all().expect("nothing has failed");
    let last: Vec<String> = log().split_off(before + after.len());
    assert_eq!(last, waits);
}

#[test]
fn a_buffer_that_is_dropped_while_any_stream_records_is_freed_afterwards() {
    let machine = Machine::new();
    let device = machine.open(0);
    let other = device.new_stream().expect("there is room");
    let mut dropped = device.zeroed::<u32>(1).ok();
    let free = format!("free {}", dropped.as_ref().expect("it fits").address());
    let before = log().len();
    let graph = other.record(|| {
        drop(dropped.take());
        assert!(!log()[before..].contains(&free));
        // The device's own stream does not record.
        device.zeroed::<u32>(1).map(drop)
    });
    assert!(graph.is_ok(), "{graph:?}");
    assert!(log()[before..].contains(&free));
    drop((graph, other, device));
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn an_event_is_neither_recorded_nor_awaited_in_a_graph() {
    let machine = Machine::new();
    for device in [emulator(), machine.open(0)] {
        let event = device.record_event().expect("nobody records");
        let other = device.new_stream().expect("there may be several");
        let graph = device.record(|| {
            for refused in [device.record_event().map(drop), device.wait_for(&event)] {
                let said = refused.expect_err("it cannot be recorded");
                assert!(matches!(said, DeviceError::NotRecordable { .. }), "{said}");
            }
            // The other stream is still usable.
            other.wait_for(&event)
        });
        assert!(graph.is_ok(), "{graph:?}");
        thread::scope(|scope| {
            let elsewhere = device.record(|| {
                let refused = scope.spawn(|| device.wait_for(&event)).join();
                let refused = refused.expect("it does not panic");
                assert!(
                    matches!(refused, Err(DeviceError::RecordingElsewhere { .. })),
                    "{refused:?}"
                );
                Ok(())
            });
            assert!(elsewhere.is_ok(), "{elsewhere:?}");
        });
    }
}

#[test]
fn a_stream_outlives_the_handle_that_it_came_from() {
    let machine = Machine::new();
    for device in [emulator(), machine.open(0)] {
        let stream = device.new_stream().expect("there may be several");
        let input = device.upload(&[2.0f32; 10]).expect("it fits");
        drop(device);
        let mut sum = Reducer::new(Sum::<f32>::new(), &stream).expect("it fits");
        assert_eq!(sum.reduce(&input), Ok(20.0));
    }
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_kernel_is_loaded_once_for_all_streams() {
    let machine = Machine::new();
    let device = machine.open(0);
    let word = device.zeroed::<u32>(1).expect("it fits");
    for stream in [device.new_stream(), device.new_stream()] {
        store::<once_store>(&stream.expect("there is room"), &word, 1);
    }
    let store = "plain once_store 1,1,1 1,1,1 0";
    assert_eq!(log_of("once_store"), ["load once_store sm_90", "find once_store", store, store]);
}

#[test]
fn the_time_between_two_events_has_a_sign() {
    let machine = Machine::new();
    let device = emulator();
    let [first, second] = [(); 2].map(|()| device.record_event().expect("nobody records"));
    let there = second.microseconds_since(&first).expect("both have passed");
    let back = first.microseconds_since(&second).expect("both have passed");
    assert!(there >= 0.0 && back == -there, "{there} {back}");
    assert_eq!(first.microseconds_since(&first), Ok(0.0));

    let device = machine.open(0);
    let [first, second] = [(); 2].map(|()| device.record_event().expect("nobody records"));
    // The fake driver reports 1.5 ms.
    assert_eq!(second.microseconds_since(&first), Ok(1500.0));
}

#[test]
fn foreign_memory_is_released_after_all_streams_even_in_a_panic() {
    /// Logs its drop.
    struct Owner(&'static Mutex<Vec<usize>>);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.lock().expect("no panic while it is locked").push(log().len());
        }
    }
    static DROPPED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let machine = Machine::new();
    let device = machine.open(0);
    let other = device.new_stream().expect("there is room");
    let memory = device.upload(&[7u32; 4]).expect("it fits");
    let waits = [&device, &other].map(|stream| format!("synchronize {}", handle(stream)));
    let before = log().len();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `memory` is longer than this part.
        let part =
            unsafe { Buffer::<u32>::from_raw(&device, memory.address(), 3, Owner(&DROPPED)) };
        let part = part.expect("it is memory of the device");
        assert_eq!(part.len(), 4, "this panics on purpose");
    }));
    assert!(panicked.is_err());
    let dropped = DROPPED.lock().expect("no panic while it is locked").clone();
    let [dropped] = dropped[..] else { panic!("once: {dropped:?}") };
    let log = log();
    assert!(waits.iter().all(|wait| log[before..dropped].contains(wait)), "{:?}", &log[before..]);
    assert_eq!(memory.download(), Ok(vec![7; 4]), "it has not been freed");
}

#[test]
fn memory_may_begin_at_any_element_but_not_within_one() {
    let machine = Machine::new();
    for device in [emulator(), machine.open(0)] {
        let memory = device.zeroed::<u32>(64).expect("it fits");
        for past in [1, 2, 3] {
            let address = memory.address() + past;
            // SAFETY: the address is refused.
            let refused = unsafe { Buffer::<u32>::from_raw(&device, address, 1, ()) };
            let refused = refused.expect_err("it begins within an element");
            assert_eq!(refused, DeviceError::Misaligned { address, alignment: 4 });
        }
        for past in [1, 2, 3, 4] {
            let (address, len) = (memory.address() + 4 * past, 64 - past as usize);
            // SAFETY: the rest of `memory`.
            let part = unsafe { Buffer::<u32>::from_raw(&device, address, len, ()) };
            assert_eq!(part.expect("it is aligned").download(), Ok(vec![0; len]));
        }
        // SAFETY: an empty buffer accesses nothing.
        let empty = unsafe { Buffer::<u32>::from_raw(&device, 0, 0, ()) };
        assert_eq!(empty.expect("nothing is anywhere").download(), Ok(vec![]));
    }
}

/// Number of launches of the sum so far.
fn sums_launched() -> usize {
    log_of("reduce_sum_f32").iter().filter(|line| line.starts_with("ex")).count()
}

/// Adds a sum of `input` behind unfinished work, and makes the wait for its result fail. The kernel
/// is already loaded.
fn fail_to_wait(machine: &Machine, sum: &mut Reducer<Sum<f32>>, input: &Buffer<f32>) {
    let before = sums_launched();
    // After the launch, the first call that fails is part of the wait.
    for call in 1.. {
        machine.controls.fail(call, false);
        sum.reduce(input).expect_err("a call has failed");
        if sums_launched() > before {
            break;
        }
    }
    machine.controls.fail(0, false);
}

#[test]
fn a_sum_is_launched_only_after_the_last_one_has_written_its_result() {
    let machine = Machine::new();
    let device = machine.open(0);
    let [first, second] = [1.0f32, 2.0].map(|x| device.upload(&[x; 100]).expect("it fits"));
    let mut sum = Reducer::new(Sum::<f32>::new(), &device).expect("it fits");
    sum.compile().expect("it is in the image");
    let work = machine.keep_busy(&device);
    fail_to_wait(&machine, &mut sum, &first);
    let launched = sums_launched();
    let waits = format!("synchronize {}", handle(&device));
    let before = log().len();
    let found = thread::scope(|scope| {
        let second = scope.spawn(|| sum.reduce(&second));
        while !log()[before..].contains(&waits) {
            thread::yield_now();
        }
        let early = sums_launched() - launched;
        drop(work);
        (early, second.join().expect("no panic"))
    });
    assert_eq!(found, (0, Ok(200.0)));
}

#[test]
fn a_reduction_overlaps_the_kernel_before_it() {
    let machine = Machine::new();
    let device = machine.open(0);
    let input = device.upload(&[1.0f32; 100]).expect("it fits");
    let mut sum = Reducer::new(Sum::<f32>::new(), &device).expect("it fits");
    assert_eq!(sum.reduce(&input), Ok(100.0));
    let last = log_of("reduce_sum_f32").pop().expect("it was launched");
    assert!(last.starts_with("ex ") && last.ends_with("programmatic=1"), "{last}");
}

#[test]
fn a_mailbox_is_lent_again_unless_a_launch_may_still_write_to_it() {
    let machine = Machine::new();
    let device = machine.open(0);
    let input = device.upload(&[1.0f32; 100]).expect("it fits");
    let lend = || device.backend().lend_mailbox(1).expect("it fits").expect("there are some");
    let give_back = |mailbox| {
        // SAFETY: it was lent just now and has not been used.
        unsafe { device.backend().take_mailbox_back(mailbox, 1) };
    };
    let mailbox = lend();
    give_back(mailbox);
    // The mailbox that was returned last is lent next.
    let mut sum = Reducer::new(Sum::<f32>::new(), &device).expect("it fits");
    assert_eq!(sum.reduce(&input), Ok(100.0));
    drop(sum);
    assert_eq!(lend(), mailbox);
    give_back(mailbox);

    let mut sum = Reducer::new(Sum::<f32>::new(), &device).expect("it fits");
    let work = machine.keep_busy(&device);
    fail_to_wait(&machine, &mut sum, &input);
    drop((work, sum));
    let mut lent: Vec<u64> = (0..100).map(|_| lend()).collect();
    assert!(!lent.contains(&mailbox));
    lent.sort_unstable();
    assert!(lent.is_sorted_by(|a, b| a + 64 <= *b), "each has a cache line: {lent:x?}");
}

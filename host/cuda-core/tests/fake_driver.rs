//! The claims on a driver that runs kernels in the emulator, counts what has not been released, and
//! whose work ends when the test decides.

#[macro_use]
mod claims;
#[path = "../../tests/fake_driver/mod.rs"]
#[macro_use]
mod fake_driver;

use claims::{Claim, SHARED, device, stream, upload};
use cuda_core::{Context, DeviceBuffer, DriverError, Stream, sys};
use fake_driver::controls::{Controls, Launches};
use fake_driver::{library, log};
use gridsync::op::Sum;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::Form;
use gridsync_cuda_core::{Error, StreamDevice};
use libtest_mimic::{Arguments, Trial};
use std::os::unix::fs::symlink;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, iter, thread};

const OWN: &[Claim] = claims! {
    memory_of_another_context_is_refused
    memory_that_another_stream_uses_is_refused
    dropping_buffers_and_primitives_does_not_wait
    memory_is_freed_after_the_work_that_reads_it
    memory_is_freed_after_the_work_that_writes_it
    memory_is_freed_after_the_other_streams_of_the_device
    given_memory_is_freed_in_the_stream
    given_memory_is_freed_without_a_pool
    given_memory_is_used_after_the_work_before
    a_stream_ends_after_its_device
    a_panic_of_the_work_leaves_the_memory_in_order
};

/// The folder in which cuda-core finds the fake driver as `libcuda.so.1`.
const FOLDER: &str = "LD_LIBRARY_PATH";

fn main() -> ExitCode {
    // The dynamic loader reads the variable when a process starts.
    let marked = "GRIDSYNC_CUDA_CORE_TESTS";
    if env::var_os(marked).is_none() {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        symlink(library(), folder.path().join("libcuda.so.1")).expect("the folder is writable");
        let paths = env::var_os(FOLDER).unwrap_or_default();
        let paths = iter::once(folder.path().into()).chain(env::split_paths(&paths));
        let itself = Command::new(env::current_exe().expect("a test knows where it is"))
            .args(env::args_os().skip(1))
            .env(FOLDER, env::join_paths(paths).expect("no path has a colon"))
            .env(marked, "")
            .status();
        let code = itself.expect("it starts").code();
        return code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, Into::into);
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let controls = Box::leak(Box::new(Controls::new()));
    let trials = SHARED.iter().chain(OWN).map(|&(name, claim)| {
        let controls: &Controls = controls;
        Trial::test(name, move || {
            controls.forget();
            controls.devices(2);
            claim();
            // A thread of cuda-core releases things when the work that uses them has ended.
            wait_until(|| controls.live().is_empty());
            assert_eq!(controls.live(), "", "not released");
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Waits until `is_so`, but not forever.
fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() && start.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// A stream that is busy until [`Controls::end`], with its device.
fn busy() -> (Arc<Stream>, StreamDevice) {
    let busy = stream();
    let device = device(&busy);
    keep_busy(&device);
    (busy, device)
}

/// Adds a launch to the stream of a device that does not end before [`Controls::end`].
fn keep_busy(device: &gridsync::device::Device) {
    let controls = Controls::new();
    let x = device.alloc::<f32>(8).expect("it fits");
    let mut sums = device.alloc::<f32>(8).expect("it fits");
    let mut scanner = Scanner::new(Sum::<f32>::new(), device, 8).expect("it fits");
    controls.launches(0, Launches::Endless);
    scanner.launch(&x, &mut sums, Form::Inclusive).expect("it should launch");
    controls.launches(0, Launches::Run);
}

/// Numbers that a stream which is not busy has copied to the device.
fn there(stream: &Stream) -> DeviceBuffer<f32> {
    upload(&stream.context().new_stream().expect("there is room"), &[1.0; 8])
}

/// Checks that `drop` frees the memory at `address` only when the endless work has ended, and that
/// the host does not wait.
#[track_caller]
fn is_freed_after_the_work(address: u64, drop: impl FnOnce()) {
    let (controls, since) = (Controls::new(), log().len());
    let before = allocations(&controls);
    drop();
    // The thread of cuda-core looks each millisecond.
    thread::sleep(Duration::from_millis(20));
    let (during, calls) = (allocations(&controls), log().split_off(since));
    // First of all, because a test that fails waits for the work too.
    controls.end();
    assert_eq!(during, before, "the work may use it");
    assert!(!calls.iter().any(|call| call.starts_with("synchronize")), "{calls:?}");
    wait_until(|| frees(since, address).is_some());
    assert!(frees(since, address).is_some(), "{address} is kept");
}

/// The call after the first `since` that freed the memory at `address`.
fn frees(since: usize, address: u64) -> Option<String> {
    let address = address.to_string();
    let mut calls = log().split_off(since).into_iter();
    calls.find(|call| call.starts_with("free") && call.split(' ').nth(1) == Some(&address))
}

/// How many allocations there are.
fn allocations(controls: &Controls) -> usize {
    let live = controls.live();
    let counts = live.split(", ").filter_map(|part| {
        part.strip_suffix(" allocation").or_else(|| part.strip_suffix(" allocations"))
    });
    counts.map(|count| count.parse::<usize>().expect("it is a number")).sum()
}

fn memory_of_another_context_is_refused() {
    let device = device(&stream());
    let there = Context::new(1).expect("there are two").new_stream().expect("there is room");
    let mut x = upload(&there, &[1.0f32; 8]);
    let refused = Error::OtherContext { own: 0, other: 1 };
    assert_eq!(device.lend(&x, |_| Ok(())), Err(refused.clone()));
    assert_eq!(device.lend_mut(&mut x, |_| Ok(())), Err(refused.clone()));
    assert!(refused.to_string().contains("CUDA device 1"), "{refused}");
}

fn memory_that_another_stream_uses_is_refused() {
    let (_busy, device) = busy();
    let own = device.stream().context().new_stream().expect("there is room");
    let elsewhere = claims::device(&own);
    let mut x = there(&own);
    assert_eq!(device.lend(&x, |_| Ok(())), Ok(()));
    // Both may read it.
    assert_eq!(elsewhere.lend(&x, |_| Ok(())), Ok(()));
    assert_eq!(elsewhere.lend_mut(&mut x, |_| Ok(())), Err(Error::InUse));
    assert_eq!(device.lend_mut(&mut x, |_| Ok(())), Ok(()));
    assert_eq!(elsewhere.lend(&x, |_| Ok(())), Err(Error::InUse));
    // So does cuda-core.
    let refused = DriverError(sys::cudaError_enum_CUDA_ERROR_NOT_READY);
    assert_eq!(x.to_host_vec(&own), Err(refused));
    let given = device.give(device.zeroed::<f32>(8).expect("it fits")).expect("it is its own");
    assert_eq!(given.to_host_vec(&own), Err(refused));
    Controls::new().end();
    assert_eq!(elsewhere.lend_mut(&mut x, |_| Ok(())), Ok(()));
    assert_eq!(given.to_host_vec(&own), Ok(vec![0.0; 8]));
}

fn dropping_buffers_and_primitives_does_not_wait() {
    let (_busy, device) = busy();
    let sums = device.zeroed::<f32>(8).expect("it fits");
    let scanner = Scanner::new(Sum::<f32>::new(), &device, 8).expect("it fits");
    is_freed_after_the_work(sums.address(), || drop((sums, scanner)));
}

fn memory_is_freed_after_the_work_that_reads_it() {
    let (busy, device) = busy();
    let x = there(&busy);
    let part = x.slice(1..8).expect("it is within");
    assert_eq!(device.lend(&part, |x| Ok(x.len())), Ok(7));
    drop(part);
    is_freed_after_the_work(x.cu_deviceptr(), || drop(x));
}

fn memory_is_freed_after_the_work_that_writes_it() {
    let (busy, device) = busy();
    let mut x = there(&busy);
    assert_eq!(device.lend_mut(&mut x, |x| Ok(x.zero()?)), Ok(()));
    is_freed_after_the_work(x.cu_deviceptr(), || drop(x));
}

fn memory_is_freed_after_the_other_streams_of_the_device() {
    let stream = stream();
    let device = device(&stream);
    let other = device.new_stream().expect("there is room");
    let x = upload(&stream, &[1.0f32; 8]);
    // gridsync's other stream is busy with what cuda-core does not know.
    let lent = device.lend(&x, |_| {
        keep_busy(&other);
        Ok(())
    });
    assert_eq!(lent, Ok(()));
    is_freed_after_the_work(x.cu_deviceptr(), || drop(x));
}

fn given_memory_is_freed_in_the_stream() {
    let (busy, device) = busy();
    let given = device.give(device.alloc::<f32>(8).expect("it fits")).expect("it is its own");
    let (address, since) = (given.cu_deviceptr(), log().len());
    is_freed_after_the_work(address, || drop(given));
    let expected = format!("free_async {address} {}", busy.cu_stream().addr());
    assert_eq!(frees(since, address), Some(expected));
}

fn given_memory_is_freed_without_a_pool() {
    Controls::new().without_pools();
    let device = device(&stream());
    let given = device.give(device.alloc::<f32>(8).expect("it fits")).expect("it is its own");
    let (address, since) = (given.cu_deviceptr(), log().len());
    drop(given);
    wait_until(|| frees(since, address).is_some());
    assert_eq!(frees(since, address), Some(format!("free {address}")));
}

fn given_memory_is_used_after_the_work_before() {
    let (busy, device) = busy();
    let given = device.give(device.zeroed::<f32>(8).expect("it fits")).expect("it is its own");
    let mut copy = there(&busy);
    copy.copy_from_device_async(&given, &busy).expect("it is submitted");
    is_freed_after_the_work(copy.cu_deviceptr(), || drop(copy));
}

fn a_stream_ends_after_its_device() {
    let stream = stream();
    let (handle, context) = (stream.cu_stream().addr(), stream.context().clone());
    let device = device(&stream);
    let x = upload(&stream, &[1.0f32; 8]);
    let copy = device.lend(&x, |x| Ok(device.upload(&x.download()?)?)).expect("it fits");
    let destroyed = format!("destroy {handle}");
    drop((stream, device));
    // The buffer of gridsync keeps the stream.
    assert!(!log().contains(&destroyed));
    assert_eq!(copy.download(), Ok(vec![1.0; 8]));
    drop(copy);
    wait_until(|| log().contains(&destroyed));
    assert!(log().contains(&destroyed));
    drop((x, context));
}

fn a_panic_of_the_work_leaves_the_memory_in_order() {
    let (busy, device) = busy();
    let x = there(&busy);
    let work = || device.lend(&x, |_| -> Result<(), Error> { panic!("on purpose") });
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    assert!(panicked.is_err());
    is_freed_after_the_work(x.cu_deviceptr(), || drop(x));
}

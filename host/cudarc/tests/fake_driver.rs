//! The claims on a driver that runs kernels in the emulator, counts what has not been released, and
//! whose work ends when the test decides.

#[macro_use]
mod claims;
#[path = "../../tests/fake_driver/mod.rs"]
#[macro_use]
mod fake_driver;

use claims::{Claim, SHARED, device, stream};
use cudarc::driver::{CudaContext, CudaStream};
use fake_driver::controls::{Controls, Launches};
use fake_driver::{library, log};
use gridsync::op::Sum;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::Form;
use gridsync_cudarc::{Error, StreamDevice};
use libtest_mimic::{Arguments, Trial};
use std::os::unix::fs::symlink;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::{env, iter};

const OWN: &[Claim] = claims! {
    memory_of_another_context_is_refused
    dropping_buffers_and_primitives_does_not_wait
    memory_is_freed_after_the_work_that_reads_it
    memory_is_freed_after_the_work_that_writes_it
    memory_is_freed_after_the_other_streams_of_the_device
    given_memory_is_used_after_the_work_before
    a_panic_of_the_work_leaves_the_memory_in_order
};

/// The folder in which cudarc finds the fake driver as `libcuda.so`.
const FOLDER: &str = "LD_LIBRARY_PATH";

fn main() -> ExitCode {
    // The dynamic loader reads the variable when a process starts.
    let marked = "GRIDSYNC_CUDARC_TESTS";
    if env::var_os(marked).is_none() {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        symlink(library(), folder.path().join("libcuda.so")).expect("the folder is writable");
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
            assert_eq!(controls.live(), "", "not released");
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Numbers in a stream, and a stream that is busy until [`Controls::end`], with its device.
fn busy() -> (Arc<CudaStream>, Arc<CudaStream>, StreamDevice) {
    let busy = stream();
    let own = busy.context().new_stream().expect("there is room");
    let device = device(&busy);
    keep_busy(&device);
    (own, busy, device)
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

/// Checks that `drop` frees memory only when the endless work has ended, and that the host does not
/// wait.
#[track_caller]
fn is_freed_after_the_work(drop: impl FnOnce()) {
    let (controls, since) = (Controls::new(), log().len());
    let before = allocations(&controls);
    drop();
    let (during, calls) = (allocations(&controls), log().split_off(since));
    // First of all, because a test that fails waits for the work too.
    controls.end();
    assert_eq!(during, before, "the work may use it");
    assert!(!calls.iter().any(|call| call.starts_with("synchronize")), "{calls:?}");
    assert!(allocations(&controls) < before);
}

/// How many allocations there are.
fn allocations(controls: &Controls) -> usize {
    let live = controls.live();
    let counts = live.split(", ").filter_map(|part| part.strip_suffix(" allocation"));
    counts.map(|count| count.parse::<usize>().expect("it is a number")).sum()
}

fn memory_of_another_context_is_refused() {
    let device = device(&stream());
    let there = CudaContext::new(1).expect("there are two").new_stream().expect("there is room");
    let mut x = there.clone_htod(&[1.0f32; 8]).expect("it fits");
    let refused = Error::OtherContext { own: 0, other: 1 };
    assert_eq!(device.lend(&x, |_| Ok(())), Err(refused.clone()));
    assert_eq!(device.lend_mut(&mut x, |_| Ok(())), Err(refused.clone()));
    assert!(refused.to_string().contains("CUDA device 1"), "{refused}");
}

fn dropping_buffers_and_primitives_does_not_wait() {
    let (_own, _busy, device) = busy();
    let sums = device.zeroed::<f32>(8).expect("it fits");
    let scanner = Scanner::new(Sum::<f32>::new(), &device, 8).expect("it fits");
    is_freed_after_the_work(|| drop((sums, scanner)));
}

fn memory_is_freed_after_the_work_that_reads_it() {
    let (own, _busy, device) = busy();
    let x = own.clone_htod(&[1.0f32; 8]).expect("it fits");
    assert_eq!(device.lend(&x.slice(1..), |x| Ok(x.len())), Ok(7));
    is_freed_after_the_work(|| drop(x));
}

fn memory_is_freed_after_the_work_that_writes_it() {
    let (own, _busy, device) = busy();
    let mut x = own.clone_htod(&[1.0f32; 8]).expect("it fits");
    assert_eq!(device.lend_mut(&mut x, |x| Ok(x.zero()?)), Ok(()));
    is_freed_after_the_work(|| drop(x));
}

fn memory_is_freed_after_the_other_streams_of_the_device() {
    let stream = stream();
    let device = device(&stream);
    let other = device.new_stream().expect("there is room");
    let x = stream.clone_htod(&[1.0f32; 8]).expect("it fits");
    // gridsync's other stream is busy with what cudarc does not know.
    let lent = device.lend(&x, |_| {
        keep_busy(&other);
        Ok(())
    });
    assert_eq!(lent, Ok(()));
    is_freed_after_the_work(|| drop(x));
}

fn given_memory_is_used_after_the_work_before() {
    let (own, _busy, device) = busy();
    let given = device.give(device.alloc::<f32>(8).expect("it fits")).expect("it is its own");
    let mut copy = own.alloc_zeros::<f32>(8).expect("it fits");
    own.memcpy_dtod(&given, &mut copy).expect("it is submitted");
    // Its stream waits for the copy, which waits for the work.
    is_freed_after_the_work(|| drop(copy));
}

fn a_panic_of_the_work_leaves_the_memory_in_order() {
    let (own, _busy, device) = busy();
    let x = own.clone_htod(&[1.0f32; 8]).expect("it fits");
    let work = || device.lend(&x, |_| -> Result<(), Error> { panic!("on purpose") });
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    assert!(panicked.is_err());
    is_freed_after_the_work(|| drop(x));
}

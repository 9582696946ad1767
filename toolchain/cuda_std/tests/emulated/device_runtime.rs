//! Kernels that launch kernels, from the kernel's side.

use crate::support::{config, download, fault_of, run, upload};
use cuda_std::device_runtime::{
    Attribute, Block, Error, FireAndForget, Geometry, Queue, TailLaunch, attribute, device, launch,
};
use cuda_std::launch::{Kernel, Launchable};
use cuda_std::prelude::*;
use simt::{Fault, LaunchConfig, Memory};

#[kernel(launchable)]
pub(crate) unsafe fn nothing() {}

/// Adds `value · 10 ^ place`, where `place` is the number of additions so far.
#[kernel(launchable)]
unsafe fn append(to: Global<u32>, value: u32) {
    let place = to.fetch_add(1, 1, Ordering::Relaxed, Scope::Device);
    to.write(0, to.read(0) + value * 10u32.pow(place));
}

fn is_launchable<K: Launchable>() -> &'static str {
    K::NAME
}

/// The digits that `body` and its children appended, the first one last.
#[track_caller]
fn appended(body: impl Fn(Global<u32>)) -> u32 {
    let mut memory = Memory::new(1 << 10);
    let words = upload(&mut memory, &[0u32; 2]);
    let done = simt::launch(&mut memory, &config(1, 1), &|| body(words));
    done.expect("the launches are allowed");
    download(&memory, words)[0]
}

/// Appends a digit in a separate grid.
#[track_caller]
fn digit(to: Global<u32>, value: u32, queue: &impl Queue) {
    // SAFETY: the children run sequentially here, and the words live until all have ended.
    let launched = unsafe { launch::<append>(Geometry::new(1, 1), queue, (to, value)) };
    assert_eq!(launched, Ok(()));
}

#[test]
fn a_launchable_kernel_is_a_kernel_on_the_host() {
    assert_eq!((is_launchable::<append>(), append::NAME), ("append", "append"));
}

#[test]
fn without_a_seed_children_run_in_launch_order_and_tails_last() {
    let found = appended(|to| {
        let block = Block::this();
        digit(to, 4, &TailLaunch);
        digit(to, 1, &block.default_stream());
        digit(to, 2, &FireAndForget);
        digit(to, 3, &block.stream().expect("there is room"));
        digit(to, 5, &TailLaunch);
    });
    assert_eq!(found, 5_43_21);
}

#[test]
fn a_stream_and_an_event_keep_working_after_they_are_dropped() {
    let found = appended(|to| {
        let block = Block::this();
        let last = block.default_stream();
        {
            let (stream, event) = (block.stream(), block.event());
            let (stream, event) = (stream.expect("there is room"), event.expect("there is room"));
            digit(to, 1, &stream);
            event.record(&stream).expect("both are of this block");
            last.wait(&event).expect("both are of this block");
        }
        digit(to, 2, &last);
    });
    assert_eq!(found, 21);
}

#[test]
fn a_child_has_the_requested_shape_or_is_rejected() {
    let launched = |geometry| {
        // SAFETY: the kernel does nothing.
        unsafe { launch::<nothing>(geometry, &FireAndForget, ()) }
    };
    run(&config(1, 1), || {
        assert_eq!(launched(Geometry::new((3, 2, 2), (4, 4, 4)).with_dynamic_shared(64)), Ok(()));
        let wrong = Err(Error::INVALID_CONFIGURATION);
        assert_eq!(launched(Geometry::new(1, 1025)), wrong);
        assert_eq!(launched(Geometry::new((1, 1 << 16), 1)), wrong);
        assert_eq!(launched(Geometry::new(1, 1).with_dynamic_shared(1 << 20)), wrong);
    });
}

#[test]
fn a_kernel_can_query_its_device() {
    run(&LaunchConfig { multiprocessors: 13, ..config(1, 1) }, || {
        assert_eq!(device(), Ok(0));
        assert_eq!(attribute(Attribute::Multiprocessors), Ok(13));
        assert_eq!(attribute(Attribute::WarpSize), Ok(32));
        assert_eq!(attribute(Attribute::MaxThreadsPerBlock), Ok(1024));
        assert_eq!(attribute(Attribute::MaxSharedPerBlock), Ok(48 << 10));
    });
}

#[test]
fn a_cooperative_grid_cannot_launch() {
    let config = LaunchConfig { cooperative: true, ..config(1, 1) };
    let fault = fault_of(&config, || {
        // SAFETY: the kernel does nothing.
        let _never = unsafe { launch::<nothing>(Geometry::new(1, 1), &FireAndForget, ()) };
    });
    assert!(matches!(fault, Fault::Trap { .. }), "{fault}");
}

#[test]
fn errors_have_the_names_and_numbers_of_cuda() {
    assert_eq!(Error::INVALID_CONFIGURATION.to_string(), "INVALID_CONFIGURATION (9)");
    assert_eq!(Error(69), Error::LAUNCH_PENDING_COUNT_EXCEEDED);
    assert_eq!(
        (Error(12_345).name(), Error(12_345).to_string()),
        (None, "CUDA error 12345".into())
    );
}

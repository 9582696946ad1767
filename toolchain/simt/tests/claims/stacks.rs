//! Stacks: thousands at once, reused, and never overrun silently.

use std::hint::black_box;

use simt::{Fault, LaunchConfig, Memory, Policy, launch};

use crate::support::{Words, assert_site, config};

#[test]
fn one_hundred_and_thirty_five_thousand_threads_are_alive_at_once() {
    let mut memory = Memory::new(1 << 20);
    let arrived = Words::zeros(&mut memory, 1);
    let stats = launch(&mut memory, &config(528, 256, Policy::Coarse), &|| {
        arrived.add(0, 1);
        simt::block_barrier();
        if simt::position().linear_thread() == 0 {
            arrived.wait_for(0, 528 * 256);
        }
    })
    .expect("all threads fit");
    assert_eq!(stats.threads, 528 * 256);
}

/// Recurses through `depth` frames of 1 KiB or more, with an in-thread call in each.
fn dive(depth: usize) {
    let frame = black_box([1u8; 1024]);
    simt::fence(simt::Scope::Device, simt::Order::SeqCst);
    if depth > 0 {
        dive(depth - 1);
    }
    black_box(frame);
}

#[test]
fn a_deep_call_overflows_unless_the_stack_is_larger() {
    let mut memory = Memory::new(1 << 20);
    let line = line!() - 10;
    let small = LaunchConfig { stack_bytes: 64 << 10, ..config(1, 8, Policy::RoundRobin) };
    let fault = launch(&mut memory, &small, &|| dive(60))
        .expect_err("60 frames of 1 KiB and more do not fit");
    assert!(matches!(fault, Fault::StackOverflow { bytes: 65_536, .. }), "{fault}");
    assert_site(&fault, 0, 0, file!(), line);
    let larger = LaunchConfig { stack_bytes: 1 << 20, ..config(1, 8, Policy::RoundRobin) };
    launch(&mut memory, &larger, &|| dive(60)).expect("1 MiB is enough");
}

#[test]
fn the_default_stack_is_large_enough_without_optimisation() {
    // Without optimisation, gridsync's kernels need up to 96 KiB.
    let depth = if cfg!(debug_assertions) { 96 } else { 24 };
    let config = config(1, 8, Policy::RoundRobin);
    launch(&mut Memory::new(0), &config, &|| dive(depth)).expect("a frame is 1 KiB and more");
}

#[test]
fn an_overflow_between_calls_is_found_by_the_canary() {
    let mut memory = Memory::new(1 << 20);
    let config = LaunchConfig { stack_bytes: 64 << 10, ..config(1, 8, Policy::RoundRobin) };
    let fault = launch(&mut memory, &config, &|| {
        simt::spin();
        fill();
    })
    .expect_err("the frames reach the canary");
    assert!(matches!(fault, Fault::StackOverflow { .. }), "{fault}");
    launch(&mut memory, &config, &|| _ = simt::spin()).expect("all is well again");
}

/// Writes one frame of 50 KiB: more than the 40 to 44 KiB that a stack of 64 KiB leaves to the
/// thread, but less than that plus the slack.
#[inline(never)]
fn fill() {
    let mut frame = [1u8; 50 << 10];
    black_box(&mut frame);
}

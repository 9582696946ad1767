//! Barriers of some warps of a block, and small asynchronous copies.

use simt::{
    BarrierVotes, Fault, LaunchConfig, Meet, Memory, Policy, Schedule, launch, named_barrier,
};

use crate::support::{Words, config, schedules};

/// Runs a kernel of three warps with the words of one array, with race detection.
fn run(schedule: Schedule, weak_memory: bool, kernel: impl Fn(Words)) -> Option<Fault> {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 96);
    let config =
        LaunchConfig { schedule, races: true, weak_memory, ..config(1, 96, Policy::RoundRobin) };
    launch(&mut memory, &config, &|| kernel(words)).err()
}

fn thread() -> u32 {
    simt::position().linear_thread()
}

/// The first warp writes and arrives, the second one waits and reads.
fn handing_over(first: Meet, arrives: bool) -> impl Fn(Words) {
    move |words| match thread() {
        0..32 => {
            words.set(thread() as usize, 1);
            if arrives {
                named_barrier(3, Some(64), first, true);
            }
        }
        32..64 => {
            named_barrier(3, Some(64), Meet::Wait, true);
            assert_eq!(words.get(thread() as usize - 32), 1);
        }
        _ => {}
    }
}

#[test]
fn two_of_three_warps_meet_and_arrivals_release() {
    for schedule in schedules() {
        for weak in [false, true] {
            assert_eq!(run(schedule, weak, handing_over(Meet::Wait, true)), None);
            assert_eq!(run(schedule, weak, handing_over(Meet::Arrive, true)), None);
        }
        let fault = run(schedule, false, handing_over(Meet::Arrive, false)).expect("a deadlock");
        assert!(matches!(fault, Fault::Deadlock(_)), "{fault}");
        assert!(fault.to_string().contains("barrier 3, where 32 of 64 threads"), "{fault}");
    }
}

#[test]
fn a_thread_that_only_arrives_learns_nothing() {
    let kernel = |words: Words| match thread() {
        0..32 => {
            named_barrier(0, Some(64), Meet::Arrive, true);
            words.get(thread() as usize);
        }
        32..64 => {
            words.set(thread() as usize - 32, 1);
            named_barrier(0, Some(64), Meet::Wait, true);
        }
        _ => {}
    };
    for schedule in schedules() {
        let fault = run(schedule, false, kernel).expect("a race");
        assert!(matches!(fault, Fault::Race(_)), "{fault}");
    }
}

#[test]
fn votes_of_a_barrier_are_those_of_its_warps() {
    let kernel = |_: Words| {
        if thread() >= 32 {
            let votes = named_barrier(1, Some(64), Meet::Vote(thread() < 50), true);
            assert_eq!(votes, BarrierVotes { count: 18, all: false, any: true });
        }
    };
    for schedule in schedules() {
        assert_eq!(run(schedule, false, kernel), None);
    }
}

#[test]
fn a_small_copy_needs_a_wait_and_no_proxy_fence() {
    let kernel = |waits: bool| {
        move |words: Words| {
            let tile = simt::static_shared("tile", 384, 16);
            let at = 4 * thread() as usize;
            words.set(thread() as usize, 7);
            let from = core::ptr::with_exposed_provenance(words.address() as usize + at);
            simt::async_copy(tile.wrapping_add(at), from, 4, 4);
            if waits {
                simt::async_wait(0);
            }
            assert_eq!(Words::shared(tile).get(thread() as usize), 7);
        }
    };
    for schedule in schedules() {
        for weak in [false, true] {
            assert_eq!(run(schedule, weak, kernel(true)), None);
        }
        let fault = run(schedule, false, kernel(false)).expect("no wait");
        assert!(matches!(fault, Fault::Race(_) | Fault::Uninitialised { .. }), "{fault}");
    }
}

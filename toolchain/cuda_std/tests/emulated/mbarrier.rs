//! Barriers in shared memory: phases, parities and bytes.

use crate::support::{config, fault_of, leaves, run};
use cuda_std::{mbarrier, shared_array, thread, warp};
use simt::{Fault, LaunchConfig, Memory, MissingOrder};

shared_array! {
    fn barriers() -> [u64; 2];
    fn values() -> [u32; 64];
}

/// Initialises both barriers for `arrivals` arrivals each, and synchronises the block.
fn init(arrivals: u32) {
    if thread::is_first_in_block() {
        mbarrier::init(barriers(), 0, arrivals);
        mbarrier::init(barriers(), 1, arrivals);
        mbarrier::fence_init();
    }
    thread::sync_threads();
}

#[track_caller]
fn trap_of(body: impl Fn()) -> String {
    let Fault::Trap { site, message } = fault_of(&config(1, 1), body) else {
        panic!("it should trap")
    };
    assert_eq!(site.place.file(), file!(), "{message}");
    message
}

#[test]
fn parity_one_of_a_fresh_barrier_has_ended_already() {
    run(&config(1, 40), || {
        init(1);
        mbarrier::wait(barriers(), 0, 1);
    });
}

#[test]
fn a_phase_ends_with_its_last_arrival_and_releases_earlier_writes() {
    let sums = leaves(&config(2, 96), &[0u32; 64], |out| {
        init(64);
        let i = thread::index_in_block();
        if i < 64 {
            values().write(i, i as u32);
            mbarrier::arrive(barriers(), 0);
        } else {
            mbarrier::wait(barriers(), 0, 0);
            let sum = (0..64).map(|j| values().read(j)).sum();
            out.write(32 * thread::block_index() + i - 64, sum);
        }
    });
    assert_eq!(sums, [2016; 64]);
}

#[test]
fn phases_alternate_parity() {
    run(&config(1, 64), || {
        init(1);
        let leads = thread::is_first_in_block();
        for round in 0..100 {
            if leads {
                mbarrier::wait(barriers(), 1, (round + 1) % 2);
                values().write(0, round);
                mbarrier::arrive(barriers(), 0);
            }
            warp::sync_warp(warp::FULL_MASK);
            mbarrier::wait(barriers(), 0, round % 2);
            assert_eq!(values().read(0), round);
            // The leader must not write the next round's value before all have read this one.
            thread::sync_threads();
            if leads {
                mbarrier::arrive(barriers(), 1);
            }
        }
    });
}

#[test]
fn a_missing_arrival_or_byte_is_a_deadlock_at_the_waiting_line() {
    let arrivals: [fn(); 2] = [
        || mbarrier::arrive(barriers(), 0),
        || {
            mbarrier::arrive_expect(barriers(), 0, 16);
            mbarrier::arrive(barriers(), 0);
        },
    ];
    for arrive in arrivals {
        let line = line!() + 5;
        let fault = fault_of(&config(1, 2), || {
            init(2);
            if thread::is_first_in_block() {
                arrive();
                mbarrier::wait(barriers(), 0, 0);
            }
        });
        let Fault::Deadlock(deadlock) = &fault else { panic!("{fault}") };
        let place = deadlock.waiting[0].place;
        assert_eq!((place.file(), place.line()), (file!(), line), "{fault}");
    }
}

#[test]
fn an_extra_arrival_a_parity_of_two_and_an_invalid_barrier_fault() {
    let message = trap_of(|| {
        init(1);
        mbarrier::arrive_expect(barriers(), 0, 32);
        mbarrier::arrive(barriers(), 0);
    });
    assert!(message.contains("still waits for 32 bytes"), "{message}");
    let message = trap_of(|| {
        init(1);
        mbarrier::wait(barriers(), 0, 2);
    });
    assert!(message.contains("is 0 or 1, not 2"), "{message}");
    let message = trap_of(|| {
        barriers().write(0, 0);
        mbarrier::arrive(barriers(), 0);
    });
    assert!(message.contains("call `mbarrier::init` first"), "{message}");
    let message = trap_of(|| mbarrier::init(barriers(), 0, 0));
    assert!(message.contains("not 0"), "{message}");
    let message = trap_of(|| {
        init(2);
        mbarrier::arrive_expect(barriers(), 0, 1 << 20);
    });
    assert!(message.contains("wait for 1048576"), "{message}");
}

/// The race in a block of two warps. The first writes and calls `arrive`, the second calls `wait`
/// and reads.
fn race(init: impl Fn(), arrive: impl Fn(), wait: impl Fn()) -> Option<MissingOrder> {
    let config = LaunchConfig { races: true, ..config(1, 64) };
    let launched = simt::launch(&mut Memory::new(1 << 10), &config, &|| {
        init();
        match thread::index_in_block() {
            0 => {
                values().write(0, 1);
                arrive();
            }
            32 => {
                wait();
                values().read(0);
            }
            _ => {}
        }
    });
    match launched {
        Ok(_) => None,
        Err(Fault::Race(race)) => Some(race.missing),
        Err(fault) => panic!("{fault}"),
    }
}

#[test]
fn only_an_arrival_and_a_wait_order_accesses() {
    let arrive = || mbarrier::arrive(barriers(), 0);
    let wait = || mbarrier::wait(barriers(), 0, 0);
    assert!(race(|| init(1), arrive, wait).is_none());
    let unwaited = race(|| init(1), arrive, || thread::block_fence());
    assert!(unwaited.is_some());
    // On a fresh barrier, parity 1 has already passed, without any arrival.
    let past = race(|| init(1), arrive, || mbarrier::wait(barriers(), 0, 1));
    assert!(past.is_some());
    let unjoined = || {
        if thread::is_first_in_block() {
            mbarrier::init(barriers(), 0, 1);
            mbarrier::fence_init();
        }
    };
    assert!(race(unjoined, arrive, wait).is_some());
}

#[test]
fn a_deadlock_reports_the_phase_and_what_it_lacks() {
    let stuck = simt::launch(&mut Memory::new(1 << 10), &config(1, 2), &|| {
        init(3);
        mbarrier::arrive(barriers(), 0);
        mbarrier::wait(barriers(), 0, 0);
    });
    let told = stuck.expect_err("an arrival is missing").to_string();
    let phase = "`mbarrier::wait` for the end of a phase of parity 0 (the barrier is in a phase of parity 0, \
                 which still needs 1 of 3 arrivals and 0 bytes)";
    assert!(told.contains(phase), "{told}");
}

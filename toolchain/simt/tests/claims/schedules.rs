//! Determinism, and what each policy brings to light.

use simt::{LaunchConfig, Memory, Policy, Schedule, Stats, launch};

use crate::support::{Words, config, global_thread};

/// Tickets in the order in which threads come to an atomic: the order of the run itself.
fn order(schedule: Schedule) -> (Vec<u32>, Stats) {
    let mut memory = Memory::new(1 << 20);
    let ticket = Words::zeros(&mut memory, 1);
    let words = Words::unwritten(&mut memory, 600);
    let config = LaunchConfig {
        schedule,
        ..config(6, 100, Policy::RoundRobin)
    };
    let stats = launch(&mut memory, &config, &|| {
        for _ in 0..global_thread() % 7 {
            simt::fence(simt::Scope::Device, simt::Order::AcqRel);
        }
        words.set(global_thread(), ticket.add(0, 1));
    })
    .expect("no fault");
    (words.host(&memory, 600), stats)
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 0..20 {
        let schedule = Schedule::from_seed(seed);
        assert_eq!(order(schedule), order(schedule), "{schedule:?}");
    }
}

#[test]
fn different_seeds_are_different_runs() {
    let policy = Policy::Random { quantum: 4 };
    let runs: Vec<_> = (0..10)
        .map(|seed| order(Schedule { seed, policy }).0)
        .collect();
    for (at, run) in runs.iter().enumerate() {
        assert!(
            !runs[..at].contains(run),
            "seed {at} repeats an earlier run"
        );
    }
}

/// Each thread reads its neighbour's word without a barrier between write and read. Returns which
/// threads saw the neighbour's value.
fn neighbours(policy: Policy) -> Vec<bool> {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 128);
    let seen = Words::unwritten(&mut memory, 128);
    launch(&mut memory, &config(1, 128, policy), &|| {
        let i = global_thread();
        words.set(i, 1);
        seen.set(i, words.get((i + 32) % 128));
    })
    .expect("a missing barrier is no bad access");
    seen.host(&memory, 128)
        .into_iter()
        .map(|seen| seen == 1)
        .collect()
}

#[test]
fn run_ahead_shows_a_missing_barrier_in_whole_warps() {
    let ahead = neighbours(Policy::RunAhead);
    // Warp 0 to 2 read the next warp before it has run; warp 3 reads warp 0, which has.
    assert_eq!(ahead, [vec![false; 96], vec![true; 32]].concat());
    let reverse = neighbours(Policy::Reverse);
    assert_eq!(reverse, [vec![true; 96], vec![false; 32]].concat());
    assert_eq!(neighbours(Policy::RoundRobin), vec![true; 128]);
}

#[test]
fn lanes_of_a_warp_move_access_by_access() {
    for policy in [
        Policy::RoundRobin,
        Policy::RunAhead,
        Policy::Random { quantum: 3 },
    ] {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        launch(&mut memory, &config(1, 32, policy), &|| {
            let i = global_thread();
            words.set(i, 1);
            assert_eq!(
                words.get((i + 1) % 32),
                1,
                "the whole warp wrote before any lane reads"
            );
        })
        .expect("lockstep");
    }
}

#[test]
fn an_unprotected_counter_loses_updates_in_lockstep() {
    let mut memory = Memory::new(1 << 20);
    let counter = Words::zeros(&mut memory, 1);
    launch(&mut memory, &config(4, 64, Policy::RoundRobin), &|| {
        counter.set(0, counter.get(0) + 1);
    })
    .expect("a race is no bad access");
    assert_eq!(
        counter.host(&memory, 1),
        [1],
        "every warp read before any wrote"
    );
}

#[test]
fn coarse_switches_at_synchronisation_only() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 64);
    let stats = launch(&mut memory, &config(1, 64, Policy::Coarse), &|| {
        for _ in 0..100 {
            words.add(global_thread(), 1);
        }
        simt::block_barrier(0);
    })
    .expect("no fault");
    assert_eq!(
        (stats.switches, stats.steps, stats.accesses),
        (128, 4, 6400)
    );
}

//! Determinism, and errors revealed by each policy.

use simt::{Fault, Lanes, LaunchConfig, Memory, Policy, Schedule, Stats, launch};

use crate::support::{Words, config, global_thread, schedules};

/// Tickets in the order in which threads reach an atomic, which is the order of the run.
fn order(schedule: Schedule) -> (Vec<u32>, Stats) {
    let mut memory = Memory::new(1 << 20);
    let ticket = Words::zeros(&mut memory, 1);
    let words = Words::unwritten(&mut memory, 600);
    let config = LaunchConfig { schedule, ..config(6, 100, Policy::RoundRobin) };
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
    let runs: Vec<_> = (0..10).map(|seed| order(Schedule::seeded(policy, seed)).0).collect();
    for (at, run) in runs.iter().enumerate() {
        assert!(!runs[..at].contains(run), "seed {at} repeats an earlier run");
    }
}

#[test]
fn no_two_seeds_give_the_same_run() {
    let mut runs = Vec::new();
    for seed in 0..100 {
        let run = order(Schedule::from_seed(seed)).0;
        let earlier = runs.iter().position(|earlier| *earlier == run);
        assert_eq!(earlier, None, "seed {seed} repeats an earlier run");
        runs.push(run);
    }
}

#[test]
fn every_policy_draws_from_its_seed() {
    let policies = [
        Policy::RoundRobin,
        Policy::RunAhead,
        Policy::Reverse,
        Policy::Coarse,
        Policy::Random { quantum: 4 },
    ];
    for policy in policies {
        for lanes in [Lanes::Together, Lanes::Apart] {
            let run = |seed| order(Schedule::seeded(policy, seed).with_lanes(lanes)).0;
            assert_ne!(run(1), run(2), "{policy:?}, {lanes:?}");
        }
    }
}

/// Counts, out of a hundred runs, those in which all lanes of a warp see the value written by the
/// lane above before they read, and those in which only some do.
fn lanes_in_step(lanes: Lanes) -> (u32, u32) {
    let (mut all, mut some) = (0, 0);
    for seed in 0..100 {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        let seen = Words::unwritten(&mut memory, 32);
        let policy = Policy::Random { quantum: 3 };
        let config = LaunchConfig {
            schedule: Schedule::seeded(policy, seed).with_lanes(lanes),
            ..config(1, 32, policy)
        };
        launch(&mut memory, &config, &|| {
            let i = global_thread();
            words.set(i, 1);
            seen.set(i, words.get((i + 1) % 32));
        })
        .expect("a missing barrier is not a bad access");
        match seen.host(&memory, 32).into_iter().sum() {
            32 => all += 1,
            0 => {}
            _ => some += 1,
        }
    }
    (all, some)
}

#[test]
fn lanes_of_a_warp_separate_only_under_lanes_apart() {
    assert_eq!(lanes_in_step(Lanes::Together), (100, 0));
    let (_, some) = lanes_in_step(Lanes::Apart);
    assert!(some > 80, "{some}");
}

#[test]
fn a_lane_may_wait_for_another_of_its_warp() {
    // As possible since Volta: in step with the others, or apart from them.
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let turn = Words::zeros(&mut memory, 1);
        let config = LaunchConfig { schedule, ..config(1, 32, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            turn.wait_for(0, 31 - global_thread() as u32);
            turn.add(0, 1);
        })
        .expect("each lane lets the one below it go on");
    }
}

#[test]
fn blocks_start_in_an_order_chosen_by_the_seed() {
    // Each block waits for the previous one, and one is resident at a time: a scan without tickets.
    let ends = |seed| {
        let mut memory = Memory::new(1 << 20);
        let turn = Words::zeros(&mut memory, 1);
        let config = LaunchConfig {
            schedule: Schedule::seeded(Policy::RunAhead, seed),
            max_resident_blocks: Some(2),
            ..config(20, 1, Policy::RoundRobin)
        };
        let launched = launch(&mut memory, &config, &|| {
            let block = simt::position().block_idx.x;
            turn.wait_for(0, block);
            turn.add(0, 1);
        });
        match launched {
            Ok(_) => true,
            Err(Fault::Deadlock(deadlock)) => {
                assert!(deadlock.never_started > 0, "{deadlock}");
                false
            }
            Err(fault) => panic!("{fault}"),
        }
    };
    assert!(ends(0), "in order each waits for blocks that have started");
    let stuck = (1..21).filter(|&seed| !ends(seed)).count();
    assert!(stuck >= 10, "{stuck} of 20");
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
    .expect("a missing barrier is not a bad access");
    seen.host(&memory, 128).into_iter().map(|seen| seen == 1).collect()
}

#[test]
fn run_ahead_shows_a_missing_barrier_in_whole_warps() {
    let ahead = neighbours(Policy::RunAhead);
    // Warps 0 to 2 read the next warp's words before it runs. Warp 3 reads warp 0's, which has run.
    assert_eq!(ahead, [vec![false; 96], vec![true; 32]].concat());
    let reverse = neighbours(Policy::Reverse);
    assert_eq!(reverse, [vec![true; 96], vec![false; 32]].concat());
    assert_eq!(neighbours(Policy::RoundRobin), vec![true; 128]);
}

#[test]
fn lanes_of_a_warp_move_access_by_access() {
    for policy in [Policy::RoundRobin, Policy::RunAhead, Policy::Random { quantum: 3 }] {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        launch(&mut memory, &config(1, 32, policy), &|| {
            let i = global_thread();
            words.set(i, 1);
            assert_eq!(words.get((i + 1) % 32), 1, "the whole warp wrote before any lane reads");
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
    .expect("a race is not a bad access");
    assert_eq!(counter.host(&memory, 1), [1], "every warp read before any wrote");
}

#[test]
fn coarse_switches_at_synchronisation_only() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 64);
    let stats = launch(&mut memory, &config(1, 64, Policy::Coarse), &|| {
        for _ in 0..100 {
            words.add(global_thread(), 1);
        }
        simt::block_barrier();
    })
    .expect("no fault");
    assert_eq!((stats.switches, stats.steps, stats.accesses), (128, 4, 6400));
}

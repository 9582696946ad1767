//! Launches that can never end.

use std::cell::Cell;

use simt::{Dim3, Fault, LaunchConfig, Memory, Policy, WaitingFor, launch};

use crate::support::{Words, assert_site, config, schedules};

#[test]
fn a_flag_that_is_never_set_is_a_deadlock() {
    let mut memory = Memory::new(1 << 20);
    let flag = Words::zeros(&mut memory, 1);
    for schedule in schedules() {
        let config = LaunchConfig { schedule, ..config(3, 40, Policy::RoundRobin) };
        let line = line!() + 3;
        let fault = launch(&mut memory, &config, &|| {
            if simt::position().linear_thread() == 0 {
                flag.wait_for(0, 1);
            }
            simt::block_barrier();
        })
        .expect_err("the flag stays 0");
        let Fault::Deadlock(deadlock) = &fault else { panic!("{fault}") };
        assert_eq!((deadlock.live_blocks, deadlock.never_started), (3, 0));
        assert_eq!(deadlock.waiting.len(), 6);
        let [spinner, rest] = &deadlock.waiting[..2] else { unreachable!() };
        assert_eq!((spinner.what, spinner.threads), (WaitingFor::Change, 1));
        assert_eq!((spinner.block, spinner.thread), (Dim3::new(0, 0, 0), Dim3::new(0, 0, 0)));
        assert_eq!(spinner.place.line(), line);
        assert_eq!((rest.what, rest.threads), (WaitingFor::BlockBarrier, 39));
        assert_eq!(rest.place.line(), line + 2);
        assert!(
            fault.to_string().contains("39 thread(s) from (1, 0, 0) at the block barrier"),
            "{fault}"
        );
    }
}

#[test]
fn a_lock_that_is_never_freed_is_a_deadlock_despite_its_writes() {
    let mut memory = Memory::new(1 << 20);
    let lock = Words::zeros(&mut memory, 1);
    let fault = launch(&mut memory, &config(2, 1, Policy::RoundRobin), &|| {
        while lock.add(0, 0) == 0 {
            simt::spin();
        }
    })
    .expect_err("an atomic that changes nothing is no progress");
    assert!(matches!(fault, Fault::Deadlock(_)), "{fault}");
}

#[test]
fn a_deadlock_names_the_blocks_that_have_exited() {
    let mut memory = Memory::new(1 << 20);
    for schedule in schedules() {
        let flag = Words::zeros(&mut memory, 1);
        let config = LaunchConfig { schedule, ..config(4, 1, Policy::RoundRobin) };
        let fault = launch(&mut memory, &config, &|| {
            if simt::position().block_idx.x.is_multiple_of(2) {
                flag.wait_for(0, 1);
            }
        });
        let told = fault.expect_err("the flag stays 0").to_string();
        let left = "2 of 4 blocks have already exited: 1, 3";
        assert!(told.contains(left), "{told}");
    }
}

#[test]
fn blocks_that_wait_for_blocks_never_started_are_counted() {
    let mut memory = Memory::new(1 << 20);
    for schedule in schedules() {
        let arrived = Words::zeros(&mut memory, 1);
        let config = LaunchConfig {
            schedule,
            max_resident_blocks: Some(5),
            ..config(8, 32, Policy::RoundRobin)
        };
        let fault = launch(&mut memory, &config, &|| {
            if simt::position().linear_thread() == 0 {
                arrived.add(0, 1);
                arrived.wait_for(0, 8);
            }
            simt::block_barrier();
        })
        .expect_err("three blocks cannot start");
        let Fault::Deadlock(deadlock) = &fault else { panic!("{fault}") };
        assert_eq!((deadlock.live_blocks, deadlock.never_started, deadlock.grid_blocks), (5, 3, 8));
        assert!(fault.to_string().contains("launch at most 5 blocks"), "{fault}");
        assert_eq!(arrived.host(&memory, 1), [5]);
    }
}

#[test]
fn blocks_beyond_the_resident_ones_start_when_others_exit() {
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 100);
        let config = LaunchConfig {
            schedule,
            max_resident_blocks: Some(3),
            ..config(100, 40, Policy::RoundRobin)
        };
        let stats = launch(&mut memory, &config, &|| {
            words.add(simt::position().block_idx.x as usize, 1);
            simt::block_barrier();
        })
        .expect("blocks do not wait for each other");
        assert_eq!(stats.blocks, 100);
        assert_eq!(words.host(&memory, 100), [40; 100]);
    }
}

#[test]
fn a_chain_of_blocks_in_order_runs_with_one_resident_block() {
    let mut memory = Memory::new(1 << 20);
    let turn = Words::zeros(&mut memory, 1);
    let config = LaunchConfig { max_resident_blocks: Some(1), ..config(50, 1, Policy::RoundRobin) };
    launch(&mut memory, &config, &|| {
        let block = simt::position().block_idx.x;
        turn.wait_for(0, block);
        turn.add(0, 1);
    })
    .expect("each block waits only for earlier ones");
}

#[test]
fn a_timeout_ends_an_endless_spin() {
    let mut memory = Memory::new(1 << 20);
    let flag = Words::zeros(&mut memory, 2);
    for schedule in schedules() {
        let config = LaunchConfig { schedule, ..config(4, 33, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            let start = simt::clock();
            while flag.get(0) == 0 && simt::clock() - start < 10_000_000_000 {
                simt::spin();
            }
            flag.add(1, 1);
        })
        .expect("ten emulated seconds pass");
    }
    assert_eq!(flag.host(&memory, 2)[1], 4 * 33 * schedules().len() as u32);
}

#[test]
fn a_change_of_memory_restarts_the_patience() {
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let turn = Words::zeros(&mut memory, 1);
        let config = LaunchConfig { schedule, patience: 3, ..config(3, 1, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            for round in 0..300 {
                turn.wait_for(0, 3 * round + simt::position().block_idx.x);
                simt::spin();
                turn.add(0, 1);
            }
        })
        .expect("in every round some block writes");
        assert_eq!(turn.host(&memory, 1), [900]);
    }
}

#[test]
fn a_kernel_that_only_sleeps_ends_and_time_passes() {
    for schedule in schedules() {
        let config = LaunchConfig { schedule, ..config(3, 40, Policy::RoundRobin) };
        launch(&mut Memory::new(0), &config, &|| {
            let start = simt::clock();
            for _ in 0..1000 {
                simt::nanosleep(500);
            }
            // The first sleep counts from a step before `start` was read.
            assert!(simt::clock() - start >= 999 * 500);
        })
        .expect("a sleep ends by itself");
    }
}

#[test]
fn the_sleeps_of_many_warps_overlap() {
    let longest = Cell::new(0);
    launch(&mut Memory::new(0), &config(100, 64, Policy::RoundRobin), &|| {
        let start = simt::clock();
        simt::nanosleep(1_000_000);
        longest.set(longest.get().max(simt::clock() - start));
    })
    .expect("a sleep ends by itself");
    assert!((1_000_000..2_000_000).contains(&longest.get()), "{longest:?}");
}

#[test]
fn a_sleep_yields_to_the_warp_that_is_waited_for() {
    let mut memory = Memory::new(1 << 20);
    let flag = Words::zeros(&mut memory, 1);
    for policy in [Policy::RunAhead, Policy::Reverse] {
        memory.zero(flag.address(), 4).expect("allocated");
        let config = LaunchConfig { step_limit: 10_000, ..config(2, 1, policy) };
        let (waiter, writer) = if policy == Policy::RunAhead { (0, 1) } else { (1, 0) };
        launch(&mut memory, &config, &|| {
            let block = simt::position().block_idx.x;
            while block == waiter && flag.get(0) == 0 {
                simt::nanosleep(1);
            }
            if block == writer {
                flag.set(0, 1);
            }
        })
        .expect("the writer has its turn");
    }
}

#[test]
fn a_spin_that_also_sleeps_is_still_a_deadlock() {
    let mut memory = Memory::new(1 << 20);
    let flag = Words::zeros(&mut memory, 1);
    for schedule in schedules() {
        let config =
            LaunchConfig { schedule, step_limit: 100_000, ..config(2, 33, Policy::RoundRobin) };
        let fault = launch(&mut memory, &config, &|| {
            while flag.get(0) == 0 {
                simt::spin();
                simt::nanosleep(20);
            }
        })
        .expect_err("the flag stays 0");
        assert!(matches!(fault, Fault::Deadlock(_)), "{fault}");
    }
}

#[test]
fn a_long_computation_is_not_a_deadlock() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 2);
    for schedule in schedules() {
        let done = Words::zeros(&mut memory, 1);
        let config = LaunchConfig { schedule, patience: 2, ..config(2, 1, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            if simt::position().block_idx.x == 0 {
                let sum: u32 = (0..5000).map(|_| words.get(0)).sum();
                done.set(0, 1 + sum);
            } else {
                done.wait_for(0, 1);
            }
        })
        .expect("block 0 reads for long, but does not spin");
    }
}

#[test]
fn a_loop_without_spin_hits_the_step_limit() {
    let mut memory = Memory::new(1 << 20);
    let flag = Words::zeros(&mut memory, 1);
    for policy in [Policy::RunAhead, Policy::Coarse, Policy::RoundRobin] {
        let config = LaunchConfig { step_limit: 10_000, ..config(1, 2, policy) };
        let fault = launch(&mut memory, &config, &|| while flag.get(0) == 0 {})
            .expect_err("the loop does not end");
        assert!(matches!(fault, Fault::StepLimit { limit: 10_000, .. }), "{fault}");
        assert!(fault.site().is_some());
    }
}

#[test]
fn the_step_limit_names_the_thread_whose_turn_it_is() {
    let mut memory = Memory::new(1 << 20);
    let flag = Words::zeros(&mut memory, 1);
    let config = LaunchConfig { step_limit: 10_000, ..config(2, 1, Policy::RunAhead) };
    let line = line!() + 5;
    let fault = launch(&mut memory, &config, &|| {
        if simt::position().block_idx.x == 0 {
            flag.wait_for(0, 1);
        }
        while flag.get(0) == 0 {}
    })
    .expect_err("block 1 does not let block 0 go on");
    assert_site(&fault, 1, 0, file!(), line);
}

/// Policies under which a loop that never yields keeps all other threads from running.
const SELFISH: [Policy; 3] = [Policy::RunAhead, Policy::Reverse, Policy::Coarse];

#[test]
fn a_wait_without_spin_is_reported_with_its_line() {
    for policy in SELFISH {
        let waits: [(u32, &dyn Fn(Words)); 3] = [
            (line!(), &|flag| while flag.get(0) == 0 {}),
            // Two words alternately, as in a look-back over tiles.
            (line!(), &|flag| while flag.get(0) + flag.get(1) == 0 {}),
            (line!(), &|flag| while flag.add(0, 0) == 0 {}),
        ];
        for (line, wait) in waits {
            let mut memory = Memory::new(1 << 20);
            let flag = Words::zeros(&mut memory, 2);
            let waiter = if policy == Policy::Reverse { 1 } else { 0 };
            let fault =
                launch(&mut memory, &config(2, 1, policy), &|| match simt::position().block_idx.x
                    == waiter
                {
                    true => wait(flag),
                    false => flag.set(0, 1),
                })
                .expect_err("the writer never has its turn");
            assert!(matches!(fault, Fault::NoProgress { .. }), "{fault}");
            assert_site(&fault, waiter, 0, file!(), line);
            let told = fault.to_string();
            assert!(told.contains("call `spin` in each iteration of a loop"), "{told}");
        }
    }
}

#[test]
fn a_warp_that_waits_by_votes_is_reported_too() {
    let mut memory = Memory::new(1 << 20);
    let flag = Words::zeros(&mut memory, 1);
    let fault = launch(&mut memory, &config(1, 32, Policy::RoundRobin), &|| {
        let all_came = || {
            let came = u128::from(flag.get(0) == 1);
            simt::warp_exchange(u32::MAX, "vote.sync.all", came).values.contains(&1)
        };
        while !all_came() {}
    })
    .expect_err("nobody sets the flag");
    assert!(matches!(fault, Fault::NoProgress { .. }), "{fault}");
}

#[test]
fn long_loops_with_progress_are_not_mistaken_for_waits() {
    const TURNS: usize = 600_000;
    // A small table that is read repeatedly, and an occasional result.
    let computes = |words: Words, turn: usize| {
        words.get(turn % 3);
        if turn.is_multiple_of(100_000) {
            words.set(10, turn as u32 + 1);
        }
    };
    // More words than a waiting loop reads.
    let reads_on = |words: Words, turn: usize| _ = words.get(turn % 64);
    // A wait that yields, for a change that never comes.
    let spins = |words: Words, _: usize| {
        words.get(0);
        simt::spin();
    };
    let loops: [&dyn Fn(Words, usize); 3] = [&computes, &reads_on, &spins];
    for policy in SELFISH {
        for one in loops {
            let mut memory = Memory::new(1 << 20);
            let words = Words::zeros(&mut memory, 64);
            let config = LaunchConfig { patience: u32::MAX, ..config(1, 1, policy) };
            launch(&mut memory, &config, &|| (0..TURNS).for_each(|turn| one(words, turn)))
                .expect("the loop ends");
        }
    }
}

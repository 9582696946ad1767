//! Waits for blocks that had not started when the wait began, in launches that are not cooperative.

use crate::support::{Words, config, schedules};
use simt::{
    Dim3, EarlyWait, LaunchConfig, Memory, Order, Policy, Schedule, Scope, launch, launch_on_gpus,
};

const BLOCKS: u32 = 5;

/// The first early wait of a launch of some blocks of 33 threads.
fn found(config: &LaunchConfig<'_>, kernel: impl Fn(Words)) -> Option<EarlyWait> {
    let mut memory = Memory::new(1 << 12);
    let words = Words::zeros(&mut memory, 64);
    launch(&mut memory, config, &|| kernel(words)).expect("it ends").early_wait
}

fn under(schedule: Schedule) -> LaunchConfig<'static> {
    LaunchConfig { schedule, ..config(BLOCKS, 33, Policy::RoundRobin) }
}

/// All schedules, with and without weak memory.
fn launches() -> impl Iterator<Item = LaunchConfig<'static>> {
    let drawn = (1..60).map(Schedule::from_seed);
    let of =
        |schedule| [false, true].map(|weak_memory| LaunchConfig { weak_memory, ..under(schedule) });
    schedules().into_iter().chain(drawn).flat_map(of)
}

fn load(words: Words, at: usize) -> u32 {
    words.load(at, Order::Acquire, Scope::Device)
}

fn is_first() -> bool {
    simt::position().linear_thread() == 0
}

/// A counter that each block adds to and waits for.
fn barrier(words: Words) {
    if is_first() {
        words.add(0, 1);
        while load(words, 0) < BLOCKS {
            simt::spin();
        }
    }
    simt::block_barrier();
}

#[test]
fn a_barrier_of_a_plain_launch_waits_for_blocks_that_have_not_started() {
    let warned = launches().filter(|config| found(config, barrier).is_some()).count();
    assert!(2 * warned > launches().count(), "{warned} of {}", launches().count());
}

#[test]
fn an_early_wait_names_both_blocks_and_lines() {
    let line = line!() + 3;
    let wait = found(&under(Schedule::new(Policy::RunAhead)), |words| {
        match (is_first(), simt::position().block_idx.x) {
            (true, 3) => words.store(0, 1, Order::Release, Scope::Device),
            (true, 0) => words.wait_for(0, 1),
            _ => {}
        }
    });
    let wait = wait.expect("block 3 starts later");
    assert_eq!([wait.block, wait.other], [Dim3::new(0, 0, 0), Dim3::new(3, 0, 0)]);
    assert_eq!([wait.written, wait.place].map(|place| place.line()), [line, line + 1]);
    assert!(wait.place.file().ends_with("early_waits.rs"));
}

#[test]
fn a_cooperative_launch_may_wait_for_any_block() {
    for config in launches() {
        let config = LaunchConfig { cooperative: true, ..config };
        assert_eq!(found(&config, barrier), None, "{config:?}");
    }
}

#[test]
fn blocks_that_draw_their_number_have_no_early_wait() {
    for config in launches() {
        let wait = found(&config, |words| {
            if is_first() {
                let ticket = words.add(0, 1) as usize;
                while ticket > 0 && load(words, ticket) == 0 {
                    simt::spin();
                }
                words.store(ticket + 1, 1, Order::Release, Scope::Device);
            }
        });
        assert_eq!(wait, None, "{config:?}");
    }
}

/// The lock is held by blocks that have started, but a later one may be the last to free it.
#[test]
fn waiting_for_a_lock_is_not_an_early_wait() {
    for config in launches() {
        let spins = found(&config, |words| {
            for _ in 0..if is_first() { 3 } else { 0 } {
                while words.exchange(0, 1) != 0 {
                    simt::spin();
                }
                words.add(1, 1);
                words.store(0, 0, Order::Release, Scope::Device);
            }
        });
        assert_eq!(spins, None, "{config:?}");
        let looks = found(&config, |words| {
            for _ in 0..if is_first() { 3 } else { 0 } {
                while load(words, 0) != 0 || words.exchange(0, 1) != 0 {
                    simt::spin();
                }
                words.add(1, 1);
                words.store(0, 0, Order::Release, Scope::Device);
            }
        });
        assert_eq!(looks, None, "{config:?}");
    }
}

#[test]
fn blocks_of_a_cluster_start_together() {
    for config in launches() {
        let config = LaunchConfig { grid: 4.into(), cluster: Some(2), ..config };
        let wait = found(&config, |words| {
            let block = simt::position().block_idx.x as usize;
            if is_first() {
                words.store(block, 1, Order::Release, Scope::Device);
                while load(words, block ^ 1) == 0 {
                    simt::spin();
                }
            }
        });
        assert_eq!(wait, None, "{config:?}");
    }
}

#[test]
fn waiting_for_another_gpu_is_not_an_early_wait() {
    for config in launches() {
        let mut memory = Memory::of_gpus(2, 1 << 12);
        let words = Words::global(memory.alloc_on(0, 256, 256).expect("it fits"));
        memory.zero(words.address(), 256).expect("allocated just now");
        let of = |mine: usize, other: usize| {
            move || {
                if is_first() && simt::position().block_idx.x == 0 {
                    words.store(mine, 1, Order::Release, Scope::System);
                    while words.load(other, Order::Acquire, Scope::System) == 0 {
                        simt::spin();
                    }
                }
            }
        };
        let stats = launch_on_gpus(&mut memory, &config, &[&of(0, 1), &of(1, 0)]);
        assert_eq!(stats.expect("both run").early_wait, None, "{config:?}");
    }
}

//! The order of `fence.sc`: one comes before another if the communication of threads leads from the
//! first to the second, and not because it happens to be earlier in the run.

use crate::support::Words;
use core::ops::ControlFlow;
use simt::search::search;
use simt::{Fault, LaunchConfig, Memory, Order, Schedule, Scope, launch, position};

const COUNTER: usize = 0;
const RESULT: usize = 1;
/// Whether a block is the last one, for each block.
const LAST: usize = 4;
/// A word for each thread.
const PARTS: usize = 8;
const BLOCKS: usize = 3;
const THREADS: usize = 2;

/// What a kernel lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lacks {
    Nothing,
    ReleaseFence,
    BarrierBeforeCount,
    BarrierAfterCount,
    AcquireFence,
}

/// A sum by the last block to count itself, as in PyTorch: each thread stores a part and executes
/// `__threadfence`, one thread of the block counts, and all threads of the last block execute
/// `__threadfence` again before they read the parts.
fn sum(words: Words, lacks: Lacks) {
    let (block, thread) = (position().linear_block() as usize, position().linear_thread() as usize);
    let fence = || simt::fence(Scope::Device, Order::SeqCst);
    words.set(PARTS + block * THREADS + thread, 1);
    if lacks != Lacks::ReleaseFence {
        fence();
    }
    if lacks != Lacks::BarrierBeforeCount {
        simt::block_barrier();
    }
    if thread == 0 {
        let before = words.add_at(COUNTER, 1, Order::Relaxed, Scope::Device);
        words.set(LAST + block, u32::from(before as usize == BLOCKS - 1));
    }
    if lacks != Lacks::BarrierAfterCount {
        simt::block_barrier();
    }
    if words.get(LAST + block) == 1 {
        if lacks != Lacks::AcquireFence {
            fence();
        }
        let sum = (0..BLOCKS * THREADS).map(|at| words.get(PARTS + at)).sum();
        if thread == 0 {
            words.set(RESULT, sum);
        }
    }
}

/// How many of 100 seeds find a race in a kernel.
#[track_caller]
fn races(grid: (usize, usize), weak_memory: bool, kernel: impl Fn(Words)) -> usize {
    let is_race = |seed: &u64| {
        let mut memory = Memory::new(1 << 12);
        let words = Words::zeros(&mut memory, 32);
        let config = LaunchConfig {
            schedule: Schedule::from_seed(*seed),
            races: true,
            weak_memory,
            ..LaunchConfig::new("test", grid.0 as u32, grid.1 as u32)
        };
        match launch(&mut memory, &config, &|| kernel(words)) {
            Ok(_) => false,
            Err(Fault::Race(_)) => true,
            Err(fault) => panic!("seed {seed}: {fault}"),
        }
    };
    (0..100).filter(is_race).count()
}

/// The same with sequentially consistent memory, and with weak memory.
#[track_caller]
fn races_in_both(grid: (usize, usize), kernel: impl Fn(Words)) -> [usize; 2] {
    [false, true].map(|weak_memory| races(grid, weak_memory, &kernel))
}

#[test]
fn a_sum_by_the_last_block_needs_both_fences_and_both_barriers() {
    let found = |lacks| races_in_both((BLOCKS, THREADS), |words| sum(words, lacks));
    assert_eq!(found(Lacks::Nothing), [0, 0]);
    use Lacks::{AcquireFence, BarrierAfterCount, BarrierBeforeCount, ReleaseFence};
    for lacks in [ReleaseFence, BarrierBeforeCount, BarrierAfterCount, AcquireFence] {
        assert_eq!(found(lacks), [100, 100], "{lacks:?}");
    }
}

const X: usize = 16;
const Y: usize = 20;
const Z: usize = 24;

fn fence(scope: Scope) {
    simt::fence(scope, Order::SeqCst);
}

fn store(words: Words, at: usize) {
    words.store(at, 1, Order::Relaxed, Scope::Device);
}

/// Waits for a write.
fn poll(words: Words, at: usize) {
    while words.load(at, Order::Relaxed, Scope::Device) == 0 {
        simt::spin();
    }
}

#[test]
fn a_third_thread_between_two_fences_needs_a_fence_too() {
    // By the model the first fence may come after the last one, because relaxed accesses of
    // different locations are not ordered.
    let found = |is_fenced| {
        races_in_both((3, 1), move |words| match position().linear_block() {
            0 => {
                words.set(X, 1);
                fence(Scope::Device);
                store(words, Y);
            }
            1 => {
                poll(words, Y);
                if is_fenced {
                    fence(Scope::Device);
                }
                store(words, Z);
            }
            _ => {
                poll(words, Z);
                fence(Scope::Device);
                words.get(X);
            }
        })
    };
    assert_eq!(found(true), [0, 0]);
    assert_eq!(found(false), [100, 100]);
}

#[test]
fn a_read_that_misses_a_write_comes_before_it_if_the_scopes_of_the_fences_include_each_other() {
    let found = |blocks: usize, first, second| {
        let threads = 2 / blocks;
        races_in_both((blocks, threads), move |words| {
            let at = position();
            match at.linear_block() as usize * threads + at.linear_thread() as usize {
                0 => {
                    words.set(X, 1);
                    fence(first);
                    let seen = words.load(Y, Order::Relaxed, Scope::Device);
                    words.store(Z, 1 + seen, Order::Relaxed, Scope::Device);
                }
                _ => {
                    store(words, Y);
                    fence(second);
                    // The other thread has missed the write of Y. Nothing acquires this.
                    if words.load(Z, Order::Relaxed, Scope::Device) == 1 {
                        words.get(X);
                    }
                }
            }
        })
    };
    use Scope::{Block, Device, System};
    for (first, second) in [(Device, Device), (System, Device), (Device, System)] {
        assert_eq!(found(2, first, second), [0, 0], "{first:?}, {second:?}");
    }
    for (first, second) in [(Block, Device), (Device, Block), (Block, Block)] {
        let races = found(2, first, second);
        assert!(races.iter().all(|&races| races > 0), "{first:?}, {second:?}: {races:?}");
        assert_eq!(found(1, first, second), [0, 0], "{first:?}, {second:?}");
    }
}

#[test]
fn a_search_tries_fences_that_communicate_with_nothing_in_one_order_only() {
    for weak_memory in [false, true] {
        let explored = search(100, || {
            let mut memory = Memory::new(1 << 12);
            let config = LaunchConfig { weak_memory, ..LaunchConfig::new("test", 3, 1) };
            launch(&mut memory, &config, &|| fence(Scope::Device)).expect("no fault");
            ControlFlow::<()>::Continue(())
        });
        assert_eq!((explored.executions, explored.exhausted), (1, true));
    }
}

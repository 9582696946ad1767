//! Weak memory: the classic litmus tests. Under enough seeds each shows every outcome that PTX's
//! memory model allows, except those that need a read of a later write, and none that it forbids.

use crate::support::Words;
use core::ops::ControlFlow;
use simt::search::search;
use simt::{Fault, LaunchConfig, Memory, Order, Schedule, Scope, launch, position};
use std::collections::BTreeSet;

const X: usize = 0;
const Y: usize = 4;
/// Values recorded by threads, two words for each thread.
const NOTES: usize = 8;

const RELAXED: Order = Order::Relaxed;

/// The outcomes of a kernel of `blocks` blocks of one thread under many seeds: the values recorded
/// by the threads, and the final X and Y. `notes` is the number of recorded values.
#[track_caller]
fn outcomes(blocks: u32, notes: usize, kernel: impl Fn(u32, Words)) -> BTreeSet<Vec<u32>> {
    outcomes_of(blocks, 1, notes, kernel)
}

#[track_caller]
fn outcomes_of(
    blocks: u32,
    threads: u32,
    notes: usize,
    kernel: impl Fn(u32, Words),
) -> BTreeSet<Vec<u32>> {
    let run = |schedule| {
        let mut memory = Memory::new(1 << 12);
        let words = Words::zeros(&mut memory, NOTES + 16);
        let config = LaunchConfig {
            schedule,
            weak_memory: true,
            ..LaunchConfig::new("test", blocks, threads)
        };
        let body = || {
            let at = position();
            kernel(at.linear_block() as u32 * threads + at.linear_thread(), words);
        };
        let ended = launch(&mut memory, &config, &body);
        ended.unwrap_or_else(|fault| panic!("{schedule:?}: {fault}"));
        let all = words.host(&memory, NOTES + 16);
        let mut outcome = all[NOTES..NOTES + notes].to_vec();
        outcome.extend([all[X], all[Y]]);
        outcome
    };
    let drawn: BTreeSet<_> = (1..2000).map(Schedule::from_seed).map(run).collect();
    let mut all = BTreeSet::new();
    let explored = search(1 << 20, || {
        all.insert(run(Schedule::default()));
        ControlFlow::<()>::Continue(())
    });
    assert!(explored.exhausted, "{explored:?}");
    // A search moves lanes together, and seeds move them apart too.
    assert!(drawn.is_superset(&all), "{drawn:?}, {all:?}");
    assert!(threads > 1 || drawn == all, "{drawn:?}, {all:?}");
    drawn
}

/// All pairs of bits except these, with X = Y = 1.
fn all_but(forbidden: &[[u32; 2]]) -> BTreeSet<Vec<u32>> {
    let all = [[0, 0], [0, 1], [1, 0], [1, 1]];
    all.iter().filter(|pair| !forbidden.contains(pair)).map(|&[a, b]| vec![a, b, 1, 1]).collect()
}

/// Message passing: data in X, then a flag in Y, by these accesses.
fn message(write: impl Fn(Words), read: impl Fn(Words) -> [u32; 2]) -> BTreeSet<Vec<u32>> {
    outcomes(2, 2, |thread, words| match thread {
        0 => write(words),
        _ => {
            let [flag, data] = read(words);
            words.set(NOTES, flag);
            words.set(NOTES + 1, data);
        }
    })
}

#[test]
fn a_relaxed_flag_does_not_publish_data() {
    let found = message(
        |words| {
            words.store(X, 1, RELAXED, Scope::Device);
            words.store(Y, 1, RELAXED, Scope::Device);
        },
        |words| [Y, X].map(|at| words.load(at, RELAXED, Scope::Device)),
    );
    assert_eq!(found, all_but(&[]));
}

#[test]
fn release_and_acquire_publish_data_within_both_scopes() {
    for (release, acquire) in [Scope::Block, Scope::Device]
        .into_iter()
        .flat_map(|a| [(a, Scope::Block), (a, Scope::Device)])
    {
        let found = message(
            |words| {
                words.store(X, 1, RELAXED, Scope::Device);
                words.store(Y, 1, Order::Release, release);
            },
            |words| {
                let flag = words.load(Y, Order::Acquire, acquire);
                [flag, words.load(X, RELAXED, Scope::Device)]
            },
        );
        let reaches = (release, acquire) == (Scope::Device, Scope::Device);
        let forbidden: &[[u32; 2]] = if reaches { &[[1, 0]] } else { &[] };
        assert_eq!(found, all_but(forbidden), "{release:?}, {acquire:?}");
    }
}

#[test]
fn fences_publish_data_only_on_both_sides() {
    for (writer, reader) in [(false, false), (true, false), (false, true), (true, true)] {
        let fence = |is_there| {
            if is_there {
                simt::fence(Scope::Device, Order::AcqRel);
            }
        };
        let found = message(
            |words| {
                words.set(X, 1);
                fence(writer);
                words.store(Y, 1, RELAXED, Scope::Device);
            },
            |words| {
                let flag = words.load(Y, RELAXED, Scope::Device);
                fence(reader);
                [flag, words.get(X)]
            },
        );
        let forbidden: &[[u32; 2]] = if writer && reader { &[[1, 0]] } else { &[] };
        assert_eq!(found, all_but(forbidden), "{writer}, {reader}");
    }
}

/// Store buffering, with something between the store and the load.
fn buffering(between: impl Fn()) -> BTreeSet<Vec<u32>> {
    outcomes(2, 2, |thread, words| {
        let (own, other) = if thread == 0 { (X, Y) } else { (Y, X) };
        words.store(own, 1, RELAXED, Scope::Device);
        between();
        let seen = words.load(other, RELAXED, Scope::Device);
        words.set(NOTES + thread as usize, seen);
    })
}

#[test]
fn only_fence_sc_of_sufficient_scope_empties_store_buffers() {
    assert_eq!(buffering(|| {}), all_but(&[]));
    assert_eq!(buffering(|| simt::fence(Scope::Device, Order::AcqRel)), all_but(&[]));
    assert_eq!(buffering(|| simt::fence(Scope::Block, Order::SeqCst)), all_but(&[]));
    assert_eq!(buffering(|| simt::fence(Scope::Device, Order::SeqCst)), all_but(&[[0, 0]]));
}

#[test]
fn a_block_barrier_orders_what_comes_before_it() {
    let found = outcomes_of(1, 2, 2, |thread, words| {
        let (own, other) = if thread == 0 { (X, Y) } else { (Y, X) };
        words.set(own, 1);
        simt::block_barrier();
        let seen = words.get(other);
        words.set(NOTES + thread as usize, seen);
    });
    assert_eq!(found, BTreeSet::from([vec![1, 1, 1, 1]]));
}

#[test]
fn loads_are_not_buffered() {
    // Each thread would have to read a later write of the other one. The model allows that.
    let found = outcomes(2, 2, |thread, words| {
        let (own, other) = if thread == 0 { (X, Y) } else { (Y, X) };
        let seen = words.load(other, RELAXED, Scope::Device);
        words.store(own, 1, RELAXED, Scope::Device);
        words.set(NOTES + thread as usize, seen);
    });
    assert_eq!(found, all_but(&[[1, 1]]));
}

/// Two reads of X by one thread while another writes it.
fn coherence(order: Order) -> BTreeSet<Vec<u32>> {
    outcomes(2, 2, |thread, words| match thread {
        0 => words.store(X, 1, RELAXED, Scope::Device),
        _ => {
            for at in 0..2 {
                let seen = words.load(X, order, Scope::Device);
                words.set(NOTES + at, seen);
            }
            words.set(Y, 1);
        }
    })
}

#[test]
fn only_weak_reads_of_a_location_may_go_backwards() {
    assert_eq!(coherence(RELAXED), all_but(&[[1, 0]]));
    assert_eq!(coherence(Order::Volatile), all_but(&[[1, 0]]));
    assert_eq!(coherence(Order::Weak), all_but(&[]));
}

#[test]
fn independent_reads_of_independent_writes_may_disagree_without_fence_sc() {
    let found = |order: Order, fence: bool| {
        outcomes(4, 4, |thread, words| match thread {
            0 => words.store(X, 1, RELAXED, Scope::Device),
            1 => words.store(Y, 1, RELAXED, Scope::Device),
            _ => {
                let both = if thread == 2 { [X, Y] } else { [Y, X] };
                for (at, place) in both.into_iter().enumerate() {
                    let seen = words.load(place, order, Scope::Device);
                    if fence {
                        simt::fence(Scope::Device, Order::SeqCst);
                    }
                    words.set(NOTES + 2 * (thread as usize - 2) + at, seen);
                }
            }
        })
    };
    let disagree = vec![1, 0, 1, 0, 1, 1];
    assert!(found(Order::Acquire, false).contains(&disagree));
    let agree = found(RELAXED, true);
    assert!(!agree.contains(&disagree));
    assert_eq!(agree.len(), 15, "{agree:?}");
}

#[test]
fn the_order_of_writes_to_two_locations_may_differ() {
    let found = |fence: Option<Order>| {
        outcomes(2, 0, |thread, words| {
            let (first, second) = if thread == 0 { (X, Y) } else { (Y, X) };
            words.store(first, 1, RELAXED, Scope::Device);
            if let Some(order) = fence {
                simt::fence(Scope::Device, order);
            }
            words.store(second, 2, RELAXED, Scope::Device);
        })
    };
    let pairs = |pairs: &[[u32; 2]]| pairs.iter().map(|pair| pair.to_vec()).collect();
    assert_eq!(found(None), pairs(&[[1, 1], [1, 2], [2, 1], [2, 2]]));
    assert_eq!(found(Some(Order::AcqRel)), pairs(&[[1, 1], [1, 2], [2, 1], [2, 2]]));
    assert_eq!(found(Some(Order::SeqCst)), pairs(&[[1, 2], [2, 1], [2, 2]]));
}

#[test]
fn only_releases_pass_writes_on_to_a_third_thread() {
    let found = |order: [Order; 2]| {
        outcomes(3, 3, |thread, words| match thread {
            0 => words.store(X, 1, RELAXED, Scope::Device),
            1 => {
                let seen = words.load(X, RELAXED, Scope::Device);
                words.set(NOTES, seen);
                words.store(Y, 1, order[0], Scope::Device);
            }
            _ => {
                let flag = words.load(Y, order[1], Scope::Device);
                let seen = words.load(X, RELAXED, Scope::Device);
                words.set(NOTES + 1, flag);
                words.set(NOTES + 2, seen);
            }
        })
    };
    let lost = vec![1, 1, 0, 1, 1];
    assert!(found([RELAXED, RELAXED]).contains(&lost));
    let found = found([Order::Release, Order::Acquire]);
    assert!(!found.contains(&lost));
    assert_eq!(found.len(), 7, "{found:?}");
}

#[test]
fn a_narrow_release_does_not_hide_a_wide_one_of_the_same_location() {
    let found = outcomes_of(2, 2, 2, |thread, words| match thread {
        0 => {
            words.store(X, 1, RELAXED, Scope::Device);
            words.add_at(Y, 16, Order::Release, Scope::Device);
            words.store(Y, 3, Order::Release, Scope::Block);
        }
        1 => drop(words.add_at(Y, 16, RELAXED, Scope::Device)),
        2 => {
            let flag = words.add_at(Y, 0, Order::Acquire, Scope::Device);
            words.set(NOTES, flag);
            let seen = words.load(X, RELAXED, Scope::Device);
            words.set(NOTES + 1, seen);
        }
        _ => {}
    });
    // 19 results from the update of the narrow release by the atomic of the same block.
    let after_19: BTreeSet<_> = found.iter().filter(|it| it[0] == 19).map(|it| it[1]).collect();
    assert_eq!(after_19, BTreeSet::from([1]), "{found:?}");
}

#[test]
fn updates_always_see_the_last_value() {
    let found = outcomes(4, 0, |_, words| {
        words.add_at(X, 1, RELAXED, Scope::Device);
        words.add_at(X, 1, RELAXED, Scope::Device);
    });
    assert_eq!(found, BTreeSet::from([vec![8, 0]]));
}

#[test]
fn a_strong_poll_ends_and_a_weak_one_may_not() {
    let run = |seed, order| {
        let mut memory = Memory::new(1 << 12);
        let words = Words::zeros(&mut memory, 16);
        let config = LaunchConfig {
            schedule: Schedule::from_seed(seed),
            weak_memory: true,
            ..LaunchConfig::new("test", 2, 1)
        };
        launch(&mut memory, &config, &|| match position().linear_block() {
            0 => words.store(Y, 1, RELAXED, Scope::Device),
            _ => {
                while words.load(Y, order, Scope::Device) == 0 {
                    simt::spin();
                }
            }
        })
    };
    for order in [RELAXED, Order::Volatile, Order::Acquire] {
        assert!((1..300).all(|seed| run(seed, order).is_ok()), "{order:?}");
    }
    let stuck = |seed| matches!(run(seed, Order::Weak), Err(Fault::Deadlock(_)));
    let count = (1..300).filter(|&seed| stuck(seed)).count();
    assert!(count > 20, "{count}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || coherence(Order::Weak);
    assert_eq!(run(), run());
}

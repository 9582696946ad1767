//! Exhaustive search: the number of executions, all outcomes, and every failure.

use crate::support::{Words, global_thread};
use core::ops::ControlFlow;
use simt::search::{Explored, Path, follow, search};
use simt::{Fault, LaunchConfig, Memory, Order, Schedule, Scope, Stats, launch};
use std::collections::BTreeSet;

const LIMIT: u64 = 1 << 18;

/// One launch of blocks of one thread on new words, and the final words.
fn run(
    config: &LaunchConfig<'_>,
    kernel: impl Fn(usize, Words),
) -> (Result<Stats, Fault>, Vec<u32>) {
    let mut memory = Memory::new(1 << 12);
    let words = Words::zeros(&mut memory, 16);
    let ended = launch(&mut memory, config, &|| kernel(global_thread(), words));
    let left = words.host(&memory, 16);
    (ended, left)
}

fn config(blocks: u32, weak_memory: bool) -> LaunchConfig<'static> {
    LaunchConfig { weak_memory, ..LaunchConfig::new("test", blocks, 1) }
}

/// Explores a kernel up to its first fault.
fn explore(config: &LaunchConfig<'_>, kernel: impl Fn(usize, Words)) -> Explored<Fault> {
    search(LIMIT, || match run(config, &kernel).0 {
        Ok(_) => ControlFlow::Continue(()),
        Err(fault) => ControlFlow::Break(fault),
    })
}

/// Number of executions of a kernel without faults.
#[track_caller]
fn executions(config: &LaunchConfig<'_>, kernel: impl Fn(usize, Words)) -> u64 {
    let explored = explore(config, kernel);
    assert!(explored.exhausted, "{explored:?}");
    explored.executions
}

fn load(words: Words, at: usize) -> u32 {
    words.load(at, Order::Acquire, Scope::Device)
}

fn store(words: Words, at: usize, value: u32) {
    words.store(at, value, Order::Release, Scope::Device);
}

/// Polls a word until `wanted` accepts it.
fn poll(words: Words, at: usize, wanted: impl Fn(u32) -> bool) {
    while !wanted(load(words, at)) {
        simt::spin();
    }
}

#[test]
fn only_dependent_steps_are_ordered() {
    let config = config(3, false);
    assert_eq!(executions(&config, |me, words| store(words, me, 1)), 1);
    assert_eq!(executions(&config, |_, words| store(words, 0, 1)), 6);
    assert_eq!(executions(&config, |_, words| _ = load(words, 0)), 1);
    // The read of the third is before, between or after the two writes, which are not ordered.
    let one_reads = |me, words| match me {
        2 => _ = (load(words, 0), load(words, 1)),
        me => store(words, me, 1),
    };
    assert_eq!(executions(&config, one_reads), 4);
    // Two updates by each of two threads.
    let twice = |_, words: Words| _ = [words.add(0, 1), words.add(0, 1)];
    assert_eq!(executions(&self::config(2, false), twice), 6);
}

#[test]
fn litmus_tests_have_as_many_outcomes_as_the_model_allows() {
    const X: usize = 0;
    const Y: usize = 1;
    let read = |words: Words, at| words.load(at, Order::Relaxed, Scope::Device);
    let write = |words: Words, at, value| words.store(at, value, Order::Relaxed, Scope::Device);
    let note = |words: Words, me: usize, seen: [u32; 2]| {
        words.set(2 + 2 * me, seen[0]);
        words.set(3 + 2 * me, seen[1]);
    };
    type Litmus<'a> = (&'a str, u32, usize, &'a dyn Fn(usize, Words));
    let all: [Litmus<'_>; 5] = [
        ("store buffering", 2, 4, &|me, words| {
            write(words, me, 1);
            note(words, me, [read(words, 1 - me), 0]);
        }),
        ("message passing", 2, 4, &|me, words| match me {
            0 => [X, Y].into_iter().for_each(|at| write(words, at, 1)),
            _ => note(words, me, [read(words, Y), read(words, X)]),
        }),
        // All outcomes except that both read the later write of the other.
        ("load buffering", 2, 3, &|me, words| {
            let seen = read(words, 1 - me);
            write(words, me, 1);
            note(words, me, [seen, 0]);
        }),
        ("two writes to two words", 2, 4, &|me, words| {
            write(words, me, 1);
            write(words, 1 - me, 2);
        }),
        ("independent reads of independent writes", 4, 16, &|me, words| match me {
            0 | 1 => write(words, me, 1),
            2 => note(words, me, [read(words, X), read(words, Y)]),
            _ => note(words, me, [read(words, Y), read(words, X)]),
        }),
    ];
    let counts = all.map(|(name, threads, outcomes, kernel)| {
        let mut found = BTreeSet::new();
        let explored = search(LIMIT, || {
            found.insert(run(&config(threads, true), kernel).1);
            ControlFlow::<()>::Continue(())
        });
        assert!(explored.exhausted, "{name}");
        assert_eq!(found.len(), outcomes, "{name}: {found:?}");
        explored.executions
    });
    assert_eq!(counts, [8, 7, 5, 12, 77]);
}

#[test]
fn blocks_that_are_not_resident_start_in_every_order() {
    let config = LaunchConfig { max_resident_blocks: Some(1), ..config(3, false) };
    let mut last = BTreeSet::new();
    let explored = search(LIMIT, || {
        let (_, words) = run(&config, |me, words| {
            let before = words.add(0, 1);
            words.set(1 + before as usize, me as u32);
        });
        last.insert(words[1..4].to_vec());
        ControlFlow::<()>::Continue(())
    });
    assert!(explored.exhausted);
    assert_eq!((last.len(), explored.executions), (6, 6));
}

#[test]
fn a_polling_loop_ends_and_waits_only_for_a_change() {
    for weak in [false, true] {
        let message = |me, words: Words| match me {
            0 => {
                words.set(0, 7);
                store(words, 1, 1);
            }
            _ => {
                poll(words, 1, |flag| flag == 1);
                words.set(2 + me, words.get(0));
            }
        };
        let config = LaunchConfig { races: true, ..config(3, weak) };
        // The two waiting threads do not depend on each other.
        assert_eq!(executions(&config, message), 1, "{weak}");
        // Each has to poll in time, and no execution must miss that.
        let handshake = |me, words| {
            for round in 1..=2 {
                store(words, me, round);
                poll(words, 1 - me, |other| other >= round);
            }
        };
        let explored = explore(&self::config(2, weak), handshake);
        assert!(explored.exhausted && explored.executions < 20, "{explored:?}");
    }
}

#[test]
fn a_loop_that_keeps_old_values_is_explored_fully() {
    // Waits for two words, which come in either order, and keeps the first value of each.
    let mut seen = BTreeSet::new();
    let explored = search(LIMIT, || {
        let (ended, words) = run(&config(2, false), |me, words| match me {
            0 => [(0, 1), (0, 2), (1, 1)].into_iter().for_each(|(at, v)| store(words, at, v)),
            _ => {
                let mut kept = [0; 2];
                while kept.contains(&0) {
                    for (at, kept) in kept.iter_mut().enumerate().filter(|(_, kept)| **kept == 0) {
                        *kept = load(words, at);
                    }
                    if kept.contains(&0) {
                        simt::spin();
                    }
                }
                (0..2).for_each(|at| words.set(2 + at, kept[at]));
            }
        });
        ended.expect("nothing is wrong");
        seen.insert(words[2..4].to_vec());
        ControlFlow::<()>::Continue(())
    });
    assert!(explored.exhausted);
    assert_eq!(seen, BTreeSet::from([vec![1, 1], vec![2, 1]]));
}

#[test]
fn loops_that_write_are_explored_until_they_end() {
    let mut seen = BTreeSet::new();
    let explored = search(LIMIT, || {
        let (ended, words) = run(&config(2, false), |me, words| match me {
            0 => {
                for turn in 1..4 {
                    store(words, 0, turn);
                    if load(words, 1) == 1 {
                        break;
                    }
                    simt::spin();
                }
            }
            _ => {
                let turn = load(words, 0);
                words.set(2, turn);
                store(words, 1, 1);
            }
        });
        ended.expect("nothing is wrong");
        seen.insert((words[2], words[0]));
        ControlFlow::<()>::Continue(())
    });
    assert!(explored.exhausted);
    let all = (0..4).flat_map(|seen| (seen.max(1)..4).map(move |last| (seen, last)));
    assert_eq!(seen, all.collect());
}

#[test]
fn a_timeout_expires_when_nothing_else_can_happen() {
    let wait = |words: Words| {
        let start = simt::clock();
        while load(words, 0) == 0 {
            simt::spin();
            if simt::clock() - start > 1 << 20 {
                return words.set(1, 1);
            }
        }
    };
    let explored = explore(&config(1, false), |_, words| wait(words));
    assert!(explored.exhausted && explored.found.is_none(), "{explored:?}");
    let in_time = executions(&config(2, true), |me, words| match me {
        0 => store(words, 0, 1),
        _ => {
            wait(words);
            assert!(words.get(1) == 0, "the other one has not done all it can");
        }
    });
    assert_eq!(in_time, 1);
}

/// All blocks arrive at word 0, and the last one resets it to 0, which the others wait for.
fn reset_by_the_last(blocks: u32, rounds: u32) -> impl Fn(usize, Words) {
    move |_, words| {
        for _ in 0..rounds {
            if words.add(0, 1) + 1 == blocks {
                store(words, 0, 0)
            } else {
                poll(words, 0, |count| count == 0)
            }
        }
    }
}

#[test]
fn a_barrier_reset_under_its_waiters_hangs_only_in_its_second_round() {
    for blocks in [2, 3] {
        let once = explore(&config(blocks, false), reset_by_the_last(blocks, 1));
        assert!(once.exhausted && once.found.is_none(), "{once:?}");
        let twice = explore(&config(blocks, false), reset_by_the_last(blocks, 2));
        let (fault, path) = twice.found.expect("one comes back before another has looked");
        assert!(matches!(fault, Fault::Deadlock(_)), "{fault}");
        let text = path.to_string();
        let path: Path = text.parse().expect("a path is read as it was written");
        let again = || run(&config(blocks, false), reset_by_the_last(blocks, 2)).0;
        assert_eq!(follow(&path, again), Err(fault), "{text}");
    }
}

#[test]
fn an_arrival_that_releases_nothing_races_and_reads_old_values() {
    let kernel = |order| {
        move |me, words: Words| {
            words.set(1 + me, 7);
            words.add_at(0, 1, order, Scope::Device);
            poll(words, 0, |count| count == 2);
            assert_eq!(words.get(2 - me), 7);
        }
    };
    for races in [true, false] {
        let config = LaunchConfig { races, ..config(2, true) };
        let wrong = explore(&config, kernel(Order::Relaxed)).found.expect("nothing is released");
        let is_race = matches!(wrong.0, Fault::Race(_));
        let is_old = matches!(wrong.0, Fault::Panicked { .. });
        assert!(if races { is_race } else { is_old }, "{}", wrong.0);
        let right = explore(&config, kernel(Order::Release));
        assert!(right.exhausted && right.found.is_none(), "{right:?}");
    }
}

#[test]
fn a_weak_poll_may_never_end() {
    let explored = explore(&config(2, true), |me, words| match me {
        0 => store(words, 0, 1),
        _ => {
            while words.get(0) == 0 {
                simt::spin();
            }
        }
    });
    let (fault, _) = explored.found.expect("the old value is read again and again");
    assert!(matches!(fault, Fault::Deadlock(_)), "{fault}");
}

#[test]
fn a_limit_ends_a_search_that_is_not_exhausted() {
    let explored = search(4, || {
        _ = run(&config(3, false), |_, words| store(words, 0, 1));
        ControlFlow::<()>::Continue(())
    });
    assert_eq!((explored.executions, explored.exhausted), (4, false));
}

#[test]
fn too_many_warps_for_a_search_are_refused() {
    let refused = explore(&config(65, false), |_, _| {}).found.expect("64 are the most");
    assert!(matches!(refused.0, Fault::TooLargeForSearch { warps: 65, .. }), "{}", refused.0);
}

/// A kernel of two or three threads with up to three accesses each, drawn from a seed.
fn drawn_kernel(seed: u64) -> (u32, impl Fn(usize, Words)) {
    let mut state = seed;
    let mut below = move |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let threads = 2 + below(2) as u32;
    let mut act = || (below(8), below(2) as usize, below(3) as usize);
    let acts: Vec<Vec<_>> =
        (0..threads).map(|_| (0..4 - threads / 3).map(|_| act()).collect()).collect();
    let kernel = move |me: usize, words: Words| {
        let mut seen = 0;
        for (number, &(act, at, order_of)) in acts[me].iter().enumerate() {
            let value = 1 + (me * 4 + number) as u32;
            let order = |strong| if order_of == 0 { Order::Relaxed } else { strong };
            seen = seen * 16
                + match act {
                    0 | 1 => words.load(at, order(Order::Acquire), Scope::Device),
                    2 => words.get(at),
                    3 => {
                        words.store(at, value, order(Order::Release), Scope::Device);
                        0
                    }
                    4 => {
                        words.set(at, value);
                        0
                    }
                    5 => words.add_at(at, 1, order(Order::AcqRel), Scope::Device),
                    6 => {
                        simt::fence(Scope::Device, order(Order::SeqCst));
                        0
                    }
                    _ => loop {
                        let poll = [Order::Weak, Order::Relaxed, Order::Acquire];
                        match words.load(at, poll[order_of], Scope::Device) {
                            0 => _ = simt::spin(),
                            value => break value,
                        }
                    },
                };
        }
        words.set(4 + me, seen);
    };
    (threads, kernel)
}

#[test]
fn a_search_finds_every_outcome_that_seeds_draw() {
    for seed in (0..60).chain([609]) {
        for weak in [false, true] {
            let (threads, kernel) = drawn_kernel(seed);
            let outcome = |schedule| {
                let (ended, words) =
                    run(&LaunchConfig { schedule, ..config(threads, weak) }, &kernel);
                match ended {
                    Ok(_) => Some(words),
                    Err(Fault::Deadlock(_)) => None,
                    Err(fault) => panic!("{fault}"),
                }
            };
            let mut all = BTreeSet::new();
            let explored = search(LIMIT, || {
                all.insert(outcome(Schedule::default()));
                ControlFlow::<()>::Continue(())
            });
            assert!(explored.exhausted, "{seed}");
            let drawn: BTreeSet<_> = (1..400).map(Schedule::from_seed).map(outcome).collect();
            let missing: Vec<_> = drawn.difference(&all).collect();
            assert!(missing.is_empty(), "kernel {seed}, weak {weak}: {missing:?}");
        }
    }
}

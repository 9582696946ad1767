//! Grids that overlap: dependencies, what they order, and how grids share the GPU.

use crate::support::{Words, schedules};
use core::ops::ControlFlow;
use simt::replay::record;
use simt::search::{Explored, search};
use simt::{
    After, Change, Deadlock, Fault, Grid, HeldBy, LaunchConfig, Memory, MissingOrder, Order,
    Orders, Policy, Schedule, Scope, Sites, Stats, Weaken, dependency_wait, launch_dependents,
    launch_grids, position,
};
use std::collections::BTreeSet;

const THREADS: u32 = 4;

/// Whether a kernel waits for the previous one before it reads.
#[derive(Clone, Copy, PartialEq)]
enum Wait {
    First,
    TooLate,
}

/// Writes `part`, after it has let the next grid start.
fn produce(part: Words) {
    launch_dependents();
    let at = position().thread_idx.x as usize;
    part.set(at, at as u32 + 1);
    if at == 0 {
        part.set(THREADS as usize, THREADS + 1);
    }
}

/// The lines of the writes.
const WRITES: [u32; 2] = [line!() - 7, line!() - 5];

/// Computes the differences of neighbours.
fn consume(part: Words, out: Words, wait: Wait) {
    let at = position().thread_idx.x as usize;
    if wait == Wait::First {
        dependency_wait();
    }
    let (low, high) = (part.get(at), part.get(at + 1));
    if wait == Wait::TooLate {
        dependency_wait();
    }
    out.set(at, high.wrapping_sub(low));
}

/// The line of the reads.
const READS: u32 = line!() - 8;

/// Runs the two kernels. Returns the differences.
fn differences(base: &LaunchConfig<'_>, wait: Wait) -> Result<Vec<u32>, Fault> {
    let mut memory = Memory::new(1 << 10);
    let [part, out] = [8, 8].map(|count| Words::zeros(&mut memory, count));
    let named = |kernel| LaunchConfig { kernel, block: THREADS.into(), ..*base };
    launch_grids(
        &mut memory,
        &[
            Grid { config: named("a"), gpu: 0, after: &[], names: &[], body: &|| produce(part) },
            Grid {
                config: named("b"),
                gpu: 0,
                after: &[After::Trigger(0)],
                names: &[],
                body: &|| consume(part, out, wait),
            },
        ],
    )?;
    Ok(out.host(&memory, THREADS as usize))
}

pub(crate) fn one(schedule: Schedule) -> LaunchConfig<'static> {
    LaunchConfig { schedule, ..LaunchConfig::new("test", 1, 1) }
}

#[test]
fn a_wait_after_the_read_is_a_race_of_both_lines() {
    for schedule in schedules() {
        let config = LaunchConfig { races: true, ..one(schedule) };
        let fault = differences(&config, Wait::TooLate).expect_err("nothing orders the accesses");
        let Fault::Race(race) = &fault else { panic!("{fault}") };
        assert_eq!(race.missing, MissingOrder::Grids { overlaps: true }, "{fault}");
        let mut sites = [&race.earlier.site, &race.later.site];
        sites.sort_by_key(|site| site.kernel.clone());
        assert_eq!(sites.map(|site| &*site.kernel), ["a", "b"]);
        assert_eq!(sites[1].place.line(), READS, "{fault}");
        assert!(WRITES.contains(&sites[0].place.line()), "{fault}");
        assert!(fault.to_string().contains("wait_for_previous"), "{fault}");
    }
}

#[test]
fn a_wait_before_the_read_orders_both_kernels() {
    let drawn = (1..60).map(Schedule::from_seed);
    for schedule in schedules().into_iter().chain(drawn) {
        for (races, weak_memory) in [(true, false), (false, true), (true, true), (false, false)] {
            let config = LaunchConfig { races, weak_memory, ..one(schedule) };
            assert_eq!(differences(&config, Wait::First), Ok(vec![1; 4]), "{schedule:?}");
        }
    }
}

#[test]
fn a_wait_after_the_read_shows_in_values_without_a_race_check() {
    let seen: BTreeSet<bool> = (1..60)
        .map(|seed| {
            let config = one(Schedule::from_seed(seed));
            differences(&config, Wait::TooLate).expect("races are not checked") == [1; 4]
        })
        .collect();
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn the_wait_is_a_site_that_a_kernel_needs() {
    let sites = Sites::default();
    let checks = LaunchConfig { races: true, ..one(Schedule::new(Policy::RoundRobin)) };
    let config = LaunchConfig { sites: Some(&sites), ..checks };
    differences(&config, Wait::First).expect("it waits");
    let sites = sites.sorted();
    assert_eq!(sites.iter().map(|site| site.does).collect::<Vec<_>>(), [Orders::DependencyWait]);
    assert_eq!(sites[0].weaker(), [Change::Out]);
    let weaken = Some(Weaken { site: sites[0], change: Change::Out });
    let fault = differences(&LaunchConfig { weaken, ..checks }, Wait::First);
    assert!(matches!(fault, Err(Fault::Race(_))), "{fault:?}");
}

#[test]
fn alone_both_functions_do_nothing() {
    let sites = Sites::default();
    let config = LaunchConfig { sites: Some(&sites), ..LaunchConfig::new("test", 2, 2) };
    let run = |calls: bool| {
        let body = || {
            if calls {
                launch_dependents();
                dependency_wait();
            }
        };
        simt::launch(&mut Memory::new(0), &config, &body).expect("nothing fails")
    };
    assert_eq!(run(true), run(false));
    assert_eq!(sites.sorted(), []);
}

/// Two grids of one thread each, which write or read word 0.
pub(crate) fn pair(
    base: &LaunchConfig<'_>,
    after: &[After],
    body: &dyn Fn(Words, u32),
) -> Result<Stats, Fault> {
    let mut memory = Memory::new(1 << 10);
    let words = Words::zeros(&mut memory, 4);
    let named = |kernel| LaunchConfig { kernel, ..*base };
    launch_grids(
        &mut memory,
        &[
            Grid {
                config: named("first"),
                gpu: 0,
                after: &[],
                names: &[],
                body: &|| body(words, 0),
            },
            Grid { config: named("second"), gpu: 0, after, names: &[], body: &|| body(words, 1) },
        ],
    )
}

#[test]
fn grids_of_two_streams_race_and_a_dependency_orders_them() {
    let write = |words: Words, number| words.set(0, number);
    for schedule in schedules() {
        let config = LaunchConfig { races: true, ..one(schedule) };
        let fault = pair(&config, &[], &write).expect_err("nothing orders the grids");
        let Fault::Race(race) = &fault else { panic!("{fault}") };
        assert_eq!(race.missing, MissingOrder::Grids { overlaps: false }, "{fault}");
        assert!(fault.to_string().contains("kernel first, block (0, 0, 0)"), "{fault}");
        assert!(fault.to_string().contains("kernel second, block (0, 0, 0)"), "{fault}");
        let stats = pair(&config, &[After::End(0)], &write).expect("they are ordered");
        assert_eq!((stats.launches, stats.blocks, stats.threads), (2, 2, 2));
    }
}

#[test]
fn a_grid_may_wait_for_a_word_that_a_concurrent_grid_writes() {
    let body = |words: Words, number| match number {
        0 => {
            while words.load(0, Order::Acquire, Scope::Device) == 0 && simt::spin() {}
            assert_eq!(words.get(1), 7);
        }
        _ => {
            words.set(1, 7);
            words.store(0, 1, Order::Release, Scope::Device);
        }
    };
    for schedule in schedules() {
        for (races, weak_memory) in [(true, false), (false, true)] {
            let config = LaunchConfig { races, weak_memory, ..one(schedule) };
            pair(&config, &[], &body).unwrap_or_else(|fault| panic!("{schedule:?}: {fault}"));
        }
    }
    let stuck = |config: &LaunchConfig<'_>, after: &[After]| {
        let fault = pair(config, after, &body).expect_err("the second grid cannot start");
        let Fault::Deadlock(deadlock) = fault else { panic!("{fault}") };
        let Deadlock { waiting, held, .. } = *deadlock;
        assert_eq!(waiting[0].kernel.as_deref(), Some("first"));
        assert_eq!((&*held[0].kernel, held[0].never_started, held[0].blocks), ("second", 1, 1));
        held[0].by.clone()
    };
    let config = one(Schedule::new(Policy::RoundRobin));
    assert_eq!(stuck(&config, &[After::Trigger(0)]), HeldBy::Trigger("first".into()));
    let full = LaunchConfig { max_resident_blocks: Some(1), ..config };
    assert_eq!(stuck(&full, &[]), HeldBy::Full);
    // Some seeds start the second grid first.
    let ends = (1..20).filter(|&seed| {
        let schedule = Schedule::seeded(Policy::RoundRobin, seed);
        pair(&LaunchConfig { schedule, ..full }, &[], &body).is_ok()
    });
    assert!((1..19).contains(&ends.count()));
}

/// The order in which grids of one thread note their numbers, under many schedules.
fn orders(afters: &[&[After]], body: &dyn Fn(u32)) -> BTreeSet<Vec<u32>> {
    let drawn = (1..60).map(Schedule::from_seed);
    let run = |schedule| {
        let mut memory = Memory::new(1 << 10);
        let log = Words::zeros(&mut memory, 8);
        let note = |number: u32| {
            body(number);
            let at = log.add_at(0, 1, Order::Relaxed, Scope::Device);
            log.set(1 + at as usize, number);
        };
        let bodies: Vec<_> = (0..afters.len() as u32).map(|number| move || note(number)).collect();
        let grids = bodies.iter().zip(afters).map(|(body, after)| {
            let config = LaunchConfig { races: true, ..one(schedule) };
            Grid { config, gpu: 0, after, names: &[], body }
        });
        let grids: Vec<Grid<'_>> = grids.collect();
        let ended = launch_grids(&mut memory, &grids);
        ended.unwrap_or_else(|fault| panic!("{schedule:?}: {fault}"));
        log.host(&memory, 1 + afters.len())[1..].to_vec()
    };
    schedules().into_iter().chain(drawn).map(run).collect()
}

#[test]
fn dependencies_limit_the_order_of_grids() {
    let all = orders(&[&[], &[], &[After::End(0)]], &|_| {});
    assert_eq!(all, [[0, 1, 2], [0, 2, 1], [1, 0, 2]].map(Vec::from).into());
    let all = orders(&[&[], &[After::End(0)], &[After::End(1)]], &|_| {});
    assert_eq!(all, [vec![0, 1, 2]].into());
    // Without a trigger, the second grid starts after the first.
    assert_eq!(orders(&[&[], &[After::Trigger(0)]], &|_| {}), [vec![0, 1]].into());
    let all = orders(&[&[], &[After::Trigger(0)]], &|_| launch_dependents());
    assert_eq!(all, [vec![0, 1], vec![1, 0]].into());
    let waits = |_| {
        launch_dependents();
        dependency_wait();
    };
    let all = orders(&[&[], &[After::Trigger(0)], &[After::Trigger(1)]], &waits);
    assert_eq!(all, [vec![0, 1, 2]].into());
}

#[test]
fn a_grid_that_does_not_wait_may_end_first_and_its_follower_is_not_ordered() {
    let body = |number| {
        launch_dependents();
        // The middle grid does not wait.
        if number == 2 {
            dependency_wait();
        }
    };
    let all = orders(&[&[], &[After::Trigger(0)], &[After::Trigger(1)]], &body);
    assert_eq!(all, [vec![0, 1, 2], vec![1, 0, 2], vec![1, 2, 0]].into());
    let all = orders(&[&[], &[After::Trigger(0)], &[After::End(1)]], &body);
    assert!(all.contains(&vec![1, 2, 0]), "{all:?}");
}

#[test]
fn a_trigger_needs_every_block() {
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 10);
        let words = Words::zeros(&mut memory, 2);
        let config = LaunchConfig { kernel: "a", grid: 3.into(), ..one(schedule) };
        let first = || {
            words.add_at(0, 1, Order::Relaxed, Scope::Device);
            // The last block ends without a trigger.
            if position().block_idx.x < 2 {
                launch_dependents();
            }
        };
        let second = || {
            assert_eq!(words.load(0, Order::Relaxed, Scope::Device), 3);
        };
        let grids = [
            Grid { config, gpu: 0, after: &[], names: &[], body: &first },
            Grid {
                config: LaunchConfig { kernel: "b", ..one(schedule) },
                gpu: 0,
                after: &[After::Trigger(0)],
                names: &[],
                body: &second,
            },
        ];
        launch_grids(&mut memory, &grids).unwrap_or_else(|fault| panic!("{schedule:?}: {fault}"));
    }
}

#[test]
fn a_search_finds_the_one_order_in_which_a_pair_fails() {
    let explore = |wait: bool| -> Explored<Fault> {
        search(1 << 12, || {
            let body = |words: Words, number| {
                if number == 0 {
                    launch_dependents();
                    words.store(0, 1, Order::Relaxed, Scope::Device);
                } else {
                    if wait {
                        dependency_wait();
                    }
                    assert_eq!(words.load(0, Order::Relaxed, Scope::Device), 1);
                }
            };
            match pair(&one(Schedule::default()), &[After::Trigger(0)], &body) {
                Ok(_) => ControlFlow::Continue(()),
                Err(fault) => ControlFlow::Break(fault),
            }
        })
    };
    let explored = explore(true);
    assert!(explored.exhausted && explored.found.is_none(), "{explored:?}");
    let (fault, _) = explore(false).found.expect("the load may come first");
    assert!(matches!(fault, Fault::Panicked { .. }), "{fault}");
}

#[test]
fn a_story_names_the_kernels_and_its_script_repeats_the_run() {
    let schedule = Schedule::seeded(Policy::Random { quantum: 2 }, 5);
    let config = LaunchConfig { races: true, ..one(schedule) };
    let run = || differences(&config, Wait::TooLate).expect_err("a race");
    let (fault, recording) = record(None, true, run);
    let story = recording.story(Some(&fault), None).to_string();
    assert!(story.contains("kernel a, block 0") && story.contains("kernel b, block 0"), "{story}");
    let (again, _) = record(Some(&recording.script), false, run);
    assert_eq!(again.to_string(), fault.to_string());
}

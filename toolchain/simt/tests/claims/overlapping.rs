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

fn one(schedule: Schedule) -> LaunchConfig<'static> {
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
fn pair(
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
fn grids_share_the_room_of_a_gpu() {
    // A block of the first kernel takes a quarter, one of the second half of the GPU.
    for seed in 0..40 {
        let mut memory = Memory::new(1 << 10);
        let live = Words::zeros(&mut memory, 1);
        let run = |part: u32| {
            move || {
                let before = live.add_at(0, part, Order::Relaxed, Scope::Device);
                assert!(before + part <= 4, "{before} and {part}");
                live.add_at(0, part.wrapping_neg(), Order::Relaxed, Scope::Device);
            }
        };
        let schedule = if seed == 0 { Schedule::default() } else { Schedule::from_seed(seed) };
        let config = |kernel, grid: u32, resident| LaunchConfig {
            kernel,
            grid: grid.into(),
            max_resident_blocks: Some(resident),
            ..one(schedule)
        };
        let (small, large) = (run(1), run(2));
        let cooperative = LaunchConfig { cooperative: true, ..config("all", 4, 4) };
        let grids = [
            Grid { config: config("small", 9, 4), gpu: 0, after: &[], names: &[], body: &small },
            Grid { config: config("large", 5, 2), gpu: 0, after: &[], names: &[], body: &large },
            Grid { config: cooperative, gpu: 0, after: &[], names: &[], body: &small },
        ];
        let stats = launch_grids(&mut memory, &grids);
        let stats = stats.unwrap_or_else(|fault| panic!("{schedule:?}: {fault}"));
        assert_eq!((stats.launches, stats.blocks), (3, 18));
    }
}

#[test]
fn a_cooperative_grid_is_resident_as_a_whole_beside_others() {
    for seed in 0..40 {
        let mut memory = Memory::new(1 << 10);
        let words = Words::zeros(&mut memory, 1);
        let meet = || {
            words.add(0, 1);
            while words.load(0, Order::Acquire, Scope::Device) < 3 && simt::spin() {}
        };
        let schedule = Schedule::seeded(Policy::RoundRobin, seed);
        let config = LaunchConfig { max_resident_blocks: Some(3), ..one(schedule) };
        let other = LaunchConfig { kernel: "other", grid: 7.into(), ..config };
        let config = LaunchConfig { grid: 3.into(), cooperative: true, ..config };
        let grids = [
            Grid { config: other, gpu: 0, after: &[], names: &[], body: &|| {} },
            Grid { config, gpu: 0, after: &[], names: &[], body: &meet },
        ];
        launch_grids(&mut memory, &grids).unwrap_or_else(|fault| panic!("{seed}: {fault}"));
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
fn a_search_explores_which_grid_starts_first() {
    let swaps = |resident| {
        let explored = search(1 << 12, || {
            let config = one(Schedule::default());
            let config = LaunchConfig { max_resident_blocks: resident, ..config };
            let swap = |words: Words, number| {
                words.exchange(0, number);
            };
            pair(&config, &[], &swap).expect("nothing fails");
            ControlFlow::<()>::Continue(())
        });
        assert!(explored.exhausted, "{explored:?}");
        explored.executions
    };
    assert_eq!([None, Some(2), Some(1)].map(swaps), [2, 2, 2]);
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

#[test]
fn grids_of_one_kernel_have_numbers_in_messages() {
    let mut memory = Memory::new(1 << 10);
    let words = Words::zeros(&mut memory, 1);
    let config = LaunchConfig { races: true, ..one(Schedule::default()) };
    let body = || words.set(0, 1);
    let grid = Grid { config, gpu: 0, after: &[], names: &[], body: &body };
    let fault = launch_grids(&mut memory, &[grid, grid]).expect_err("both write");
    let said = fault.to_string();
    assert!(
        said.contains("kernel test (grid 0)") && said.contains("kernel test (grid 1)"),
        "{said}"
    );
}

#[test]
fn grids_on_two_gpus_need_system_scope() {
    for (scope, is_good) in [(Scope::System, true), (Scope::Device, false)] {
        let mut memory = Memory::of_gpus(2, 1 << 10);
        let words = Words::zeros(&mut memory, 1);
        let config = LaunchConfig { races: true, ..one(Schedule::default()) };
        let body = || _ = words.add_at(0, 1, Order::Relaxed, scope);
        let grid = |gpu| Grid { config, gpu, after: &[], names: &[], body: &body };
        let ended = launch_grids(&mut memory, &[grid(0), grid(1)]);
        assert_eq!(ended.is_ok(), is_good, "{ended:?}");
    }
}

#[test]
fn what_a_kernel_launches_comes_before_the_grids_that_depend_on_it() {
    for seed in 0..20 {
        let mut memory = Memory::new(1 << 10);
        let words = Words::zeros(&mut memory, 2);
        let schedule = Schedule::seeded(Policy::RoundRobin, seed);
        let config = LaunchConfig { races: true, ..one(schedule) };
        let parent = || {
            let body = Box::new(move || words.set(0, 5));
            let (grid, block) = (1.into(), 1.into());
            let child = simt::Child { kernel: "child", grid, block, dynamic_shared: 0, body };
            simt::launch_child(simt::Queue::Block, child).expect("one thread fits");
            launch_dependents();
        };
        let next = || {
            dependency_wait();
            assert_eq!(words.get(0), 5);
        };
        let grids = [
            Grid { config, gpu: 0, after: &[], names: &[], body: &parent },
            Grid { config, gpu: 0, after: &[After::Trigger(0)], names: &[], body: &next },
            Grid { config, gpu: 0, after: &[], names: &[], body: &|| words.set(1, 1) },
            Grid {
                config,
                gpu: 0,
                after: &[After::End(1), After::End(2)],
                names: &[],
                body: &next,
            },
        ];
        let stats = launch_grids(&mut memory, &grids);
        let stats = stats.unwrap_or_else(|fault| panic!("{seed}: {fault}"));
        assert_eq!(stats.launches, 5);
    }
}

#[test]
fn a_grid_that_is_overlapped_cannot_launch_kernels() {
    let body = |_: Words, number| {
        if number == 0 {
            launch_dependents();
            let (grid, block, body) = (1.into(), 1.into(), Box::new(|| ()));
            let child = simt::Child { kernel: "child", grid, block, dynamic_shared: 0, body };
            simt::launch_child(simt::Queue::Block, child).expect("one thread fits");
        } else {
            dependency_wait();
        }
    };
    let fault = pair(&one(Schedule::default()), &[After::Trigger(0)], &body);
    let said = fault.expect_err("the second grid has started").to_string();
    assert!(said.contains("launch_dependents"), "{said}");
}

#[test]
fn counts_are_those_of_all_grids() {
    let config = LaunchConfig { count: true, ..one(Schedule::default()) };
    let stats = pair(&config, &[], &|words, number| words.set(number as usize, 1));
    let counts = stats.expect("they touch different words").counts.expect("asked for");
    assert_eq!(counts.global_accesses, 2);
}

#[test]
fn a_launch_of_several_grids_is_checked_before_any_runs() {
    let mut memory = Memory::new(1 << 10);
    let words = Words::zeros(&mut memory, 1);
    let config = LaunchConfig { races: true, ..one(Schedule::default()) };
    let large = LaunchConfig { grid: 129.into(), block: 1024.into(), ..config };
    let body = || words.set(0, 1);
    let first = Grid { config, gpu: 0, after: &[], names: &[], body: &body };
    let last = Grid { config: large, gpu: 0, after: &[After::End(0)], names: &[], body: &|| {} };
    let fault = launch_grids(&mut memory, &[first, last]).expect_err("too many threads");
    assert!(matches!(fault, Fault::TooLargeForRaces { .. }), "{fault}");
    assert_eq!(words.host(&memory, 1), [0]);
    // Grids in sequence count separately.
    let large = LaunchConfig { grid: 100.into(), ..large };
    let grid = |after| Grid { config: large, gpu: 0, after, names: &[], body: &|| {} };
    launch_grids(&mut memory, &[grid(&[]), grid(&[After::End(0)])]).expect("each fits");
}

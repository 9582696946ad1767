//! Several grids at once: room on the GPU, kernels that launch kernels, search, counts, checks.

use crate::overlapping::{one, pair};
use crate::support::Words;
use core::ops::ControlFlow;
use simt::search::search;
use simt::{
    After, Fault, Grid, LaunchConfig, Memory, Order, Policy, Schedule, Scope, dependency_wait,
    launch_dependents, launch_grids,
};

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

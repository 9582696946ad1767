//! Graphs of kernels: every method gives the result of the reference, and no synchronization is
//! missing.

use gridsync::device::{Device, DeviceError};
use gridsync_lab::dag::{Method, Operation, RunError, Runner, Step, Work};
use gridsync_tests::devices::{emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::Schedule;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_schedule_gives_the_right_results_without_a_race,
            large_graphs_are_right_on_cuda;
        on_each_backend:
            small_graphs_are_right_by_every_method,
            the_same_plan_can_run_repeatedly,
            nodes_with_many_inputs_and_many_blocks_are_right;
        thorough_on_the_emulator:
            ten_thousand_products_are_right_by_every_method;
    }
}

/// Runs the graph by every method, in grids of these sizes, `runs` times each.
fn is_right(device: &Device, work: &Work, grids: &[u32], runs: u32) {
    let runner = Runner::new(device, work, false).expect("a graph that fits");
    runs_right(runner, device, grids, runs);
}

fn runs_right(mut runner: Runner<'_>, device: &Device, grids: &[u32], runs: u32) {
    for method in Method::ALL {
        let grids = if method.is_one_kernel() { grids } else { &grids[..1] };
        for &blocks in grids {
            runner.clear().expect("the arrays can be cleared");
            let ready = match runner.ready(method, blocks) {
                Ok(ready) => ready,
                // Overlapping launches need compute capability 9.0.
                Err(RunError::Device(DeviceError::Unsupported { .. })) => continue,
                Err(error) => panic!("{}: {error}", method.name()),
            };
            for _ in 0..runs {
                ready.launch().unwrap_or_else(|error| panic!("{}: {error}", method.name()));
            }
            device.synchronize().expect("it should run");
            assert_eq!(ready.refused(), Ok(None), "{}", method.name());
            let wrong = runner.wrong().expect("the arrays should come back");
            assert_eq!(wrong, None, "{} in {blocks} blocks", method.name());
        }
    }
}

/// The same graph with larger arrays, so values do not fit into a word.
fn in_memory(work: &Work, elements: u32, threads: u32) -> Work {
    Work { elements, threads, ..work.clone() }
}

/// A graph in which some nodes have several blocks.
fn in_parts(mut work: Work) -> Work {
    for (id, step) in work.steps.iter_mut().enumerate() {
        step.blocks = [1, 3, 1, 2][id % 4];
    }
    work
}

/// Graphs with all kinds of edges.
fn graphs() -> Vec<Work> {
    let random = |seed| Work::random(seed, 30);
    vec![
        Work::diamond(),
        in_memory(&Work::diamond(), 100, 64),
        in_parts(in_memory(&Work::diamond(), 1000, 32)),
        Work::chain(1),
        Work::chain(40),
        in_memory(&Work::chain(5), 33, 32),
        random(1),
        in_parts(random(2)),
        in_memory(&random(3), 70, 32),
        in_parts(in_memory(&random(4), 70, 64)),
    ]
}

fn small_graphs_are_right_by_every_method(device: &Device) {
    for work in graphs() {
        is_right(device, &work, &[1, 2, 5], 1);
        let noting_times = Runner::new(device, &work, true).expect("a graph that fits");
        runs_right(noting_times, device, &[2], 1);
    }
}

fn the_same_plan_can_run_repeatedly(device: &Device) {
    is_right(device, &Work::diamond(), &[2], 5);
    is_right(device, &in_parts(in_memory(&Work::random(5, 20), 40, 32)), &[3], 5);
}

fn nodes_with_many_inputs_and_many_blocks_are_right(device: &Device) {
    // 60 inputs need three joins.
    let mut steps: Vec<Step> =
        (0..60).map(|id| Step::new(format!("n{id}"), Operation::Sum, id, &[])).collect();
    let inputs: Vec<usize> = (0..60).collect();
    steps.push(Step::new("all", Operation::Mix, 1, &inputs));
    let wide = Work::of(steps);
    is_right(device, &wide, &[1, 4, 8], 2);
    let mut in_memory = in_memory(&wide, 50, 32);
    in_memory.steps[60].blocks = 4;
    is_right(device, &in_memory, &[4], 2);
}

fn every_schedule_gives_the_right_results_without_a_race() {
    for (seed, schedule) in
        schedules().into_iter().chain((0..8).map(Schedule::from_seed)).enumerate()
    {
        let device = emulator_under(schedule);
        is_right(&device, &Work::diamond(), &[2, 3], 2);
        let random = Work::random(seed as u64, 24);
        is_right(&device, &random, &[4], 2);
        is_right(&device, &in_parts(in_memory(&random, 40, 64)), &[3], 2);
    }
}

fn large_graphs_are_right_on_cuda() {
    with_cuda(|cuda| {
        let blocks = cuda.properties().multiprocessors;
        for seed in 0..4 {
            let work = Work::random(seed, 1000);
            is_right(cuda, &work, &[blocks, 7, 2 * blocks], 20);
            is_right(cuda, &in_parts(in_memory(&work, 777, 128)), &[blocks, 40], 20);
        }
        is_right(cuda, &Work::chain(2000), &[2], 3);
    });
}

fn ten_thousand_products_are_right_by_every_method(device: &Device) {
    let runs = if device.properties().is_emulated() { 100 } else { 10_000 };
    for work in [Work::diamond(), in_memory(&Work::diamond(), 300, 128)] {
        let mut runner = Runner::new(device, &work, false).expect("a graph");
        for method in Method::ALL {
            let ready = match runner.ready(method, 2) {
                Err(RunError::Device(DeviceError::Unsupported { .. })) => continue,
                ready => ready.expect("it can be run"),
            };
            let mut wrong = 0;
            for _ in 0..runs {
                ready.launch().expect("it should run");
                wrong += u32::from(runner.wrong().expect("the arrays come back").is_some());
            }
            drop(ready);
            assert_eq!(wrong, 0, "{wrong} of {runs} are wrong by {}", method.name());
            runner.clear().expect("the arrays can be cleared");
        }
    }
}

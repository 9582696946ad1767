//! The kernels of the examples, launched by the code of the examples: their results equal those of
//! the CPU, on grids of many shapes.

use gridsync::device::{Device, DeviceError};
use gridsync::launch::Blocks;
use gridsync_tests::devices::{emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use ndarray::{Array2, Axis, s};

// Each example is a program: it has a `main`, and includes the shared code as a module.
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "../../../host/examples/bfs.rs"]
pub(super) mod bfs;
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "../../../host/examples/compaction.rs"]
mod compaction;
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "../../../host/examples/conjugate_gradient.rs"]
mod conjugate_gradient;
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "../../../host/examples/counting_sort.rs"]
mod counting_sort;
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "../../../host/examples/jacobi.rs"]
mod jacobi;
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "../../../host/examples/with_cust.rs"]
mod with_cust;
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "../../../host/examples/with_ndarray.rs"]
mod with_ndarray;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_schedule_gives_the_results_of_the_cpu,
            grids_that_fill_a_gpu_give_the_results_of_the_cpu_on_cuda,
            cust_memory_in_a_cust_stream_gives_the_results_of_the_cpu_on_cuda;
        on_each_backend:
            a_plate_is_solved_in_as_many_sweeps_to_the_same_bits,
            each_vertex_has_its_level,
            elements_above_the_bound_are_kept_in_order,
            a_counting_sort_is_stable,
            arrays_of_ndarray_go_in_and_come_out_in_any_layout,
            steps_of_a_solver_are_a_graph;
    }
}

/// Blocks and threads: one block, blocks without work, several warps.
const SHAPES: [(u32, u32); 4] = [(1, 32), (3, 96), (8, 64), (40, 32)];

/// The result of an example.
#[track_caller]
fn of<T>(result: Result<T, DeviceError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Solves a plate in both ways.
pub(super) fn solves(
    device: &Device,
    (rows, columns): (usize, usize),
    every: u32,
    shape: (u32, u32),
) {
    let problem = jacobi::Problem::new(rows, columns, 0.02, every);
    let expected = problem.solve_on_cpu();
    let (blocks, threads) = shape;
    let solved = of(problem.solve(device, Blocks::Exactly(blocks), threads));
    assert_eq!(solved, expected, "{rows} × {columns}, {every}, {shape:?}");
    let solved = of(problem.solve_by_launches(device));
    assert_eq!(solved, expected, "{rows} × {columns}, {every}, launches");
}

/// Searches a graph in both ways.
pub(super) fn searches(device: &Device, graph: &bfs::Graph, (blocks, threads): (u32, u32)) {
    let expected = graph.search_on_cpu();
    let levels = of(graph.search(device, Blocks::Exactly(blocks), threads));
    assert_eq!(levels, expected, "{blocks} blocks of {threads}");
    assert_eq!(of(graph.search_by_launches(device)), expected, "launches");
}

/// Selects from an array of this length. Some elements are NaN, and some equal the bound.
pub(super) fn keeps(device: &Device, len: u32, (blocks, threads): (u32, u32)) {
    let element = |i: u32| match i % 7 {
        3 => f32::NAN,
        5 => compaction::BOUND,
        _ => i.wrapping_mul(0x9E37_79B9) as f32 / 2f32.powi(32),
    };
    let input: Vec<f32> = (0..len).map(element).collect();
    let expected: Vec<f32> = input.iter().copied().filter(|&x| x > compaction::BOUND).collect();
    let kept = of(compaction::keep(device, &input, Blocks::Exactly(blocks), threads));
    assert_eq!(kept, expected, "{len} elements, {blocks} blocks of {threads}");
}

/// Solves Poisson's equation in both ways.
pub(super) fn descends(device: &Device, side: u32, parts: u32, threads: u32) {
    let mut problem = conjugate_gradient::Problem::new(side);
    (problem.parts, problem.threads) = (parts, threads);
    let by_graph = of(problem.solve_by_graph(device));
    problem.expect_close(&by_graph, &problem.solve_on_cpu());
    assert_eq!(of(problem.solve_in_one_kernel(device)), by_graph, "{side}, {parts} × {threads}");
}

/// Sorts `input` in both ways.
pub(super) fn sorts(device: &Device, input: &[u32], (blocks, threads): (u32, u32)) {
    let mut expected = input.to_vec();
    expected.sort_by_key(|element| element >> counting_sort::SHIFT);
    let (blocks, len) = (Blocks::Exactly(blocks), input.len());
    let sorted = of(counting_sort::sort(device, input, blocks, threads));
    assert_eq!(sorted, expected, "{len} elements, {blocks:?} of {threads}");
    let sorted = of(counting_sort::sort_by_launches(device, input, blocks, threads));
    assert_eq!(sorted, expected, "{len} elements, {blocks:?} of {threads}, launches");
}

/// `len` different numbers. Neighbours are in different bins.
pub(super) fn mixed(len: u32) -> Vec<u32> {
    (0..len).map(|i| i.wrapping_mul(0x9E37_79B9)).collect()
}

fn a_plate_is_solved_in_as_many_sweeps_to_the_same_bits(device: &Device) {
    for shape in SHAPES {
        for every in [1, 2, 5] {
            solves(device, (13, 37), every, shape);
        }
    }
    // Plates without inner cells do not change.
    for plate in [(1, 1), (1, 40), (2, 40), (40, 1), (40, 2), (3, 3)] {
        solves(device, plate, 1, (3, 64));
    }
}

fn each_vertex_has_its_level(device: &Device) {
    for shape in SHAPES {
        searches(device, &bfs::Graph::random(300), shape);
        searches(device, &bfs::Graph::grid(7, 11), shape);
    }
    // A path has one vertex per level, and a lone vertex has no edge.
    searches(device, &bfs::Graph::grid(1, 70), (3, 32));
    searches(device, &bfs::Graph::grid(1, 1), (3, 32));
}

fn elements_above_the_bound_are_kept_in_order(device: &Device) {
    for shape in SHAPES {
        for len in [0, 1, 31, 33, 1000, 4099] {
            keeps(device, len, shape);
        }
    }
}

fn steps_of_a_solver_are_a_graph(device: &Device) {
    for (parts, threads) in SHAPES {
        descends(device, 13, parts, threads);
    }
    // More parts than cells.
    descends(device, 5, 30, 32);
}

fn a_counting_sort_is_stable(device: &Device) {
    for shape in SHAPES {
        for len in [0, 1, 31, 33, 1000, 4099] {
            sorts(device, &mixed(len), shape);
        }
        // All of them are in the last bin.
        let alike: Vec<u32> = (0..700).map(|i| u32::MAX - i).collect();
        sorts(device, &alike, shape);
    }
}

fn arrays_of_ndarray_go_in_and_come_out_in_any_layout(device: &Device) {
    for shape in [(1, 1), (1, 300), (300, 1), (17, 33), (4, 0), (0, 4)] {
        let all = Array2::from_shape_fn(shape, |(i, j)| 1000 * i as i32 - 7 * j as i32);
        for matrix in [all.view(), all.t(), all.slice(s![..;2, ..;-1])] {
            let sums = of(with_ndarray::row_sums(device, matrix));
            assert_eq!(sums, matrix.map(|&x| i64::from(x)).sum_axis(Axis(1)), "{shape:?}");
            let sums = of(with_ndarray::running_sums(device, matrix));
            assert_eq!(sums, with_ndarray::running_sums_by_ndarray(matrix), "{shape:?}");
        }
    }
}

fn every_schedule_gives_the_results_of_the_cpu() {
    for schedule in schedules() {
        let device = &emulator_under(schedule);
        for shape in [(3, 32), (4, 96)] {
            solves(device, (9, 21), 1, shape);
            solves(device, (9, 21), 2, shape);
            searches(device, &bfs::Graph::random(90), shape);
            searches(device, &bfs::Graph::grid(3, 9), shape);
            descends(device, 9, shape.0, shape.1);
            keeps(device, 777, shape);
            sorts(device, &mixed(777), shape);
        }
    }
}

fn grids_that_fill_a_gpu_give_the_results_of_the_cpu_on_cuda() {
    with_cuda(|cuda| {
        let blocks = cuda.properties().multiprocessors;
        for shape in [(blocks, 512), (blocks - 1, 96), (4 * blocks, 64)] {
            solves(cuda, (150, 333), 1, shape);
            solves(cuda, (150, 333), 16, shape);
            searches(cuda, &bfs::Graph::random(100_000), shape);
            searches(cuda, &bfs::Graph::grid(70, 130), shape);
            descends(cuda, 301, shape.0, shape.1);
            keeps(cuda, 1_000_003, shape);
            sorts(cuda, &mixed(1_000_003), shape);
        }
    });
}

fn cust_memory_in_a_cust_stream_gives_the_results_of_the_cpu_on_cuda() {
    with_cuda(|_| {
        for len in [1, 33, 1_000_003] {
            with_cust::run(len).unwrap_or_else(|error| panic!("{len}: {error}"));
        }
    });
}

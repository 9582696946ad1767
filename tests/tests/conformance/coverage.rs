//! A check that these tests cover every kernel in the PTX.

use super::{counted, ladder, spread};
use gridsync::device::cuda::Modules;
use gridsync_lab::fences::{NOTHING, OPERATIONS};
use gridsync_lab::limits::HOLDERS;
use gridsync_tests::devices::images;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{DESIGNS, MUTANTS, Primitive, kinds};
use std::collections::BTreeSet;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_entry_point_of_the_ptx_is_tested_and_every_tested_one_exists;
    }
}

/// Modules with the kernels that they launch and that no table names.
const OTHERS: &[(&str, &str)] = &[
    ("barrier_parts", "phased_barrier_rounds subset_barrier_rounds"),
    ("bounded", "bounded_barrier_rounds"),
    (
        "collectives",
        "exchange_in_order block_scans exchange_scan_threads exchange_scan_threads_only \
         exchange_votes",
    ),
    (
        "dag",
        "dag_edges dag_from_device_phases dag_from_device_stream dag_from_device_streams \
         dag_levels dag_node dag_words",
    ),
    (
        "device_launch",
        "device_launch_copy device_launch_fill device_launch_mixed device_launch_multiply \
         device_launch_note device_launch_block_streams device_launch_count_down \
         device_launch_delegate device_launch_many device_launch_ordered device_launch_tail \
         device_launch_unordered device_launch_serial device_launch_two_phases \
         device_launch_two_streams device_launch_ask device_launch_hand_down \
         device_launch_pass_mixed device_launch_refused",
    ),
    (
        "examples",
        "bfs_level bfs_search cg_node cg_tasks compact_above counting_sort counting_sort_count \
         counting_sort_place jacobi_solve jacobi_sweep",
    ),
    ("exchange", "exchange_by_barrier_only exchange_only exchange_rounds"),
    (
        "finished",
        "finish_bf16 finish_deviation_f32 finish_deviation_f64 finish_deviation_i32 \
         finish_deviation_i64 finish_f16 finish_index_32 finish_index_64 \
         finish_log_sum_exp_bf16 finish_log_sum_exp_f16 finish_log_sum_exp_f32 \
         finish_log_sum_exp_f64 finish_mean_bf16 finish_mean_f16 finish_mean_f32 finish_mean_f64 \
         finish_mean_i32 finish_mean_u32 finish_squares_bf16 finish_squares_f16 \
         finish_squares_f32 finish_variance_f32 finish_variance_f64 finish_variance_i32 \
         finish_variance_i64",
    ),
    (
        "kendall",
        "kendall_tiles kendall_runs kendall_ties_of_keys kendall_ties_of_ranks merge_sort_runs \
         merge_sort_tiles",
    ),
    (
        "memory",
        "memory_barrier memory_fill memory_lines memory_read_1 memory_read_2 memory_read_4 \
         memory_read_8 memory_read_shared memory_shuffle memory_spread memory_walk_l1 \
         memory_walk_l2 memory_walk_shared",
    ),
    (
        "scan",
        "scan_sum_compensated_f32 scan_sum_compensated_f64 scan_prod_mod_i32 scan_prod_mod_u32 \
         scan_prod_mod_i64 scan_prod_mod_u64 scan_recurrence scan_segments_sum_f32 \
         scan_segments_sum_f32_in_f64 scan_segments_sum_f64 scan_segments_sum_i32_in_i64 \
         scan_segments_sum_u32_in_u64 scan_segments_sum_u64 scan_segments_min_f32 \
         scan_segments_min_f64 scan_segments_min_i32 scan_segments_min_u32 scan_segments_min_i64 \
         scan_segments_min_u64 scan_segments_max_f32 scan_segments_max_f64 scan_segments_max_i32 \
         scan_segments_max_u32 scan_segments_max_i64 scan_segments_max_u64 scan_delayed_sum_u32",
    ),
    (
        "scan::rows",
        "scan_long_rows_prod_f32 scan_long_rows_prod_f64 scan_long_rows_prod_i32_in_i64 \
         scan_long_rows_prod_u32_in_u64 scan_long_rows_prod_u64 scan_long_rows_sum_f32 \
         scan_long_rows_sum_f64 scan_long_rows_sum_i32_in_i64 scan_long_rows_sum_u32_in_u64 \
         scan_long_rows_sum_u64 scan_middle_rows_prod_f32 scan_middle_rows_prod_f64 \
         scan_middle_rows_prod_i32_in_i64 scan_middle_rows_prod_u32_in_u64 \
         scan_middle_rows_prod_u64 scan_middle_rows_sum_f32 scan_middle_rows_sum_f64 \
         scan_middle_rows_sum_i32_in_i64 scan_middle_rows_sum_u32_in_u64 \
         scan_middle_rows_sum_u64 scan_short_rows_prod_f32 scan_short_rows_prod_f64 \
         scan_short_rows_prod_i32_in_i64 scan_short_rows_prod_u32_in_u64 \
         scan_short_rows_prod_u64 scan_short_rows_sum_f32 scan_short_rows_sum_f64 \
         scan_short_rows_sum_i32_in_i64 scan_short_rows_sum_u32_in_u64 \
         scan_short_rows_sum_u64",
    ),
    ("scatter", "mark_starts_of_segments"),
    ("search", "search_float_32 search_float_64 search_int_32 search_int_64"),
    ("spin", "spin_naive spin_volatile spin_asm spin_acquire"),
    (
        "system",
        "system_barrier_rounds system_barrier_only bounded_system_barrier_rounds \
         system_exchange_rounds system_exchange_only system_exchange_votes",
    ),
    (
        "xpx",
        "xpx_no_barrier xpx_block_barrier xpx_grid_barrier xpx_grid_barrier_alone \
         xpx_flip_barrier xpx_growing_volatile_barrier xpx_growing_ptx_barrier \
         xpx_generation_barrier xpx_lock_free_barrier xpx_tree_barrier xpx_stage",
    ),
];

/// Kernels that no table names and that need compute capability 9.0.
const SINCE_90: &str = "dag_node_overlapped dag_node_overlapped_noted ladder_redux_u32 \
    memory_walk_cluster scan_bulk_delayed_sum_u32 xpx_stage_overlapped";

/// Experiments that also launch all of their kernels in the emulator and check the results, as
/// prefixes of kernel names. The tests of the program run them, in `program/lab_NAME.rs`.
const EXPERIMENTS: [&str; 5] = ["threads_", "divergence_", "locks_", "atomics_", "banks_"];

/// The kernels in the tables that the tests run over, for this compute capability.
fn in_tables(compute: u32) -> BTreeSet<String> {
    let kinds = || Primitive::ALL.into_iter().flat_map(kinds);
    let barriers = DESIGNS.iter().chain(MUTANTS).map(|barrier| barrier.kernel);
    // The kernels that only cross the correct ones.
    let crossed = DESIGNS.iter().map(|design| design.kernel.replace("_rounds", "_only"));
    let spread = spread::kernels().into_iter().filter(|(.., since)| *since <= compute);
    kinds()
        .flat_map(|kind| &kind.kernels)
        .copied()
        .chain(kinds().filter_map(|kind| kind.bulk).filter(|_| compute >= 90))
        .chain(counted::kernels().into_iter().map(|(kernel, _)| kernel))
        .chain(spread.map(|(kernel, ..)| kernel))
        .chain(ladder::sums::kernels())
        .chain(ladder::scans::kernels())
        .chain(ladder::sorts::kernels())
        .chain(OPERATIONS.iter().chain([&NOTHING]).map(|operation| operation.kernel))
        .chain(HOLDERS.iter().map(|holder| holder.kernel.name))
        .chain(barriers)
        .map(str::to_owned)
        .chain(crossed)
        .filter(|kernel| compute >= 90 || !kernel.starts_with("cluster_"))
        .collect()
}

fn every_entry_point_of_the_ptx_is_tested_and_every_tested_one_exists() {
    for compute in [75, 90] {
        let images = images();
        let modules = Modules::of(&images, compute).expect("whole images");
        let mut covered = in_tables(compute);
        let others = OTHERS.iter().map(|(_, kernels)| *kernels);
        let others = others.chain([SINCE_90].into_iter().filter(|_| compute >= 90));
        for kernel in others.flat_map(str::split_whitespace) {
            assert!(covered.insert(kernel.to_owned()), "{kernel} is named twice");
        }
        let built: BTreeSet<String> = modules.kernels().map(str::to_owned).collect();
        assert!(built.len() > 10, "compute_{compute} should have kernels");
        let by_an_experiment =
            |kernel: &&String| EXPERIMENTS.iter().any(|prefix| kernel.starts_with(prefix));
        let untested = built.difference(&covered).filter(|kernel| !by_an_experiment(kernel));
        let untested: Vec<_> = untested.collect();
        let absent: Vec<_> = covered.difference(&built).collect();
        assert!(
            untested.is_empty() && absent.is_empty(),
            "compute_{compute}: no test names {untested:?}; not in the PTX: {absent:?}"
        );
    }
}

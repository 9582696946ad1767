//! The list of kernels with the tests that cover them, and a check that no kernel is missing.

use super::{counted, ladder, spread};
use cuda_std::launch::Kernel;
use gridsync::device::cuda::Modules;
use gridsync_entries::kendall as kendalls;
use gridsync_entries::merge_sort::{merge_sort_runs, merge_sort_tiles};
use gridsync_entries::range_sum::{range_sum_f32, range_sum_f64, range_sum_u64};
use gridsync_entries::scan as scans_of;
use gridsync_example_kernels::bfs::{bfs_level, bfs_search};
use gridsync_example_kernels::compaction::compact_above;
use gridsync_example_kernels::conjugate_gradient::{cg_node, cg_tasks};
use gridsync_example_kernels::counting_sort::{
    counting_sort, counting_sort_count, counting_sort_place,
};
use gridsync_example_kernels::jacobi::{jacobi_solve, jacobi_sweep};
use gridsync_lab_kernels::barrier as barriers;
use gridsync_lab_kernels::dag::launching::{
    dag_from_device_phases, dag_from_device_stream, dag_from_device_streams,
};
use gridsync_lab_kernels::dag::nodes::{dag_node, dag_node_overlapped, dag_node_overlapped_noted};
use gridsync_lab_kernels::dag::tasks::{dag_edges, dag_levels, dag_words};
use gridsync_lab_kernels::device_launch::children as launched;
use gridsync_lab_kernels::device_launch::order as launch_order;
use gridsync_lab_kernels::device_launch::schedules as launch_schedules;
use gridsync_lab_kernels::device_launch::values as launch_values;
use gridsync_lab_kernels::fences::{
    cost_of_atom_relaxed, cost_of_fence_acq_rel_block, cost_of_fence_acq_rel_device,
    cost_of_fence_acq_rel_system, cost_of_fence_sc_block, cost_of_fence_sc_device,
    cost_of_fence_sc_system, cost_of_load_acquire, cost_of_none, cost_of_red_relaxed,
    cost_of_red_release,
};
use gridsync_lab_kernels::ladder::sums::kernels::ladder_redux_u32;
use gridsync_lab_kernels::limits::{
    limits_hold_8_u32, limits_hold_32_u32, limits_hold_64_u32, limits_hold_64_u64,
};
use gridsync_lab_kernels::memory::bandwidth::{
    memory_fill, memory_read_1, memory_read_2, memory_read_4, memory_read_8, memory_read_shared,
};
use gridsync_lab_kernels::memory::latency::{
    memory_barrier, memory_shuffle, memory_spread, memory_walk_cluster, memory_walk_l1,
    memory_walk_l2, memory_walk_shared,
};
use gridsync_lab_kernels::memory::lines::memory_lines;
use gridsync_lab_kernels::scan_stress;
use gridsync_lab_kernels::spin::{spin_acquire, spin_asm, spin_naive, spin_volatile};
use gridsync_lab_kernels::xpx::{
    xpx_block_barrier, xpx_flip_barrier, xpx_generation_barrier, xpx_grid_barrier,
    xpx_grid_barrier_alone, xpx_growing_ptx_barrier, xpx_growing_volatile_barrier,
    xpx_lock_free_barrier, xpx_no_barrier, xpx_stage, xpx_stage_overlapped, xpx_tree_barrier,
};
use gridsync_tests::devices::images;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{reduce_kinds, row_kinds, scan_kinds, select_kinds};
use std::collections::BTreeSet;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_entry_point_of_the_ptx_is_tested_and_every_tested_one_exists;
    }
}

/// Kernels outside the matrices and the ladders, each with the module that tests it. The rows of
/// the matrices and the rungs of the ladders list the other kernels.
const OTHERS: &[(&str, &str)] = &[
    (scans_of::sum_compensated_f32::NAME, "scan"),
    (scans_of::sum_compensated_f64::NAME, "scan"),
    (scans_of::prod_mod_i32::NAME, "scan"),
    (scans_of::prod_mod_u32::NAME, "scan"),
    (scans_of::prod_mod_i64::NAME, "scan"),
    (scans_of::prod_mod_u64::NAME, "scan"),
    (scans_of::recurrence::NAME, "scan"),
    (scans_of::segments::sum_f32::NAME, "scan"),
    (scans_of::segments::sum_f32_in_f64::NAME, "scan"),
    (scans_of::segments::sum_f64::NAME, "scan"),
    (scans_of::segments::sum_i32_in_i64::NAME, "scan"),
    (scans_of::segments::sum_u32_in_u64::NAME, "scan"),
    (scans_of::segments::sum_u64::NAME, "scan"),
    (scans_of::segments::min_f32::NAME, "scan"),
    (scans_of::segments::min_f64::NAME, "scan"),
    (scans_of::segments::min_i32::NAME, "scan"),
    (scans_of::segments::min_u32::NAME, "scan"),
    (scans_of::segments::min_i64::NAME, "scan"),
    (scans_of::segments::min_u64::NAME, "scan"),
    (scans_of::segments::max_f32::NAME, "scan"),
    (scans_of::segments::max_f64::NAME, "scan"),
    (scans_of::segments::max_i32::NAME, "scan"),
    (scans_of::segments::max_u32::NAME, "scan"),
    (scans_of::segments::max_i64::NAME, "scan"),
    (scans_of::segments::max_u64::NAME, "scan"),
    (scan_stress::scan_delayed_sum_u32::NAME, "scan"),
    (barriers::system_barrier_rounds::NAME, "system"),
    (barriers::system_barrier_only::NAME, "system"),
    (barriers::bounded_system_barrier_rounds::NAME, "system"),
    (barriers::system_exchange_rounds::NAME, "system"),
    (barriers::system_exchange_only::NAME, "system"),
    (barriers::system_exchange_votes::NAME, "system"),
    (barriers::barrier_only::NAME, "barrier"),
    (barriers::barrier_rounds::NAME, "barrier"),
    (barriers::split_barrier_only::NAME, "barrier"),
    (barriers::split_barrier_rounds::NAME, "barrier"),
    (barriers::split_4_barrier_only::NAME, "barrier"),
    (barriers::split_4_barrier_rounds::NAME, "barrier"),
    (barriers::late_barrier_only::NAME, "barrier"),
    (barriers::late_barrier_rounds::NAME, "barrier"),
    (barriers::phase_barrier_only::NAME, "barrier"),
    (barriers::phase_barrier_rounds::NAME, "barrier"),
    (barriers::flip_barrier_only::NAME, "barrier"),
    (barriers::flip_barrier_rounds::NAME, "barrier"),
    (barriers::growing_barrier_only::NAME, "barrier"),
    (barriers::growing_barrier_rounds::NAME, "barrier"),
    (barriers::growing_volatile_barrier_only::NAME, "barrier"),
    (barriers::growing_volatile_barrier_rounds::NAME, "barrier"),
    (barriers::growing_ptx_barrier_only::NAME, "barrier"),
    (barriers::growing_ptx_barrier_rounds::NAME, "barrier"),
    (barriers::generation_barrier_only::NAME, "barrier"),
    (barriers::generation_barrier_rounds::NAME, "barrier"),
    (barriers::lock_free_barrier_only::NAME, "barrier"),
    (barriers::lock_free_barrier_rounds::NAME, "barrier"),
    (barriers::release_barrier_only::NAME, "barrier"),
    (barriers::release_barrier_rounds::NAME, "barrier"),
    (barriers::tree_barrier_only::NAME, "barrier"),
    (barriers::tree_barrier_rounds::NAME, "barrier"),
    (barriers::phased_barrier_rounds::NAME, "barrier_parts"),
    (barriers::subset_barrier_rounds::NAME, "barrier_parts"),
    (barriers::bounded_barrier_rounds::NAME, "bounded"),
    (barriers::exchange_by_barrier_only::NAME, "exchange"),
    (barriers::exchange_in_order::NAME, "collectives"),
    (barriers::exchange_only::NAME, "exchange"),
    (barriers::exchange_rounds::NAME, "exchange"),
    (barriers::block_scans::NAME, "collectives"),
    (barriers::exchange_scan_threads::NAME, "collectives"),
    (barriers::exchange_scan_threads_only::NAME, "collectives"),
    (barriers::exchange_votes::NAME, "collectives"),
    (barriers::reset_barrier_rounds::NAME, "broken"),
    (barriers::mutant_no_first_rounds::NAME, "broken"),
    (barriers::mutant_no_last_rounds::NAME, "broken"),
    (barriers::mutant_relaxed_arrival_rounds::NAME, "broken"),
    (barriers::mutant_block_scope_rounds::NAME, "broken"),
    (barriers::mutant_relaxed_look_rounds::NAME, "broken"),
    (barriers::mutant_weak_look_rounds::NAME, "broken"),
    (barriers::mutant_short_goal_rounds::NAME, "broken"),
    (barriers::mutant_equal_goal_rounds::NAME, "broken"),
    (barriers::mutant_one_bit_rounds::NAME, "broken"),
    (dag_edges::NAME, "dag"),
    (dag_from_device_phases::NAME, "dag"),
    (dag_from_device_stream::NAME, "dag"),
    (dag_from_device_streams::NAME, "dag"),
    (dag_levels::NAME, "dag"),
    (dag_node::NAME, "dag"),
    (dag_words::NAME, "dag"),
    (bfs_level::NAME, "examples"),
    (bfs_search::NAME, "examples"),
    (cg_node::NAME, "examples"),
    (cg_tasks::NAME, "examples"),
    (compact_above::NAME, "examples"),
    (counting_sort::NAME, "examples"),
    (counting_sort_count::NAME, "examples"),
    (counting_sort_place::NAME, "examples"),
    (jacobi_solve::NAME, "examples"),
    (jacobi_sweep::NAME, "examples"),
    (launched::copy::NAME, "device_launch"),
    (launched::fill::NAME, "device_launch"),
    (launched::mixed::NAME, "device_launch"),
    (launched::multiply::NAME, "device_launch"),
    (launched::note::NAME, "device_launch"),
    (launch_order::block_streams::NAME, "device_launch"),
    (launch_order::count_down::NAME, "device_launch"),
    (launch_order::delegate::NAME, "device_launch"),
    (launch_order::many::NAME, "device_launch"),
    (launch_order::ordered::NAME, "device_launch"),
    (launch_order::tail::NAME, "device_launch"),
    (launch_order::unordered::NAME, "device_launch"),
    (launch_schedules::serial::NAME, "device_launch"),
    (launch_schedules::two_phases::NAME, "device_launch"),
    (launch_schedules::two_streams::NAME, "device_launch"),
    (launch_values::ask::NAME, "device_launch"),
    (launch_values::hand_down::NAME, "device_launch"),
    (launch_values::pass_mixed::NAME, "device_launch"),
    (launch_values::refused::NAME, "device_launch"),
    (cost_of_none::NAME, "fences"),
    (cost_of_fence_acq_rel_block::NAME, "fences"),
    (cost_of_fence_acq_rel_device::NAME, "fences"),
    (cost_of_fence_acq_rel_system::NAME, "fences"),
    (cost_of_fence_sc_block::NAME, "fences"),
    (cost_of_fence_sc_device::NAME, "fences"),
    (cost_of_fence_sc_system::NAME, "fences"),
    (cost_of_red_relaxed::NAME, "fences"),
    (cost_of_red_release::NAME, "fences"),
    (cost_of_atom_relaxed::NAME, "fences"),
    (cost_of_load_acquire::NAME, "fences"),
    (kendalls::kendall_tiles::NAME, "kendall"),
    (kendalls::kendall_runs::NAME, "kendall"),
    (kendalls::kendall_ties_of_keys::NAME, "kendall"),
    (kendalls::kendall_ties_of_ranks::NAME, "kendall"),
    (kendalls::kendall_pairs_f32::NAME, "kendall"),
    (kendalls::kendall_pairs_f64::NAME, "kendall"),
    (kendalls::kendall_pairs_i32::NAME, "kendall"),
    (kendalls::kendall_pairs_u32::NAME, "kendall"),
    (kendalls::kendall_pairs_i64::NAME, "kendall"),
    (kendalls::kendall_pairs_u64::NAME, "kendall"),
    (kendalls::kendall_place_f32::NAME, "kendall"),
    (kendalls::kendall_place_i32::NAME, "kendall"),
    (kendalls::kendall_place_u32::NAME, "kendall"),
    (kendalls::kendall_order_f64::NAME, "kendall"),
    (kendalls::kendall_rank_f64::NAME, "kendall"),
    (kendalls::kendall_order_i64::NAME, "kendall"),
    (kendalls::kendall_rank_i64::NAME, "kendall"),
    (kendalls::kendall_order_u64::NAME, "kendall"),
    (kendalls::kendall_rank_u64::NAME, "kendall"),
    (merge_sort_runs::NAME, "kendall"),
    (merge_sort_tiles::NAME, "kendall"),
    (limits_hold_8_u32::NAME, "limits"),
    (limits_hold_32_u32::NAME, "limits"),
    (limits_hold_64_u32::NAME, "limits"),
    (limits_hold_64_u64::NAME, "limits"),
    (memory_barrier::NAME, "memory"),
    (memory_fill::NAME, "memory"),
    (memory_lines::NAME, "memory"),
    (memory_read_1::NAME, "memory"),
    (memory_read_2::NAME, "memory"),
    (memory_read_4::NAME, "memory"),
    (memory_read_8::NAME, "memory"),
    (memory_read_shared::NAME, "memory"),
    (memory_shuffle::NAME, "memory"),
    (memory_spread::NAME, "memory"),
    (memory_walk_l1::NAME, "memory"),
    (memory_walk_l2::NAME, "memory"),
    (memory_walk_shared::NAME, "memory"),
    (range_sum_f32::NAME, "range_sum"),
    (range_sum_f64::NAME, "range_sum"),
    (range_sum_u64::NAME, "range_sum"),
    (spin_naive::NAME, "spin"),
    (spin_volatile::NAME, "spin"),
    (spin_asm::NAME, "spin"),
    (spin_acquire::NAME, "spin"),
    (xpx_no_barrier::NAME, "xpx"),
    (xpx_block_barrier::NAME, "xpx"),
    (xpx_grid_barrier::NAME, "xpx"),
    (xpx_grid_barrier_alone::NAME, "xpx"),
    (xpx_flip_barrier::NAME, "xpx"),
    (xpx_growing_volatile_barrier::NAME, "xpx"),
    (xpx_growing_ptx_barrier::NAME, "xpx"),
    (xpx_generation_barrier::NAME, "xpx"),
    (xpx_lock_free_barrier::NAME, "xpx"),
    (xpx_tree_barrier::NAME, "xpx"),
    (xpx_stage::NAME, "xpx"),
];

/// Kernels that need this compute capability.
const SINCE: [(u32, &str, &str); 8] = [
    (90, barriers::cluster_barrier_only::NAME, "barrier"),
    (90, barriers::cluster_barrier_rounds::NAME, "barrier"),
    (90, dag_node_overlapped::NAME, "dag"),
    (90, dag_node_overlapped_noted::NAME, "dag"),
    (90, ladder_redux_u32::NAME, "ladder"),
    (90, memory_walk_cluster::NAME, "memory"),
    (90, scan_stress::scan_bulk_delayed_sum_u32::NAME, "scan"),
    (90, xpx_stage_overlapped::NAME, "xpx"),
];

/// Experiments that also launch all of their kernels in the emulator and check the results, as
/// prefixes of kernel names. The tests of the program run them, in `program/lab_NAME.rs`.
const EXPERIMENTS: [&str; 5] = ["threads_", "divergence_", "locks_", "atomics_", "banks_"];

fn every_entry_point_of_the_ptx_is_tested_and_every_tested_one_exists() {
    for compute in [75, 90] {
        let images = images();
        let modules = Modules::of(&images, compute).expect("whole images");
        let since = SINCE.iter().filter(|(since, ..)| *since <= compute);
        let bulk = scan_kinds().into_iter().filter_map(|kind| kind.bulk);
        let covered: BTreeSet<&str> = reduce_kinds()
            .into_iter()
            .map(|kind| kind.kernel)
            .chain(row_kinds().into_iter().flat_map(|kind| kind.kernels))
            .chain(scan_kinds().into_iter().map(|kind| kind.kernel))
            .chain(bulk.filter(|_| compute >= 90))
            .chain(select_kinds().into_iter().map(|kind| kind.kernel))
            .chain(counted::kernels().into_iter().map(|(kernel, _)| kernel))
            .chain(
                spread::kernels()
                    .into_iter()
                    .filter(|(.., since)| *since <= compute)
                    .map(|(kernel, ..)| kernel),
            )
            .chain(ladder::sums::kernels())
            .chain(ladder::scans::kernels())
            .chain(OTHERS.iter().map(|(kernel, _)| *kernel))
            .chain(since.map(|(_, kernel, _)| *kernel))
            .collect();
        let built: BTreeSet<&str> = modules.kernels().collect();
        assert!(built.len() > 10, "compute_{compute} should have kernels");
        let by_an_experiment =
            |kernel: &&&str| EXPERIMENTS.iter().any(|prefix| kernel.starts_with(prefix));
        let untested = built.difference(&covered).filter(|kernel| !by_an_experiment(kernel));
        let untested: Vec<_> = untested.collect();
        let absent: Vec<_> = covered.difference(&built).collect();
        assert!(
            untested.is_empty() && absent.is_empty(),
            "compute_{compute}: no test names {untested:?}; not in the PTX: {absent:?}"
        );
    }
}

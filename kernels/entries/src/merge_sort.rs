//! The merge sort of u64 keys.

use cuda_std::prelude::*;
use gridsync_kernels::grid::merge_sort::{merge_runs, sort_tile};

/// Sorts `input` tile by tile into `output`: see [`sort_tile`].
///
/// # Safety
///
/// The grid is valid for [`sort_tile`]; the arrays are equally long, and the same or disjoint.
#[kernel(max_threads = 256, min_blocks = 4)]
pub unsafe fn merge_sort_tiles(input: Global<u64>, output: Global<u64>) {
    sort_tile(|i| input.read(i), output);
}

/// Merges runs of `run` keys: see [`merge_runs`].
///
/// # Safety
///
/// The arguments and the grid are valid for [`merge_runs`].
#[kernel(max_threads = 256, min_blocks = 4)]
pub unsafe fn merge_sort_runs(input: Global<u64>, output: Global<u64>, run: u32) {
    merge_runs(input, output, run as usize);
}

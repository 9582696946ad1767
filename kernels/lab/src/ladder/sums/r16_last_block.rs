//! Rung 16: the block that finishes last adds up the sums of all blocks (CUDA's sample
//! `threadFenceReduction`).
//!
//! Changed: the blocks draw tickets. When a block draws the last one, all other sums have been
//! written. Why: it is one launch as in rung 15, but the order is fixed, so two runs give the same
//! bits. Nothing must be set to 0, because the ticket wraps around. No block waits for another, so
//! the blocks need not be co-resident. [`grid::reduce()`](gridsync_kernels::grid::reduce()) draws
//! its tickets at the start.
//!
//! Launched: as rung 14, once.

use super::Summand;
use super::r03_strided::strided_sum;
use super::r14_grid_stride::thread_sum;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::op::Sum;

/// Sums `input` into `sum[0]`.
///
/// Called by every thread of the grid; blocks are a multiple of 32 threads. `partials` has an
/// element for each block; `ticket[0]` is 0 before the first launch and after each.
#[device]
pub fn last_block<T: Summand>(
    input: Global<T>,
    partials: Global<T>,
    ticket: Global<u32>,
    sum: Global<T>,
) {
    let of_block = block::reduce(Sum::<T>::new(), thread_sum(input));
    let blocks = thread::block_count();
    let mut last = false;
    if thread::is_first_in_block() {
        partials.write(thread::block_index(), of_block);
        // Releases this block's sum, and acquires all other sums if this block is the last.
        let before = ticket.fetch_inc(0, blocks as u32 - 1, Ordering::AcqRel, Scope::Device);
        last = before as usize == blocks - 1;
    }
    if thread::sync_threads_or(last) {
        let (me, threads) =
            (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
        let of_grid = block::reduce(
            Sum::<T>::new(),
            strided_sum(partials.part(0, blocks), me as usize, threads as usize),
        );
        if thread::is_first_in_block() {
            sum.write(0, of_grid);
        }
    }
}

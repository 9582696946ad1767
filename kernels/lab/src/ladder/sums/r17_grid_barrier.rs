//! Rung 17: a grid barrier, then the first block adds up the sums of all blocks.
//!
//! Changed: all blocks wait until all sums have been written. Why: after the barrier the whole grid
//! can continue, and each block can use the sums. No other rung allows that. Effect: none here,
//! because one block is enough. It costs a barrier, and all blocks must be co-resident.
//!
//! Launched: as rung 14, once, cooperatively.

use super::Summand;
use super::r03_strided::strided_sum;
use super::r14_grid_stride::thread_sum;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_kernels::op::Sum;

/// Sums `input` into `sum[0]`.
///
/// Called by every thread of the grid. Blocks have a multiple of 32 threads and are co-resident.
/// `partials` has an element for each block, `barrier` has the words of a [`GridBarrier`].
#[device]
pub fn grid_barrier<T: Summand>(
    input: Global<T>,
    partials: Global<T>,
    barrier: Global<u32>,
    sum: Global<T>,
) {
    let of_block = block::reduce(Sum::<T>::new(), thread_sum(input));
    if thread::is_first_in_block() {
        partials.write(thread::block_index(), of_block);
    }
    GridBarrier::attach(barrier).sync();
    if thread::block_index() == 0 {
        let (me, threads) =
            (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
        let of_grid = block::reduce(
            Sum::<T>::new(),
            strided_sum(partials.part(0, thread::block_count()), me as usize, threads as usize),
        );
        if thread::is_first_in_block() {
            sum.write(0, of_grid);
        }
    }
}

//! Rung 15: an atomic addition for each block.
//!
//! Changed: each block adds its sum to the total directly; rung 14 needs a second launch. Why: only
//! a few thousand atomics hit one word, not n as in rung 4, and one launch is saved. Effect: it
//! saves the time of a launch, minus the time to set the sum to 0. The blocks add in the order of
//! arrival, so a floating-point sum differs from run to run.
//!
//! Launched: as rung 14, once, after the sum has been set to 0.

use super::Summand;
use super::r14_grid_stride::thread_sum;
use cuda_std::memory::Atomic;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::op::Sum;

/// Adds `input` to `sum[0]`. Called by every thread of the grid; blocks are whole warps.
#[device]
pub fn atomic_finish<T: Summand + Atomic>(input: Global<T>, sum: Global<T>) {
    let of_block = block::reduce(Sum::<T>::new(), thread_sum(input));
    if thread::is_first_in_block() {
        sum.add(0, of_block, Ordering::Relaxed, Scope::Device);
    }
}

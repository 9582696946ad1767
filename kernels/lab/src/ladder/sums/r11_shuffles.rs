//! Rung 11: the sum of a warp with shuffles (Luitjens, "Faster Parallel Reductions on Kepler",
//! 2014).
//!
//! Changed: lanes pass their values from register to register. [`block::reduce`] does this with
//! [`warp::reduce`](gridsync_kernels::warp::reduce). Why: a round through shared memory is two
//! loads, a store and a warp barrier; a shuffle is one instruction. Effect: 9 accesses of a warp to
//! shared memory instead of 154. There are 45 additions of a warp, nearly as many as rung 5's
//! 47, so that number alone does not predict the time.
//!
//! Launched: a thread for two elements; again for the sums of the blocks until one is left.

use super::Summand;
use super::r08_first_add::two_elements;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::op::Sum;

/// Sums two elements for each thread of a block into the block's element of `partials`. Called by
/// every thread of the grid; blocks are a multiple of 32 threads.
#[device]
pub fn shuffles<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sum = block::reduce(Sum::<T>::new(), two_elements(input));
    if thread::is_first_in_block() {
        partials.write(thread::block_index(), sum);
    }
}

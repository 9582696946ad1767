//! Rung 11: the sum of a warp by shuffles (Luitjens, "Faster Parallel Reductions on Kepler", 2014).
//!
//! Changed: lanes give each other their values from register to register: [`block::reduce`], and the
//! [`warp::reduce`](gridsync_kernels::warp::reduce) under it. Why: a round through shared memory is two loads, a
//! store and a barrier of the warp; a shuffle is one instruction. Moves: the accesses of a warp to
//! shared memory, from 154 to 9. The additions of a warp are 45, nearly the 47 of rung 5: that count
//! alone does not tell the time.
//!
//! Launched: a thread for two elements; again over the sums of the blocks until one is left.
//! Reached on: an H200, 2026-11-21: 504.9 µs, 2126.8 GB/s of 2^28 f32.

use super::Summand;
use super::r08_first_add::two_elements;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::op::Sum;

/// Sums two elements for each thread of a block to the block's element of `partials`. Called by
/// every thread of the grid; blocks are a multiple of 32 threads.
#[device]
pub fn shuffles<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sum = block::reduce(Sum::<T>::new(), two_elements(input));
    if thread::is_first_in_block() {
        partials.write(thread::block_index(), sum);
    }
}

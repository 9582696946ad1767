//! Rung 8: the first addition while loading (the seed's fourth; Harris' fourth).
//!
//! Changed: each thread loads two elements and stores their sum. Why: in the first round of rung 7
//! half of the threads had loaded one element only to watch. Moves: the blocks, and with them the
//! rounds in shared memory, to half; two loads a thread are in flight instead of one. The seed
//! expects a factor of 2.
//!
//! Launched: a thread for two elements; again over the sums of the blocks until one is left.
//! Reached on: an H200, 2026-11-21: 698.4 µs, 1537.5 GB/s of 2^28 f32.

use super::r07_sequential::block_sum;
use super::{Summand, element};
use cuda_std::prelude::*;

/// Sums two elements for each thread of a block to the block's element of `partials`. Called as
/// [`interleaved`](super::r05_interleaved::interleaved) is.
#[device]
pub fn first_add<T: Summand>(input: Global<T>, partials: Global<T>) {
    block_sum(two_elements(input), partials);
}

/// The sum of the thread's two elements, as many apart as the block has threads.
#[device]
pub(super) fn two_elements<T: Summand>(input: Global<T>) -> T {
    let threads = thread::threads_per_block() as usize;
    let first = 2 * threads * thread::block_index() + thread::index_in_block() as usize;
    element(input, first).add(element(input, first + threads))
}

//! Rung 8: the first addition while loading (Harris' fourth).
//!
//! Changed: each thread loads two elements and stores their sum. Why: in rung 7 half of the threads
//! load an element and are then idle. Effect: half as many blocks, so half as many rounds in shared
//! memory. Each thread has two loads in flight instead of one.
//!
//! Launched: a thread for two elements; again for the sums of the blocks until one is left.

use super::r07_sequential::block_sum;
use super::{Summand, element};
use cuda_std::prelude::*;

/// Sums two elements for each thread of a block into the block's element of `partials`. Called like
/// [`interleaved`](super::r05_interleaved::interleaved).
#[device]
pub fn first_add<T: Summand>(input: Global<T>, partials: Global<T>) {
    block_sum(two_elements(input), partials);
}

/// The sum of the thread's two elements, which are `threads_per_block` elements apart.
#[device]
pub(super) fn two_elements<T: Summand>(input: Global<T>) -> T {
    let threads = thread::in_32_bits::threads_per_block() as usize;
    let first = 2 * threads * thread::block_index() + thread::in_32_bits::index_in_block() as usize;
    element(input, first).add(element(input, first + threads))
}

//! Rung 7: elements half a block apart first (Harris' third).
//!
//! Changed: the rounds run in the other direction: 128 apart, then 64, down to 1. Why: lane t works
//! on word t, so the lanes of a warp use 32 different banks. Effect: no bank conflicts, where rung
//! 6 has 105 extra passes. The operation must commute.
//!
//! Launched: a thread for each element; again for the sums of the blocks until one is left.

use super::{Summand, element, sums_of_block};
use cuda_std::prelude::*;

/// Sums the elements of each block's threads into the block's element of `partials`. Called like
/// [`interleaved`](super::r05_interleaved::interleaved).
#[device]
pub fn sequential<T: Summand>(input: Global<T>, partials: Global<T>) {
    let value = element(input, thread::index());
    block_sum(value, partials);
}

/// Sums one value of each thread into the block's element of `partials`.
#[device]
pub(super) fn block_sum<T: Summand>(value: T, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let (me, threads) =
        (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
    let at = me as usize;
    sums.write(at, value);
    thread::sync_threads();
    let mut apart = threads / 2;
    while apart > 0 {
        if me < apart {
            let other = sums.read(at + apart as usize);
            sums.write(at, sums.read(at).add(other));
        }
        thread::sync_threads();
        apart /= 2;
    }
    if me == 0 {
        partials.write(thread::block_index(), sums.read(0));
    }
}

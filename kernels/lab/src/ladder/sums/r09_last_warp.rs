//! Rung 9: no block barrier once one warp is left (Harris' fifth).
//!
//! Changed: once the elements are 32 apart, only the first warp works. Why: the last six rounds
//! need only one warp. The other seven waited at six barriers for nothing. Effect: 3 barriers
//! instead of 9.
//!
//! The well-known form, `s[t] += s[t + 32]; s[t] += s[t + 16]; …` without synchronisation, has been
//! **wrong** since Volta, because the lanes no longer run in lockstep. So each round has a warp
//! barrier between the loads and the stores, and one after the stores. The wrong form is one of the
//! broken kernels of the conformance tests.
//!
//! Launched: a thread for two elements; again for the sums of the blocks until one is left.

use super::r08_first_add::two_elements;
use super::{Summand, sums_of_block};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

/// Sums two elements for each thread of a block into the block's element of `partials`. Called like
/// [`interleaved`](super::r05_interleaved::interleaved); blocks have at least 64 threads.
#[device]
pub fn last_warp<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let (me, threads) =
        (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
    let at = me as usize;
    sums.write(at, two_elements(input));
    thread::sync_threads();
    let mut apart = threads / 2;
    while apart > WARP_SIZE {
        if me < apart {
            let other = sums.read(at + apart as usize);
            sums.write(at, sums.read(at).add(other));
        }
        thread::sync_threads();
        apart /= 2;
    }
    if me >= WARP_SIZE {
        return;
    }
    // All 32 lanes add, even if the result is not needed: that is cheaper than a condition.
    while apart > 0 {
        let value = sums.read(at).add(sums.read(at + apart as usize));
        sync_warp(FULL_MASK);
        sums.write(at, value);
        sync_warp(FULL_MASK);
        apart /= 2;
    }
    if me == 0 {
        partials.write(thread::block_index(), sums.read(0));
    }
}

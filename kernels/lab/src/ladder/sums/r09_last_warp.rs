//! Rung 9: no barrier of the block once one warp is left (the seed's fifth; Harris' fifth).
//!
//! Changed: from 32 apart on only the first warp goes on, by itself. Why: the last six rounds are its
//! own, and the other seven warps came to six barriers for nothing. Moves: the barriers, from 9 to 3.
//!
//! As the seed has it, `s[t] += s[t + 32]; s[t] += s[t + 16]; …` without any synchronisation, this is
//! **wrong** since Volta: lanes are not in step by themselves any more. A barrier of the warp stands
//! between the loads and the stores of each round, and after them. The seed's form is among the
//! broken kernels of the conformance tests.
//!
//! Launched: a thread for two elements; again over the sums of the blocks until one is left.
//! Reached on: an H200, 2026-11-21: 535.8 µs, 2004.1 GB/s of 2^28 f32.

use super::r08_first_add::two_elements;
use super::{Summand, sums_of_block};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

/// Sums two elements for each thread of a block to the block's element of `partials`. Called as
/// [`interleaved`](super::r05_interleaved::interleaved) is; blocks have 64 threads at least.
#[device]
pub fn last_warp<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let (me, threads) = (thread::index_in_block(), thread::threads_per_block());
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
    // All 32 lanes add, also those whose sums nobody needs any more: that is cheaper than asking.
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

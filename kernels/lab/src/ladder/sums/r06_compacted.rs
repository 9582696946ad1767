//! Rung 6: the same sums by the first threads (the seed's second; Harris' second).
//!
//! Changed: in each round the first threads do the work, whichever elements it is on. Why: the lanes
//! that add fill whole warps, and the other warps have nothing to do. Moves: the additions of a warp
//! for 256 elements, from 47 to 12. But now lane t works on word 2·apart·t: the lanes of a warp meet
//! at every second of the 32 banks, then at every fourth, up to eight at one, and wait for each
//! other. The 12 additions cost 105 more passes through shared memory.
//!
//! Launched: a thread for each element; again over the sums of the blocks until one is left.
//! Reached on: an H200, 2026-11-21: 1677.8 µs, 640.0 GB/s of 2^28 f32.

use super::{Summand, element, sums_of_block};
use cuda_std::prelude::*;

/// Sums the elements of each block's threads to the block's element of `partials`. Called as
/// [`interleaved`](super::r05_interleaved::interleaved) is.
#[device]
pub fn compacted<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let (me, threads) = (thread::index_in_block(), thread::threads_per_block());
    sums.write(me as usize, element(input, thread::index()));
    thread::sync_threads();
    let mut apart = 1;
    while apart < threads {
        let at = 2 * apart * me;
        if at < threads {
            let at = at as usize;
            let other = sums.read(at + apart as usize);
            sums.write(at, sums.read(at).add(other));
        }
        thread::sync_threads();
        apart *= 2;
    }
    if me == 0 {
        partials.write(thread::block_index(), sums.read(0));
    }
}

//! Rung 6: the first threads do the same additions (Harris' second).
//!
//! Changed: in each round the first threads do all additions. Why: the lanes that add fill whole
//! warps, and the other warps are idle. Effect: 12 additions of a warp for 256 elements, where rung
//! 5 has 47. But now lane t works on word 2·apart·t. So the lanes of a warp use only every second
//! of the 32 banks, then every fourth. Up to eight lanes need the same bank and wait for each
//! other. So the 12 additions cost 105 more passes through shared memory.
//!
//! Launched: a thread for each element; again for the sums of the blocks until one is left.

use super::{Summand, element, sums_of_block};
use cuda_std::prelude::*;

/// Sums the elements of each block's threads into the block's element of `partials`. Called like
/// [`interleaved`](super::r05_interleaved::interleaved).
#[device]
pub fn compacted<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let (me, threads) =
        (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
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

//! Rung 10: a sum for each warp, then one warp adds up these sums.
//!
//! Changed: every warp runs the rounds of rung 9 on its own 32 words. Then the first warp runs them
//! on the 8 sums. Why: a warp adds up only words that its own lanes stored, so it needs no block
//! barrier for that. Effect: 1 barrier instead of 3, but 43 additions of a warp instead of 12, and
//! 154 accesses of a warp to shared memory instead of 45.
//!
//! Launched: a thread for two elements; again for the sums of the blocks until one is left.

use super::r08_first_add::two_elements;
use super::{Summand, sums_of_block};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_index};

shared_array! {
    /// The sum of each warp.
    fn gridsync_ladder_warp_sums() -> [u32; 32];
}

/// Sums two elements for each thread of a block into the block's element of `partials`. Called like
/// [`interleaved`](super::r05_interleaved::interleaved); blocks have at least 32 threads.
#[device]
pub fn warps_first<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let warp_sums = gridsync_ladder_warp_sums().cast::<T>();
    let (warp, warps) = (warp_index(), thread::in_32_bits::threads_per_block() / WARP_SIZE);
    let own = sums.part((warp * WARP_SIZE) as usize, WARP_SIZE as usize);
    own.write(lane_id() as usize, two_elements(input));
    sync_warp(FULL_MASK);
    warp_sum(own, WARP_SIZE);
    if lane_id() == 0 {
        warp_sums.write(warp as usize, own.read(0));
    }
    thread::sync_threads();
    if warp != 0 {
        return;
    }
    warp_sum(warp_sums, warps);
    if lane_id() == 0 {
        partials.write(thread::block_index(), warp_sums.read(0));
    }
}

/// Sums the first `count` words of `sums` into the first word. `count` is a power of two up to 32.
/// Called by every lane of a warp; no other warp uses the words.
// In a round the lanes below `apart` store to words below `apart`, and load from words at `apart`
// or above. No lane loads a word that another lane stores in that round, so one warp barrier per
// round is enough.
#[device]
fn warp_sum<T: Summand>(sums: Shared<T>, count: u32) {
    let lane = lane_id();
    let at = lane as usize;
    let mut apart = count / 2;
    while apart > 0 {
        if lane < apart {
            let other = sums.read(at + apart as usize);
            sums.write(at, sums.read(at).add(other));
        }
        sync_warp(FULL_MASK);
        apart /= 2;
    }
}

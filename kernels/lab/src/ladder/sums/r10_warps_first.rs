//! Rung 10: each warp its own sum, then one warp over those (the seed's sixth).
//!
//! Changed: all warps do the rounds of rung 9, each on its own 32 words; then the first warp does
//! them on the 8 sums. Why: a warp needs no barrier of the block for what is its own. Moves: the
//! barriers, from 3 to 1; for 43 additions of a warp instead of 12, and 154 accesses of a warp to
//! shared memory instead of 45. The seed expects 15 to 20 % of
//! the time, and counts two barriers: the one after the loads is not needed either, since a warp
//! adds up only what its own lanes stored.
//!
//! Launched: a thread for two elements; again over the sums of the blocks until one is left.
//! Reached on: an H200, 2026-11-21: 602.8 µs, 1781.3 GB/s of 2^28 f32.

use super::r08_first_add::two_elements;
use super::{Summand, sums_of_block};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_index};

shared_array! {
    /// The sum of each warp.
    fn gridsync_ladder_warp_sums() -> [u32; 32];
}

/// Sums two elements for each thread of a block to the block's element of `partials`. Called as
/// [`interleaved`](super::r05_interleaved::interleaved) is; blocks have 32 threads at least.
#[device]
pub fn warps_first<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sums = sums_of_block::<T>();
    let warp_sums = gridsync_ladder_warp_sums().cast::<T>();
    let (warp, warps) = (warp_index(), thread::threads_per_block() / WARP_SIZE);
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

/// Sums the first `count` words of `sums`, a power of two up to 32, to its first. Called by every
/// lane of a warp; nobody else uses the words.
// In each round the lanes below `apart` store, and load from there on: no lane loads what another
// stores in the same round, so that one barrier of the warp a round is enough.
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

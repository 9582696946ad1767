//! The reduction of one value per thread of a block: warps first, then one warp over their results
//! (the last rung of the seed's ladder, row R18).

use super::Slots;
use crate::op::Operation;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{WARP_SIZE, lane_id, warp_index};

/// Warps of a block, at most.
const WARPS: usize = 32;

shared_array! {
    /// One accumulator per warp, of at most four words.
    fn gridsync_block_reduce() -> [u32; 4 * WARPS];
}

/// Combines one value per thread of the block, in the order of the threads.
///
/// Called by every thread of the block, whose size is a multiple of 32 threads. The threads of
/// warp 0 hold the result; the others hold that of their own warp. One barrier of the block inside,
/// none at the end: between two calls the block needs a barrier.
#[device]
pub fn reduce<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    let results = Slots::new(gridsync_block_reduce(), 4);
    let value = warp::reduce(op, value);
    let (warp, lane) = (warp_index() as usize, lane_id() as usize);
    if lane == 0 {
        results.write(warp, value);
    }
    thread::sync_threads();
    if warp != 0 {
        return value;
    }
    let warps = (thread::threads_per_block() / WARP_SIZE) as usize;
    let of_warp = if lane < warps { results.read(lane) } else { op.identity() };
    warp::reduce(op, of_warp)
}

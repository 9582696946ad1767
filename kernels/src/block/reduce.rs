//! The reduction of one value per thread of a block: within each warp first, then over the warps'
//! results.

use super::Slots;
use crate::op::Operation;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{WARP_SIZE, lane_id, warp_index};

/// The most warps of a block.
const WARPS: usize = 32;

shared_array! {
    /// One accumulator per warp, of at most four words.
    fn gridsync_block_reduce() -> [u32; 4 * WARPS];
}

/// Combines one value per thread of the block, in the order of the threads.
///
/// Called by every thread of the block. The block has a multiple of 32 threads. Warp 0 gets the
/// result, the other warps each get their own partial result. It has one block barrier inside and
/// none at the end, so the block needs a barrier between two calls.
#[device]
pub fn reduce<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    let results = Slots::<4>::new(gridsync_block_reduce());
    let value = warp::reduce(op, value);
    let (warp, lane) = (warp_index() as usize, lane_id() as usize);
    if lane == 0 {
        results.write(warp, value);
    }
    thread::sync_threads();
    if warp != 0 {
        return value;
    }
    let warps = (thread::in_32_bits::threads_per_block() / WARP_SIZE) as usize;
    let of_warp = if lane < warps { results.read(lane) } else { op.identity() };
    warp::reduce(op, of_warp)
}

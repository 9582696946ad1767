//! The reduction of one value per thread of a block: warps first, then one warp over their results
//! (the last rung of the seed's ladder, row R18).

use crate::op::Operation;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{WARP_SIZE, lane_id, warp_index};

shared_array! {
    /// One accumulator per warp: at most 32 warps, at most 8 bytes each.
    fn gridsync_block_reduce() -> [u64; 32];
}

/// Combines one value per thread of the block.
///
/// Called by every thread of the block, whose size is a multiple of 32 threads. The threads of
/// warp 0 hold the result; the others hold that of their own warp. One barrier of the block inside,
/// none at the end: between two calls the block needs a barrier.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn reduce<O: Operation>(value: O::Accumulator) -> O::Accumulator {
    let results = gridsync_block_reduce().cast::<O::Accumulator>();
    let value = warp::reduce::<O>(value);
    let (warp, lane) = (warp_index() as usize, lane_id() as usize);
    if lane == 0 {
        results.write(warp, value);
    }
    thread::sync_threads();
    if warp != 0 {
        return value;
    }
    let warps = (thread::threads_per_block() / WARP_SIZE) as usize;
    warp::reduce::<O>(if lane < warps {
        results.read(lane)
    } else {
        O::identity()
    })
}

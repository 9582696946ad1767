//! Scans of one value per thread of a block: each warp by itself, then every warp over the totals of all.

use super::Slots;
use crate::op::Operation;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{WARP_SIZE, lane_id, warp_index};

/// The most warps of a block.
const WARPS: usize = 32;

shared_array! {
    /// One accumulator per warp, of at most four words.
    fn gridsync_block_scan() -> [u32; 4 * WARPS];
}

/// What the values before one combine to, and what all combine to: the result of an exclusive scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix<A> {
    /// Of those before, in their order: the identity for the first. Combined with the own value it is
    /// the inclusive prefix.
    pub before: A,
    /// Of all, in their order.
    pub all: A,
}

/// The inclusive scan of one value per thread: thread i gets what threads 0 to i of the block combine to, in the
/// order of [`thread::index_in_block`]. The operation need not commute.
///
/// Called by every thread of the block, which has a multiple of 32 threads; each gets its own result. There is one
/// barrier of the block inside and none at the end, so the block needs a barrier between two scans. A floating-point
/// sum has at most eleven roundings.
#[device]
pub fn scan<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    let in_warp = warp::scan(op, value);
    op.combine(of_warps(op, in_warp).before, in_warp)
}

/// The exclusive scan of one value per thread: thread i gets what the threads before it combine to, and what all
/// threads of the block do. The first thread has the identity before it.
///
/// Called as [`scan`], with the same barrier inside and the same barrier needed between two calls.
#[device]
pub fn scan_exclusive<O: Operation>(op: O, value: O::Accumulator) -> Prefix<O::Accumulator> {
    let in_warp = warp::scan(op, value);
    let Prefix { before, all } = of_warps(op, in_warp);
    Prefix { before: op.combine(before, warp::before(op, in_warp)), all }
}

/// What the warps before this one combine to, and what all do. `in_warp` is the scan of this warp. It has the barrier.
#[device]
fn of_warps<O: Operation>(op: O, in_warp: O::Accumulator) -> Prefix<O::Accumulator> {
    let totals = Slots::new(gridsync_block_scan(), 4);
    let (warp, lane) = (warp_index(), lane_id());
    if lane == WARP_SIZE - 1 {
        totals.write(warp as usize, in_warp);
    }
    thread::sync_threads();
    // Every warp scans the totals: to wait for one that does takes a second barrier.
    let warps = (thread::in_32_bits::threads_per_block() / WARP_SIZE) as usize;
    let is_there = (lane as usize) < warps;
    let total = if is_there { totals.read(lane as usize) } else { op.identity() };
    let scanned = warp::scan(op, total);
    let before = if warp == 0 { op.identity() } else { warp::of_lane(scanned, warp - 1) };
    Prefix { before, all: warp::total(scanned) }
}

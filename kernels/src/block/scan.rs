//! Scans of one value per thread of a block: each warp separately, then every warp over the totals
//! of all.

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

/// The result of an exclusive scan: the combined values before this one, and all values combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix<A> {
    /// The values before this one, combined in order: the identity for the first. Combined with
    /// this value it is the inclusive prefix.
    pub before: A,
    /// All values, combined in order.
    pub all: A,
}

/// The inclusive scan of one value per thread: thread i gets the values of threads 0 to i of the
/// block combined, in the order of [`thread::index_in_block`]. The operation need not commute.
///
/// Called by every thread of the block, which has a multiple of 32 threads; each gets its own
/// result. It has one block barrier inside and none at the end, so the block needs a barrier
/// between two scans. A floating-point sum has at most eleven roundings.
#[device]
pub fn scan<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    let in_warp = warp::scan(op, value);
    op.combine(of_warps(op, in_warp).before, in_warp)
}

/// The exclusive scan of one value per thread: thread i gets the values of the threads before it
/// combined, and those of all threads of the block. The first thread gets the identity as `before`.
///
/// Called like [`scan`], with the same barrier inside and the same barrier needed between two
/// calls.
#[device]
pub fn scan_exclusive<O: Operation>(op: O, value: O::Accumulator) -> Prefix<O::Accumulator> {
    let in_warp = warp::scan(op, value);
    let Prefix { before, all } = of_warps(op, in_warp);
    Prefix { before: op.combine(before, warp::before(op, in_warp)), all }
}

/// The values of the warps before this one combined, and those of all. `in_warp` is the scan of
/// this warp. Contains the barrier.
#[device]
fn of_warps<O: Operation>(op: O, in_warp: O::Accumulator) -> Prefix<O::Accumulator> {
    let totals = Slots::<4>::new(gridsync_block_scan());
    let (warp, lane) = (warp_index(), lane_id());
    if lane == WARP_SIZE - 1 {
        totals.write(warp as usize, in_warp);
    }
    thread::sync_threads();
    // Every warp scans the totals: waiting for one warp to do it would need a second barrier.
    let warps = (thread::in_32_bits::threads_per_block() / WARP_SIZE) as usize;
    let is_there = (lane as usize) < warps;
    let total = if is_there { totals.read(lane as usize) } else { op.identity() };
    let scanned = warp::scan(op, total);
    let before = if warp == 0 { op.identity() } else { warp::of_lane(scanned, warp - 1) };
    Prefix { before, all: warp::total(scanned) }
}

//! The scan across the warps of a tile.

use super::MOST_WARPS;
use crate::block::{Slots, ThreadPosition};
use crate::op::{Operation, Segment};
use crate::warp::{self, Segmented};
use cuda_std::prelude::*;

shared_array! {
    /// The total of each warp of the tile, in at most four words each.
    fn gridsync_scan_warps() -> [u32; 4 * MOST_WARPS as usize];
}

/// The combined value of the warps before this one in the block, and that of all warps, from the
/// `total` of each. Called by all threads of the block. It contains a block barrier.
#[device]
pub(in crate::grid) fn across_warps<O: Operation>(
    op: O,
    total: O::Accumulator,
    at: ThreadPosition,
) -> (O::Accumulator, O::Accumulator) {
    let totals = Slots::<4>::new(gridsync_scan_warps());
    if at.lane == 0 {
        totals.write(at.warp as usize, total);
    }
    thread::sync_threads();
    let scanned = warp::scan(
        op,
        match at.lane {
            lane if lane < at.warps => totals.read(lane as usize),
            _ => op.identity(),
        },
    );
    let before = match at.warp {
        0 => op.identity(),
        warp => warp::of_lane(scanned, warp - 1),
    };
    (before, warp::total(scanned))
}

/// [`across_warps`] within segments: the same bits in fewer instructions.
#[device]
pub(in crate::grid) fn segmented_across_warps<O: Operation>(
    op: O,
    total: Segment<O::Accumulator>,
    at: ThreadPosition,
) -> (Segment<O::Accumulator>, Segment<O::Accumulator>) {
    let totals = Slots::<4>::new(gridsync_scan_warps());
    if at.lane == 0 {
        totals.write(at.warp as usize, total);
    }
    thread::sync_threads();
    let none = Segment { starts: false, value: op.identity() };
    let of_warp = if at.lane < at.warps { totals.read(at.lane as usize) } else { none };
    let scanned = Segmented::of(op, of_warp, at.lane);
    (scanned.before(op, at.warp), scanned.total())
}

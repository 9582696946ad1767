//! What lies before a tile: from the words that the tiles before it have sent.

use super::shape::{MOST_GROUP, MOST_WARPS};
use super::{ENDED, Place, STAMP, ScanOperation};
use crate::block::Slots;
use crate::grid::stamped::Stamped;
use crate::op::Carried;
use crate::warp;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

shared_array! {
    /// For each warp, what the tiles that it looked at combine to, in at most four halves each.
    fn gridsync_scan_looked() -> [u32; 4 * MOST_WARPS as usize];
    /// The same with this block's own tile, if it ends a group or the array.
    fn gridsync_scan_group() -> [u32; 4 * MOST_WARPS as usize];
    /// The base of the group.
    fn gridsync_scan_base() -> [u32; 4];
    /// How many blocks had ended.
    fn gridsync_scan_ended() -> [u32; 1];
}

/// Tiles of a group that a thread looks at, at most.
const LOOKS: u32 = MOST_GROUP / (MOST_WARPS * WARP_SIZE);

/// A tile among the others, and the words that they send each other.
#[derive(Clone, Copy)]
pub(in crate::grid) struct Tiles {
    pub(in crate::grid) tile: u32,
    /// How many there are, two at least.
    pub(in crate::grid) tiles: u32,
    /// How many of them are a group, a power of two, up to [`LOOKS`] for each thread.
    pub(in crate::grid) group: u32,
    /// The aggregate of tile t at place t, the base of group g at place `tiles` + g.
    pub(in crate::grid) values: Stamped,
}

impl Tiles {
    /// The number of the tile in its group.
    #[inline(always)]
    fn in_group(self) -> u32 {
        self.tile & (self.group - 1)
    }

    /// The number of its group.
    #[inline(always)]
    fn group_number(self) -> u32 {
        self.tile >> self.group.trailing_zeros()
    }

    /// Where the aggregate of tile `number` is, of a `T`.
    #[inline(always)]
    fn aggregate<T: Carried>(self, number: u32) -> usize {
        number as usize * T::HALVES
    }

    /// Where the base of group `number` is.
    #[inline(always)]
    fn base<T: Carried>(self, number: u32) -> usize {
        (self.tiles as usize + number as usize) * T::HALVES
    }

    #[inline(always)]
    pub(in crate::grid) fn is_last(self) -> bool {
        self.tile == self.tiles - 1
    }

    /// Whether a group follows for which this tile, as the last of its own, has to find the base.
    #[inline(always)]
    fn ends_a_group(self) -> bool {
        self.in_group() == self.group - 1 && !self.is_last()
    }
}

/// Sends the aggregate of the tile, if anybody looks for it. By all threads of the block, before they
/// wait for the [`prefix`].
#[device]
pub(in crate::grid) fn send<A: Carried>(tiles: Tiles, aggregate: A, at: Place) {
    if at.thread == 0 && !tiles.ends_a_group() && !tiles.is_last() {
        tiles
            .values
            .send(tiles.aggregate::<A>(tiles.tile), aggregate);
    }
    // Before its lanes wait: none waits ahead of the one that has yet to send.
    sync_warp(FULL_MASK);
}

/// Waits for what lies before the tile, whose aggregate has been [sent](send), where `start` lies before
/// the array: gives what that combines to; and the same with this tile, in the last one if it `leaves`
/// that, else anything. By all threads of the block, with a barrier of the block inside unless it is
/// tile 0.
#[device]
pub(in crate::grid) fn prefix<O: ScanOperation>(
    op: O,
    tiles: Tiles,
    aggregate: O::Accumulator,
    start: O::Accumulator,
    leaves: bool,
    at: Place,
) -> (O::Accumulator, O::Accumulator) {
    let (mine, values) = (tiles.in_group(), tiles.values);
    if tiles.tile == 0 {
        // There are more: it is not the last, and ends no group.
        return (start, op.identity());
    }

    // Some tiles of the group for each thread, side by side; of the last thread's last place, which no
    // tile has before it, looks at the base. All are looked at together.
    let each = tiles.group.div_ceil(at.threads);
    let is_for_base = |look| at.thread == at.threads - 1 && look == LOOKS as usize - 1;
    let group = tiles.group_number();
    let place = |look: usize| {
        let leaf = at.thread * each + look as u32;
        if is_for_base(look) {
            (group > 0).then(|| tiles.base::<O::Accumulator>(group))
        } else {
            ((look as u32) < each && leaf < mine)
                .then(|| tiles.aggregate::<O::Accumulator>(tiles.tile - mine + leaf))
        }
    };
    let came: [_; LOOKS as usize] = values.wait(place, op.identity());
    let base = Slots::new(gridsync_scan_base(), 4);
    if at.thread == at.threads - 1 {
        let came = came[LOOKS as usize - 1];
        base.write(0, if group == 0 { start } else { came });
    }
    let combined = |own: O::Accumulator| {
        let leaves: [_; LOOKS as usize] = Pack::from_fn(|look| {
            if (look as u32) < each && at.thread * each + look as u32 == mine {
                own
            } else if is_for_base(look) {
                op.identity()
            } else {
                came[look]
            }
        });
        leaves.fold(|a, b| op.combine(a, b))
    };

    let looked = Slots::new(gridsync_scan_looked(), 4);
    leave_total(op, looked, combined(op.identity()), at);
    let with_own = Slots::new(gridsync_scan_group(), 4);
    let finds_next = tiles.ends_a_group() || leaves && tiles.is_last();
    if finds_next {
        leave_total(op, with_own, combined(aggregate), at);
    }
    thread::sync_threads();
    let base = base.read(0);
    let mut next = op.identity();
    if finds_next {
        next = op.combine(base, total_of_warps(op, with_own, at));
        if at.thread == 0 && tiles.ends_a_group() {
            values.send(tiles.base::<O::Accumulator>(group + 1), next);
        }
    }
    (op.combine(base, total_of_warps(op, looked, at)), next)
}

/// Leaves in `totals` what this warp's values combine to. By all lanes of the warp.
#[device]
fn leave_total<O: ScanOperation>(op: O, totals: Slots, value: O::Accumulator, at: Place) {
    let total = warp::total(warp::scan(op, value));
    if at.lane == 0 {
        totals.write(at.warp as usize, total);
    }
}

/// What the totals of all warps combine to. By all lanes of a warp, which all have the result.
#[device]
fn total_of_warps<O: ScanOperation>(op: O, totals: Slots, at: Place) -> O::Accumulator {
    warp::total(warp::scan(
        op,
        match at.lane {
            lane if lane < at.warps => totals.read(lane as usize),
            _ => op.identity(),
        },
    ))
}

/// Leaves the stamp for the next launch. By all threads of the block, after [`prefix`].
///
/// The block of the last tile does it: what it has waited for came from all others, which had read
/// the old stamp before. Stamps begin anew after 2^32 − 1 launches, and what older ones left must go
/// first, when nobody looks any more: in that one launch blocks count when they end, and the last one
/// to end does it.
#[device]
pub(in crate::grid) fn leave_for_next(tiles: Tiles, state: Global<u32>, at: Place) {
    let Stamped { words, stamp, .. } = tiles.values;
    if stamp != u32::MAX {
        if tiles.is_last() && at.thread == 0 {
            state.store(STAMP, stamp, Ordering::Relaxed, Scope::Device);
        }
        return;
    }
    let ended = gridsync_scan_ended();
    // All looks of a block come before its count, and all counts before the zeros.
    thread::sync_threads();
    if at.thread == 0 {
        let before = state.fetch_inc(ENDED, tiles.tiles - 1, Ordering::AcqRel, Scope::Device);
        ended.write(0, before);
    }
    thread::sync_threads();
    if ended.read(0) != tiles.tiles - 1 {
        return;
    }
    let mut word = at.thread as usize;
    while word < words.len() {
        words.store(word, 0, Ordering::Relaxed, Scope::Device);
        word += at.threads as usize;
    }
    if at.thread == 0 {
        state.store(STAMP, 0, Ordering::Relaxed, Scope::Device);
    }
}

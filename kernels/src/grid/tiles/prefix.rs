//! The prefix of a tile, from the words that earlier tiles have sent.

use super::{ENDED, LOOKS, MOST_WARPS, STAMP, Tiles};
use crate::block::{Slots, ThreadPosition};
use crate::grid::stamped::{Readers, Stamped};
use crate::grid::workspace::{clear, is_last_stamp, leave_stamp};
use crate::op::{Carried, Operation};
use crate::warp;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp};

shared_array! {
    /// For each warp, the combined value of the tiles that it polled, in at most four words.
    fn gridsync_scan_looked() -> [u32; 4 * MOST_WARPS as usize];
    /// The same including this block's own tile, if it ends a group or the array.
    fn gridsync_scan_group() -> [u32; 4 * MOST_WARPS as usize];
    /// The base of the group.
    fn gridsync_scan_base() -> [u32; 4];
    /// The number of blocks that had ended before.
    fn gridsync_scan_ended() -> [u32; 1];
}

impl<R: Readers> Tiles<R> {
    /// Sends the aggregate of the tile, if any tile polls it. Called by all threads of the block,
    /// before [`prefix`](Self::prefix). Here and below the array has at least two tiles.
    #[device]
    pub(in crate::grid) fn send<A: Carried>(self, aggregate: A, at: ThreadPosition) {
        if R::sends(at.thread) && !self.ends_a_group() && !self.is_last() {
            self.values.send(self.aggregate::<A>(self.tile), aggregate);
        }
        // The warp reconverges here: no lane spins before lane 0 has sent.
        sync_warp(FULL_MASK);
    }

    /// Waits for the tile before this one, after [`send`](Self::send), and returns its aggregate:
    /// `None` in a tile that needs all before it, because it is the first or last of a group or of
    /// the array. Called by all lanes of a warp.
    #[device]
    pub(in crate::grid) fn previous<A: Carried>(self, otherwise: A) -> Option<A> {
        let mine = self.in_group();
        if mine == 0 || mine == self.group - 1 || self.is_last() {
            return None;
        }
        let [previous] = self.values.wait(|_| Some(self.aggregate::<A>(self.tile - 1)), otherwise);
        Some(previous)
    }

    /// Waits for the tiles before this one, after [`send`](Self::send), and returns their combined
    /// value, starting with `start`, the value before the array. Also returns this value with the
    /// tile included; it is valid only in the last tile and if `leaves` is set. Called by all
    /// threads of the block. It contains a block barrier unless it is tile 0.
    #[device]
    pub(in crate::grid) fn prefix<O: Operation>(
        self,
        op: O,
        aggregate: O::Accumulator,
        start: O::Accumulator,
        leaves: bool,
        at: ThreadPosition,
    ) -> (O::Accumulator, O::Accumulator) {
        let (mine, values) = (self.in_group(), self.values);
        if self.tile == 0 {
            // The array has at least two tiles, so tile 0 is not the last and ends no group.
            return (start, op.identity());
        }

        // Each thread polls adjacent tiles of the group. The last poll of the last thread is never
        // for a tile before this one, so it is used for the base. All loads are in flight together.
        let each = self.group.div_ceil(at.threads);
        let is_for_base = |look| at.thread == at.threads - 1 && look == LOOKS as usize - 1;
        let group = self.group_number();
        let place = |look: usize| {
            let leaf = at.thread * each + look as u32;
            if is_for_base(look) {
                (group > 0).then(|| self.base::<O::Accumulator>(group))
            } else {
                ((look as u32) < each && leaf < mine)
                    .then(|| self.aggregate::<O::Accumulator>(self.tile - mine + leaf))
            }
        };
        let came: [_; LOOKS as usize] = values.wait(place, op.identity());
        let base = Slots::<4>::new(gridsync_scan_base());
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

        let looked = Slots::<4>::new(gridsync_scan_looked());
        leave_total(op, looked, combined(op.identity()), at);
        let with_own = Slots::<4>::new(gridsync_scan_group());
        let ends_a_group = mine == self.group - 1 && !self.is_last();
        let finds_next = ends_a_group || leaves && self.is_last();
        if finds_next {
            leave_total(op, with_own, combined(aggregate), at);
        }
        thread::sync_threads();
        let base = base.read(0);
        let mut next = op.identity();
        if finds_next {
            next = op.combine(base, total_of_warps(op, with_own, at));
            if R::sends(at.thread) && ends_a_group {
                values.send(self.base::<O::Accumulator>(group + 1), next);
            }
        }
        (op.combine(base, total_of_warps(op, looked, at)), next)
    }
}

impl Tiles {
    /// Leaves the stamp in `state` for the next launch. Called by all threads of the block, after
    /// [`prefix`](Self::prefix).
    ///
    /// The block of the last tile stores it: it has waited for values of all other blocks, which
    /// had read the old stamp before they sent them. A launch with the last stamp also zeroes the
    /// words, when no block polls them any more: the block that ends last, determined by a count,
    /// does it.
    #[device]
    pub(in crate::grid) fn leave_for_next(self, state: Global<u32>, at: ThreadPosition) {
        let Stamped { words, stamp, .. } = self.values;
        if !is_last_stamp(stamp) {
            if self.is_last() && at.thread == 0 {
                leave_stamp(state, STAMP, stamp);
            }
            return;
        }
        let ended = gridsync_scan_ended();
        // All polls of a block come before its count, and all counts before the zeros.
        thread::sync_threads();
        if at.thread == 0 {
            let last = self.count - 1;
            let before = state.fetch_inc(ENDED, last, Ordering::AcqRel, Scope::Device);
            ended.write(0, before);
        }
        thread::sync_threads();
        if ended.read(0) != self.count - 1 {
            return;
        }
        clear(words, at.thread, at.threads);
        if at.thread == 0 {
            leave_stamp(state, STAMP, 0);
        }
    }
}

/// Stores the combined value of this warp in `totals`. Called by all lanes of the warp.
#[device]
fn leave_total<O: Operation>(op: O, totals: Slots, value: O::Accumulator, at: ThreadPosition) {
    let total = warp::total(warp::scan(op, value));
    if at.lane == 0 {
        totals.write(at.warp as usize, total);
    }
}

/// The combined value of all warps' totals. Called by all lanes of a warp; all get the result.
#[device]
fn total_of_warps<O: Operation>(op: O, totals: Slots, at: ThreadPosition) -> O::Accumulator {
    warp::total(warp::scan(
        op,
        match at.lane {
            lane if lane < at.warps => totals.read(lane as usize),
            _ => op.identity(),
        },
    ))
}

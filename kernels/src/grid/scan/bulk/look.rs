//! The warp that looks what the tiles before have sent, and finds the prefix of each tile.

use super::ring::{EMPTY, PREFIX, Turn, gridsync_scan_prefix};
use super::{BulkOperation, Scan};
use crate::grid::scan::{found, leave};
use crate::grid::stamped::Stamped;
use crate::grid::tiles::{MOST_GROUP, STAMP};
use crate::grid::workspace::{is_last_stamp, leave_stamp};
use crate::op::Carried;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

/// A **row** of tiles is as many as a warp has lanes, and a group as many rows.
const ROW: u32 = WARP_SIZE;
const _: () = assert!(MOST_GROUP == ROW * WARP_SIZE);

/// Rows that are looked at together. From one tile of a block to its next there are about four more, on
/// 132 multiprocessors: with as many looks, a tile that waits for one more waits for the L2 once again.
// Of words of 8 bytes an H200 took 2 % less with eight than with four, 2026-11-22.
const LOOKS: usize = warp::ROWS;

impl<T: Scalar + Carried> Scan<T> {
    /// Finds what lies before every tile of the block.
    #[device]
    pub(super) fn look<O: BulkOperation<T>>(self, op: O, lane: u32) {
        let mut before = Before {
            values: self.values,
            base: found(op, self.state, self.mode),
            rows: op.identity(),
            next: 0,
        };
        let mut number = 0;
        loop {
            let turn = Turn::of(number);
            let tile = turn.tile();
            if tile >= self.tiles {
                return;
            }
            let prefix = before.of(op, tile, lane);
            if lane == 0 {
                gridsync_scan_prefix().cast().write(turn.stage as usize, prefix);
                turn.arrive(PREFIX);
                if tile == self.tiles - 1 && !is_last_stamp(self.values.stamp) {
                    // What was waited for came from all other blocks that have tiles, which had
                    // read the old stamp before.
                    leave_stamp(self.state, STAMP, self.values.stamp);
                }
            }
            turn.arrive(EMPTY);
            sync_warp(FULL_MASK);
            if tile == self.tiles - 1 && self.mode.leaves {
                let all = before.of(op, self.tiles, lane);
                if lane == 0 {
                    leave(self.state, self.mode, all);
                }
            }
            number += 1;
        }
    }
}

/// What the looker knows of the tiles before those of its block, which come in order: it goes on where
/// it was.
struct Before<T> {
    values: Stamped,
    /// What lies before the group that it is in.
    base: T,
    /// In lane i what row i of the group combines to, as far as it has been looked at.
    rows: T,
    /// The first row of tiles of which it has not yet seen all, counted over all groups.
    next: u32,
}

impl<T: Scalar + Carried> Before<T> {
    /// Waits for the aggregates of the tiles before `tile`, looking at [`LOOKS`] rows at once, and gives
    /// what they combine to. By all lanes of a warp, which all have the result.
    #[device]
    fn of<O: BulkOperation<T>>(&mut self, op: O, tile: u32, lane: u32) -> T {
        let last = tile / ROW;
        loop {
            // Rows of one group, and not past that of the tile.
            let in_group = self.next % WARP_SIZE;
            let count = (last + 1 - self.next).min(WARP_SIZE - in_group).min(LOOKS as u32);
            let first = self.next * ROW + lane;
            let end = tile.min((self.next + count) * ROW);
            let place = |row: usize| {
                let tile = first + row as u32 * ROW;
                (tile < end).then_some(tile as usize * T::WORDS)
            };
            let aggregates: [T; LOOKS] = self.values.wait(place, op.identity());
            let mine = lane.wrapping_sub(in_group);
            let all = warp::of_lane(warp::reduce_rows(op, aggregates), mine % WARP_SIZE);
            if mine < count {
                self.rows = all;
            }
            self.next += count;
            if self.next > last {
                // The row of the tile is not whole yet.
                self.next = last;
                return self.up_to_here(op);
            }
            if self.next.is_multiple_of(WARP_SIZE) {
                (self.base, self.rows) = (self.up_to_here(op), op.identity());
            }
        }
    }

    /// What all that has been looked at combines to.
    #[device]
    fn up_to_here<O: BulkOperation<T>>(&self, op: O) -> T {
        op.combine(self.base, warp::reduce(op, self.rows))
    }
}

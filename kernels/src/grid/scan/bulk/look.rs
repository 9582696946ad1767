//! The looker: the warp that polls the words of earlier tiles, and computes the prefixes.

use super::ring::{EMPTY, PREFIX, Turn, gridsync_scan_prefix};
use super::{BulkOperation, Scan, Share};
use crate::grid::scan::{found, leave};
use crate::grid::stamped::{Readers, Stamped};
use crate::grid::tiles::{MOST_GROUP, STAMP};
use crate::grid::workspace::{is_last_stamp, leave_stamp};
use crate::op::Carried;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

/// A **row** of tiles has one tile per lane of a warp, and a group has as many rows.
const ROW: u32 = WARP_SIZE;
const _: () = assert!(MOST_GROUP == ROW * WARP_SIZE);

/// Rows that are polled together. Between two tiles of a block come about four rows, on 132
/// multiprocessors. With four polls, a tile that needs one row more waits for the L2 again.
// For words of 8 bytes, eight were 2 % faster than four on an H200, 2026-11-22.
const LOOKS: usize = warp::ROWS;

impl<T: Scalar + Carried, S: Share> Scan<T, S> {
    /// Computes the prefix of every tile of the block.
    #[device]
    pub(super) fn look<O: BulkOperation<T>>(self, op: O, lane: u32) {
        let mut before = Before {
            values: self.values,
            base: match S::IS_WHOLE {
                true => found(op, self.state, self.mode),
                false => op.identity(),
            },
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
            let prefix = before.of(op, self.share.number(tile), lane);
            if lane == 0 {
                gridsync_scan_prefix().cast().write(turn.stage as usize, prefix);
                turn.arrive(PREFIX);
                if S::IS_WHOLE && tile == self.tiles - 1 && !is_last_stamp(self.values.stamp) {
                    // The values that this warp waited for came from all other blocks with tiles,
                    // which had read the old stamp before.
                    leave_stamp(self.state, STAMP, self.values.stamp);
                }
            }
            turn.arrive(EMPTY);
            sync_warp(FULL_MASK);
            if S::IS_WHOLE && tile == self.tiles - 1 && self.mode.leaves {
                let all = before.of(op, self.tiles, lane);
                if lane == 0 {
                    leave(self.state, self.mode, all);
                }
            }
            number += 1;
        }
    }
}

/// The looker's state: the earlier tiles that it has combined. The tiles of its block come in
/// order, so it continues where it stopped.
struct Before<T, R> {
    values: Stamped<R>,
    /// The combined value before the current group.
    base: T,
    /// In lane i the combined value of row i of the group, as far as it has been loaded.
    rows: T,
    /// The first row that has not been loaded completely, counted over all groups.
    next: u32,
}

impl<T: Scalar + Carried, R: Readers> Before<T, R> {
    /// Waits for the aggregates of the tiles before `tile`, [`LOOKS`] rows at a time, and returns
    /// their combined value. Called by all lanes of a warp; all get the result.
    #[device]
    fn of<O: BulkOperation<T>>(&mut self, op: O, tile: u32, lane: u32) -> T {
        let last = tile / ROW;
        loop {
            // Rows of one group, up to the row of the tile.
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
                // The row of the tile is not complete yet.
                self.next = last;
                return self.up_to_here(op);
            }
            if self.next.is_multiple_of(WARP_SIZE) {
                (self.base, self.rows) = (self.up_to_here(op), op.identity());
            }
        }
    }

    /// The combined value of all tiles loaded so far.
    #[device]
    fn up_to_here<O: BulkOperation<T>>(&self, op: O) -> T {
        op.combine(self.base, warp::reduce(op, self.rows))
    }
}

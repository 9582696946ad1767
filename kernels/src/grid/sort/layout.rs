//! How the rows of a block follow each other.

use super::rows::{MOST_ROWS, Rows};
use crate::block::ThreadPosition;
use cuda_std::prelude::*;

/// The rows that a block sorts together. A place is an index in the keys of the block, or after them
/// that of padding.
pub(super) trait Layout: Copy {
    /// The index of the first key in the array, and the number of keys.
    fn keys(self) -> (usize, usize);

    /// Prepares what the other functions read. Called by all threads of the block, which it may let
    /// wait for each other.
    #[device]
    fn prepare(self, _at: ThreadPosition) {}

    /// Whether there may be several rows.
    fn are_several(self) -> bool;

    /// The number of the row at a place, up to [`MOST_ROWS`]. It does not decrease from place to
    /// place, but for padding and for keys that are not sorted: these have the largest.
    fn row(self, place: u32) -> u32;

    /// The index in the output of the key that has come to place `sorted`, from that in `places`, if
    /// it is kept.
    fn target(self, sorted: usize, places: Shared<u16>) -> Option<usize>;

    /// The index in its row of the key at a place.
    fn index(self, place: u32) -> u32;
}

/// Rows of equally many keys, or one row.
#[derive(Clone, Copy)]
pub(super) struct EqualRows {
    /// The index of the first key.
    first: usize,
    /// The number of keys.
    end: usize,
    /// The index of the first key in the output.
    first_kept: usize,
    /// Keys of a row, and of these the ones that are written.
    len: u32,
    kept: u32,
    /// 2^32 / len, rounded up. With it, the number of the row is exact: its error is below
    /// place / 2^32 < 2^−16, and a block with several rows has fewer than 2^16 places. 0 if a block
    /// has only one row.
    inverse: u32,
}

impl EqualRows {
    /// Those of this block in a matrix, or the listed segment.
    #[inline(always)]
    pub(super) fn of_block(rows: Rows) -> Self {
        let block = thread::block_idx_x() as usize;
        if rows.are_segments() {
            let (first, end) = rows.segments.keys(rows.segments.starts.read(block));
            let len = end as u32;
            return Self { first, end, first_kept: first, len, kept: len, inverse: 0 };
        }
        let Rows { len, kept, each, .. } = rows;
        let first_row = block as u64 * u64::from(each);
        let count = (rows.count - first_row).min(each.into()) as usize;
        Self {
            first: first_row as usize * len as usize,
            end: count * len as usize,
            first_kept: first_row as usize * kept as usize,
            len,
            kept,
            inverse: if each == 1 { 0 } else { u32::MAX / len + 1 },
        }
    }

    /// The number of the row at a place.
    #[inline(always)]
    fn number(self, place: u32) -> u32 {
        ((u64::from(place) * u64::from(self.inverse)) >> 32) as u32
    }
}

impl Layout for EqualRows {
    #[inline(always)]
    fn keys(self) -> (usize, usize) {
        (self.first, self.end)
    }

    #[inline(always)]
    fn are_several(self) -> bool {
        self.inverse != 0
    }

    #[inline(always)]
    fn row(self, place: u32) -> u32 {
        self.number(place).min(MOST_ROWS)
    }

    #[inline(always)]
    fn target(self, sorted: usize, _places: Shared<u16>) -> Option<usize> {
        // The rows are in order, so it is where a key of this row was.
        let row = self.number(sorted as u32);
        let index = sorted as u32 - row * self.len;
        let is_kept = sorted < self.end && index < self.kept;
        is_kept.then_some(self.first_kept + (row * self.kept + index) as usize)
    }

    #[inline(always)]
    fn index(self, place: u32) -> u32 {
        place - self.number(place) * self.len
    }
}

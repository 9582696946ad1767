//! The strip of a warp: its rows of a tile.

use crate::block::ThreadPosition;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// A warp's consecutive rows of a tile. A lane has one pack in each row.
#[derive(Clone, Copy)]
pub(in crate::grid) struct Strip {
    /// The first element of the strip.
    pub(in crate::grid) start: usize,
    /// The first element of the lane's pack in the first row.
    first: usize,
    pub(in crate::grid) rows: usize,
    /// The number of elements in a row.
    row: usize,
}

impl Strip {
    /// The strip of `rows` rows that this thread's warp processes in `tile`, in an array of `T`.
    #[device]
    pub(in crate::grid) fn new<T: Scalar>(tile: u32, rows: u32, at: ThreadPosition) -> Self {
        let number = tile as usize * at.warps as usize + at.warp as usize;
        let row = WARP_SIZE as usize * T::PACK;
        let start = number * rows as usize * row;
        Self { start, first: start + at.lane as usize * T::PACK, rows: rows as usize, row }
    }

    /// The first element of the lane's pack in `row`.
    #[device]
    pub(in crate::grid) fn pack(self, row: usize) -> usize {
        self.first + row * self.row
    }

    /// Whether an array of `len` elements contains the whole strip.
    #[device]
    pub(in crate::grid) fn is_whole(self, len: usize) -> bool {
        self.start + self.rows * self.row <= len
    }
}

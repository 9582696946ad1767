//! The rows that warps and blocks sort on their own.

use crate::block::ranks::DIGITS;
use cuda_std::prelude::*;

/// The most rows of a block: their numbers are one digit, and the last is of padding.
pub const MOST_ROWS: u32 = DIGITS as u32 - 1;

/// Keys of a window of [`Segments`].
pub const WINDOW: usize = 1024;

/// Rows that blocks sort, each row separately: those of a matrix, or segments of an array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The number of rows; of segments, the number of windows, or of those that are listed.
    pub count: u64,
    /// Keys of a row; of segments in windows, of the longest one that is sorted.
    pub len: u32,
    /// Of segments in windows, the keys of the shortest one that is sorted.
    pub shortest: u32,
    /// Keys of a row that are written: the first ones in the order. Of segments all are.
    pub kept: u32,
    /// Rows of a block: one, or up to [`MOST_ROWS`] that fit together. Of segments, the windows of a
    /// block; of listed ones, 1.
    pub each: u32,
    /// Whether the payload of the input is the index of the key in its row.
    pub are_indices: u32,
    /// The segments, if these are sorted.
    pub segments: Segments,
}

// SAFETY: `repr(C)` of numbers and views.
unsafe impl cuda_std::launch::KernelArg for Rows {}

/// Segments of an array, which follow each other.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// The index of the first key of each, and at last the number of keys. Empty if the rows are those
    /// of a matrix.
    pub offsets: Global<u64>,
    /// For each window of [`WINDOW`] keys the first segment that starts in it or later, and at last
    /// the number of segments. Or the segments that are sorted, if they are listed.
    pub starts: Global<u32>,
}

impl Segments {
    /// The index of the first key of a segment, or after the last one the number of keys.
    #[inline(always)]
    pub(super) fn first_key(self, segment: u32) -> usize {
        self.offsets.read(segment as usize) as usize
    }

    /// The index of the first key of a segment, and the number of its keys.
    #[inline(always)]
    pub(super) fn keys(self, segment: u32) -> (usize, usize) {
        let first = self.first_key(segment);
        (first, self.first_key(segment + 1) - first)
    }

    /// The first segment of `windows` windows from window `first` on, and the first after them.
    #[inline(always)]
    pub(super) fn of_windows(self, first: usize, windows: usize) -> (u32, u32) {
        let end = (first + windows).min(self.starts.len() - 1);
        (self.starts.read(first), self.starts.read(end))
    }
}

impl Rows {
    /// Whether they are segments.
    #[inline(always)]
    pub(super) fn are_segments(self) -> bool {
        !self.segments.offsets.is_empty()
    }
}

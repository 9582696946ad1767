//! The segments of an array that one block sorts together: those that start in its windows.

use super::one_block::{EACH, one_block_most_threads};
use super::rows::{MOST_ROWS, Rows, WINDOW};
use crate::block::ThreadPosition;
use crate::block::ranks::{DIGITS, gridsync_sort_starts};
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_ballot};

/// Threads of a block that sorts segments in windows, for keys of `word` bytes. `is_90` says that the
/// kernel's image is for compute capability 9.0.
#[must_use]
pub const fn windows_threads(word: usize, is_90: bool) -> u32 {
    // Elsewhere more would not fit in 48 KiB.
    if word == 8 && !is_90 { 128 } else { one_block_most_threads(word, is_90) }
}

/// The most keys of a segment that such a block of so many threads sorts: a third of its places, in
/// windows.
#[must_use]
pub const fn longest_in_windows(threads: u32) -> usize {
    let windows = threads as usize * EACH / (3 * WINDOW);
    (if windows > 0 { windows } else { 1 }) * WINDOW
}

/// Windows of such a block, if it sorts segments of `shortest` to `longest` keys, which are more than
/// 32 and at most [`longest_in_windows`].
#[must_use]
pub const fn windows_of_block(threads: u32, shortest: usize, longest: usize) -> u32 {
    // The last segment may end after the windows.
    let by_places = (threads as usize * EACH + 1 - longest) / WINDOW;
    // The number of the last place is less than that of padding.
    let by_numbers = MOST_ROWS as usize * shortest / WINDOW;
    (if by_places < by_numbers { by_places } else { by_numbers }) as u32
}

shared_array! {
    /// For each number, the place at which its segment starts.
    fn gridsync_sort_segments() -> [u32; DIGITS];
}

/// For each place of a block, the number of its segment. Numbers are in the order of segments. It
/// is [`MOST_ROWS`] where no segment is sorted.
#[derive(Clone, Copy)]
pub(super) struct Numbers(pub(super) Shared<u8>);

impl Numbers {
    /// Numbers the segments of a block whose place 0 has the key with index `first`. Called by all
    /// threads of the block; contains a block barrier, and needs one before they are read.
    #[device]
    pub(super) fn fill(self, rows: Rows, block: usize, first: usize, at: ThreadPosition) {
        let threads = thread::block_dim_x();
        let words = self.0.cast::<u32>();
        let mut word = 4 * at.thread as usize;
        while word < words.len() {
            words.write_pack(word, [u32::MAX; 4], CacheHint::Default);
            word += 4 * threads as usize;
        }
        thread::sync_threads();
        let windows = rows.each as usize;
        let (start, end) = rows.segments.of_windows(block * windows, windows);
        let mut of_warp = start + at.warp * WARP_SIZE;
        while of_warp < end {
            let segment = of_warp + at.lane;
            let (start, len) = if segment < end { rows.segments.keys(segment) } else { (0, 0) };
            let is_here = len >= rows.shortest as usize && len <= rows.len as usize;
            let place = if is_here { (start - first) as u32 } else { 0 };
            // Segments have at least as many keys, so no two have the same number.
            let number = place / rows.shortest;
            if is_here {
                gridsync_sort_segments().write(number as usize, place);
            }
            // The warp fills one after another.
            let mut lanes = warp_vote_ballot(FULL_MASK, is_here);
            while lanes != 0 {
                let lane = lanes.trailing_zeros();
                let place = warp::of_lane(place, lane);
                let number = place / rows.shortest;
                let len = warp::of_lane(len as u32, lane);
                let mut index = at.lane;
                while index < len {
                    self.0.write((place + index) as usize, number as u8);
                    index += WARP_SIZE;
                }
                lanes &= lanes - 1;
            }
            of_warp += threads;
        }
    }

    /// The number of the segment at a place.
    #[inline(always)]
    pub(super) fn of(self, place: u32) -> u32 {
        self.0.read(place as usize).into()
    }

    /// The place of the output for the key at place `sorted` of all keys that have been sorted, the
    /// segments in order. It is of the segment with this number.
    #[inline(always)]
    pub(super) fn place(number: u32, sorted: usize) -> usize {
        // The last digit was the number.
        let index = sorted as u32 - gridsync_sort_starts().read(number as usize);
        (gridsync_sort_segments().read(number as usize) + index) as usize
    }

    /// The index in its segment, with this number, of the key that was at a place.
    #[inline(always)]
    pub(super) fn index(number: u32, place: u32) -> u32 {
        place - gridsync_sort_segments().read(number as usize)
    }
}

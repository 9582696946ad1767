//! The segments of an array that one block sorts together: those that start in its windows.

use super::layout::Layout;
use super::one_block::{EACH, Parts, one_block_most_threads, sort_block};
use super::order::Order;
use super::payload::Payload;
use super::rows::{MOST_ROWS, Rows, WINDOW};
use crate::block::ThreadPosition;
use crate::block::ranks::{DIGITS, gridsync_sort_starts};
use crate::grid::overlap;
use cuda_std::prelude::*;

/// The most keys of a segment that is sorted in windows.
// Longer ones would leave more places of the block unused than a block for each of them.
pub const LONGEST_IN_WINDOWS: usize = WINDOW;

/// The most threads of a block that sorts segments in windows, for keys of `word` bytes. `is_90` says
/// that the kernel's image is for compute capability 9.0.
#[must_use]
pub const fn windows_threads(word: usize, is_90: bool) -> u32 {
    // Two blocks of a multiprocessor, so that one works while the other waits. µs for 2^28 f32 in
    // segments of 1000 on an H200, 2026-11-27: 5714 with 256 threads, 5720 with 384, 6838 with 512,
    // 6518 with 640, 6055 with 768.
    if is_90 {
        one_block_most_threads(word, is_90) / 2
    } else if word == 8 {
        // More would not fit in 48 KiB.
        128
    } else {
        one_block_most_threads(word, is_90)
    }
}

/// The most windows of a block of so many threads, if it sorts segments of `shortest` to `longest`
/// keys, which are more than 32 and at most [`LONGEST_IN_WINDOWS`].
#[must_use]
pub const fn windows_of_block(threads: u32, shortest: usize, longest: usize) -> u32 {
    // The last segment may end after the windows.
    let by_places = (threads as usize * EACH + 1 - longest) / WINDOW;
    // The number of the last place is less than that of padding.
    let by_numbers = MOST_ROWS as usize * shortest / WINDOW;
    (if by_places < by_numbers { by_places } else { by_numbers }) as u32
}

/// Writes the keys of segments in order, each separately. Equal keys keep their order.
///
/// Called by every thread of a grid along x of blocks of [`windows_threads`] or fewer, as
/// [`one_block_threads`](super::one_block_threads) counts them, with
/// [`one_block_shared_bytes`](super::one_block_shared_bytes) of dynamic shared memory. There is one
/// block for each `rows.each` windows, at most [`windows_of_block`]. It sorts the segments that start
/// there and have from `rows.shortest` to `rows.len` keys. Arrays are those of
/// [`sort_in_one_block`](super::sort_in_one_block()).
///
/// It is separate from the sort of rows because that takes 2 to 15 % longer if one kernel does both
/// (H200, 2026-11-27).
#[device(protocol = "the sort")]
pub fn sort_in_windows<O: Order, P: Payload>(
    order: O,
    keys: [Global<O::Word>; 2],
    payloads: [Global<P::Word>; 2],
    rows: Rows,
) {
    overlap::begin();
    if let Some(numbers) = Numbers::of_block(rows, Parts::<O::Word>::here().numbers) {
        sort_block::<_, P>(order, keys, payloads, rows.are_indices != 0, numbers);
    }
}

shared_array! {
    /// For each number, the place at which its segment starts.
    fn gridsync_sort_segments() -> [u32; DIGITS];
}

/// For each place of a block, the number of its segment. Numbers are in the order of segments. It
/// is [`MOST_ROWS`] where no segment is sorted.
#[derive(Clone, Copy)]
struct Numbers {
    of_place: Shared<u8>,
    rows: Rows,
    /// The first segment, and the first after them.
    start: u32,
    end: u32,
    /// The index of the first key, and the number of keys.
    first: usize,
    len: usize,
}

impl Numbers {
    /// The segments that start in the windows of this block, if there are any.
    #[inline(always)]
    fn of_block(rows: Rows, of_place: Shared<u8>) -> Option<Self> {
        let (block, windows) = (thread::block_idx_x() as usize, rows.each as usize);
        let (start, end) = rows.segments.of_windows(block * windows, windows);
        if start == end {
            return None;
        }
        let [first, end_key] = [start, end].map(|at| rows.segments.first_key(at));
        // No segment that is sorted here ends later.
        let len = (end_key - first).min(of_place.len());
        Some(Self { of_place, rows, start, end, first, len })
    }

    /// The number of a segment with this key. Where its first key is, it is recorded.
    #[device]
    fn enter(self, segment: u32, key: usize) -> u32 {
        let rows = self.rows;
        let (first, len) = rows.segments.keys(segment);
        if len < rows.shortest as usize || len > rows.len as usize {
            return MOST_ROWS;
        }
        let place = (first - self.first) as u32;
        // Segments have at least as many keys, so no two have the same number.
        let number = place / rows.shortest;
        if first == key {
            gridsync_sort_segments().write(number as usize, place);
        }
        number
    }
}

impl Layout for Numbers {
    #[inline(always)]
    fn keys(self) -> (usize, usize) {
        (self.first, self.len)
    }

    #[device]
    fn prepare(self, at: ThreadPosition) {
        // Each thread numbers as many places as it has keys.
        let first_place = at.thread as usize * EACH;
        let first_key = self.first + first_place;
        // The last segment that starts here or before; those that have no keys are passed over.
        let (mut segment, mut after) = (self.start, self.end);
        while after - segment > 1 {
            let middle = segment.midpoint(after);
            if self.rows.segments.first_key(middle) <= first_key {
                segment = middle;
            } else {
                after = middle;
            }
        }
        let mut number = MOST_ROWS;
        // Where the next segment starts.
        let mut until = first_key;
        let of_place = self.of_place.cast::<u32>();
        for word in 0..EACH / 4 {
            let mut numbers = 0;
            for byte in 0..4 {
                let key = first_key + word * 4 + byte;
                while key >= until && segment < self.end {
                    number = self.enter(segment, key);
                    segment += 1;
                    until = self.rows.segments.first_key(segment);
                }
                let number = if key < until { number } else { MOST_ROWS };
                numbers |= number << (8 * byte);
            }
            of_place.write(first_place / 4 + word, numbers);
        }
        thread::sync_threads();
    }

    #[inline(always)]
    fn are_several(self) -> bool {
        true
    }

    #[inline(always)]
    fn row(self, place: u32) -> u32 {
        self.of_place.read(place as usize).into()
    }

    #[inline(always)]
    fn target(self, sorted: usize, places: Shared<u16>) -> Option<usize> {
        let number = self.row(places.read(sorted).into());
        // The last digit was the number.
        (number != MOST_ROWS).then(|| {
            let index = sorted as u32 - gridsync_sort_starts().read(number as usize);
            self.first + (gridsync_sort_segments().read(number as usize) + index) as usize
        })
    }

    #[inline(always)]
    fn index(self, place: u32) -> u32 {
        place - gridsync_sort_segments().read(self.row(place) as usize)
    }
}

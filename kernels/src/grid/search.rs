//! Searches for many values in a sorted array.

use super::overlap::begin;
use super::sort::Order;
use core::array::from_fn;
use cuda_std::memory::{Pack, dynamic_shared};
use cuda_std::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 1024;

/// Blocks that a multiprocessor runs at once.
pub const BLOCKS: u32 = 1;

/// Values that a thread searches for at once, to have as many loads in flight. Other numbers have not
/// been measured.
const EACH: usize = 4;

/// How far a search is in shared memory: the number of its first comparisons.
///
/// A load of 32 lanes from 32 places takes as many turns in the L1 cache, and about four in shared
/// memory. So a block first copies 2^levels − 1 keys there, which are equally far apart. They are in
/// the order of a search, level by level: this way those that lanes compare with next are in
/// different banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Their number: 0 to 14, and to 13 for keys of 64 bits.
    pub count: u32,
}

impl Levels {
    /// The most bytes of shared memory. With half of it in each of two blocks, searches among 2^24
    /// keys of 32 bits take 7 % longer (an H200, 2026-11-29).
    const BYTES: usize = 64 << 10;

    /// The levels for `len` sorted keys of `word` bytes, where a block may have `room` bytes of
    /// shared memory.
    #[must_use]
    pub fn of(len: usize, word: usize, room: usize) -> Self {
        let all = usize::BITS - len.leading_zeros();
        Self { count: all.min((Self::BYTES.min(room) / word).ilog2()) }
    }

    /// Bytes of dynamic shared memory of a block, for keys of `word` bytes.
    #[must_use]
    pub const fn shared_bytes(self, word: usize) -> u32 {
        (word << self.count) as u32
    }

    /// The length of a segment: a key in shared memory, and the keys between it and the one before.
    const fn segment(self, len: usize) -> usize {
        (len >> self.count) + 1
    }

    /// The number of keys in shared memory that are not after the one at `place`, which is 1 or more.
    const fn rank(self, place: u32) -> usize {
        let level = place.ilog2();
        let in_level = place - (1 << level);
        ((2 * in_level + 1) << (self.count - 1 - level)) as usize
    }
}

/// Sets each element of `indices` to the number of keys in `sorted` that come before the element of
/// `values` with the same index: the first index where that could be inserted. If `is_right` is not
/// 0, keys with the same number come before it too, which makes it the last such index.
///
/// Called by every thread of a grid along x, with [`Levels::shared_bytes`] of dynamic shared memory.
/// `sorted` is in the `order`, and `levels` are for its length. `values` is as long as `indices`,
/// which overlaps neither. Each value is compared with log₂ of the number of keys, and the same
/// number of comparisons is made for all. Needs no co-residency. It contains a block barrier. The
/// launch may [overlap](cuda_std::dependent) the kernel before it.
#[device]
pub fn search<O: Order>(
    order: O,
    sorted: Global<O::Word>,
    values: Global<O::Word>,
    indices: Global<u64>,
    is_right: u32,
    levels: Levels,
) {
    begin();
    let (is_right, stride) = (is_right != 0, thread::thread_count());
    let is_before =
        |number: O::Word, wanted: O::Word| (number < wanted) | (is_right & (number == wanted));
    let (len, segment) = (sorted.len(), levels.segment(sorted.len()));
    let shared = dynamic_shared::<O::Word>();
    let mut place = thread::thread_idx_x() + 1;
    while place < 1 << levels.count {
        // Ranks past the last key have its number, so that the search ends after it.
        let at = (levels.rank(place) * segment).min(len) - 1;
        shared.write(place as usize, order.number(sorted.read(at)));
        place += thread::block_dim_x();
    }
    thread::sync_threads();
    let mut first = thread::index();
    while first < values.len() {
        let at = |i: usize| first + i * stride;
        // A search that is past the end repeats the first one.
        let number = |i: usize| if at(i) < values.len() { at(i) } else { first };
        let wanted: [O::Word; EACH] = Pack::from_fn(|i| order.number(values.read(number(i))));
        let mut places = [1u32; EACH];
        for _ in 0..levels.count {
            places = Pack::from_fn(|i| {
                let number = shared.read(places[i] as usize);
                2 * places[i] + u32::from(is_before(number, wanted[i]))
            });
        }
        // The last segment may end after the last key, so all keys of an earlier one are searched.
        let starts: [usize; EACH] = Pack::from_fn(|i| {
            let rank = (places[i] - (1 << levels.count)) as usize;
            (rank * segment).min(len + 1 - segment)
        });
        let keys: [Global<O::Word>; EACH] = from_fn(|i| sorted.part(starts[i], segment - 1));
        // Segments are shorter than 2^32, because memory is smaller than 2^44 keys.
        let mut before = [0u32; EACH];
        let mut left = (segment - 1) as u32;
        while left > 0 {
            let half = left.div_ceil(2);
            let loaded: [O::Word; EACH] =
                Pack::from_fn(|i| keys[i].read((before[i] + half - 1) as usize));
            before = Pack::from_fn(|i| {
                let is_before = is_before(order.number(loaded[i]), wanted[i]);
                before[i] + if is_before { half } else { 0 }
            });
            left -= half;
        }
        before.for_each(|i, before| {
            if at(i) < values.len() {
                indices.write(at(i), (starts[i] + before as usize) as u64);
            }
        });
        first += EACH * stride;
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_a_search_tree() {
        let levels = Levels { count: 3 };
        let ranks: Vec<_> = (1..8).map(|place| levels.rank(place)).collect();
        assert_eq!(ranks, [4, 2, 6, 1, 3, 5, 7]);
    }

    #[test]
    fn all_keys_are_in_segments_or_between_them() {
        for len in [0, 1, 2, 8191, 8192, 8193, 1 << 20] {
            let levels = Levels::of(len, 8, 1 << 20);
            assert!(levels.segment(len) << levels.count > len, "{len}");
        }
        let of = |len, word| Levels::of(len, word, 1 << 20);
        assert_eq!(of(1000, 8), Levels { count: 10 });
        assert_eq!(of(1 << 20, 4), Levels { count: 14 });
        assert_eq!(of(8191, 8).segment(8191), 1);
        assert_eq!(of(8192, 8).segment(8192), 2);
        assert_eq!(Levels::of(8192, 8, 48 << 10), Levels { count: 12 });
    }
}

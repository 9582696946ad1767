//! Finds the keys of two runs in device memory that a block merges.

use super::Key;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_ballot};

/// Two adjacent sorted runs in device memory. The right one may be short or missing; if it is
/// missing, the left one may be short.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<K: Key> {
    keys: Global<K>,
    pub(super) start: usize,
    middle: usize,
    end: usize,
}

impl<K: Key> Neighbours<K> {
    /// The runs of `run` keys each, starting at key `start`.
    #[inline(always)]
    pub(super) fn at(keys: Global<K>, start: usize, run: usize) -> Self {
        let len = keys.len();
        Self { keys, start, middle: (start + run).min(len), end: (start + 2 * run).min(len) }
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }

    #[inline(always)]
    pub(super) fn left_len(self) -> usize {
        self.middle - self.start
    }

    #[device]
    pub(super) fn left(self, i: usize) -> K {
        self.keys.read(self.start + i)
    }

    #[device]
    pub(super) fn right(self, i: usize) -> K {
        self.keys.read(self.middle + i)
    }
}

/// The number of keys from the left run among the first `count` keys of the merged runs. Called by
/// all lanes of a warp; all get the result.
///
/// Each step tests 32 positions at once and leaves less than 1/32 of them: four steps for runs of
/// 2^20 keys, where halving would wait for memory twenty times.
#[device]
pub(super) fn split_by_warp<K: Key>(pair: Neighbours<K>, count: usize, lane: u32) -> usize {
    let mut low = count.saturating_sub(pair.end - pair.middle);
    let mut high = count.min(pair.left_len());
    while low < high {
        let step = (high - low).div_ceil(WARP_SIZE as usize);
        let at = low + (lane as usize + 1) * step - 1;
        // True up to some lane, and false in all later ones.
        let comes_first = at < high && pair.left(at) <= pair.right(count - 1 - at);
        let first = warp_vote_ballot(FULL_MASK, comes_first).count_ones() as usize;
        low += first * step;
        high = high.min(low + step - 1);
    }
    low
}

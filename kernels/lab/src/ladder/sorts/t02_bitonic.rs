//! Rung 2: the whole grid sorts by Batcher's bitonic network, with a launch for each step (Batcher,
//! "Sorting Networks and Their Applications", 1968).
//!
//! Changed: sorted runs of 2, 4, 8 … keys are merged in pairs. The first step of a merge compares
//! the first key of one run with the last of the other, the second with the last but one, and so on.
//! The next steps compare keys that are a half, a quarter, an eighth … of a run apart. Why: log n
//! steps merge all runs of one size, and after log n merges the array is sorted. In each step all
//! n / 2 pairs are compared at once, by blocks on the whole GPU. Effect: log₂² n / 2 steps instead
//! of n. But only the end of a launch orders all blocks, so each step is a launch that reads and
//! writes the whole array.
//!
//! The two keys of a pair have indices that differ in the bits of a mask. In the first step of a
//! merge to runs of s keys the mask is s − 1, in the others a single bit. The lesser key is always
//! written to the lower index. So a length that is not a power of two needs no padding: an element
//! after the end counts as the greatest key, which would not move.
//!
//! Words moved: 2n for each of log₂ n · (log₂ n + 1) / 2 steps. Work: half as many comparisons.
//!
//! Launched: a thread for each pair, for each step.

use super::t01_odd_even::exchange;
use cuda_std::prelude::*;

/// One step: writes the keys of `from` to `to`, and exchanges those that are in the wrong order.
///
/// Called by every thread of the grid, which has a thread for each pair. `to` may be `from`.
#[device]
pub fn step(from: Global<u32>, to: Global<u32>, mask: u32) {
    let [low, high] = pair(thread::index(), mask as usize);
    if high < from.len() {
        exchange(from, to, low, high);
    } else if low < from.len() {
        to.write(low, from.read(low));
    }
}

/// The indices of a pair: the lower one lacks the highest bit of `mask`, the other differs in all
/// bits of it.
#[inline(always)]
pub(super) fn pair(number: usize, mask: usize) -> [usize; 2] {
    // `ilog2` would check that the mask is not 0.
    let highest = 1 << (usize::BITS - 1 - mask.leading_zeros());
    let below = number % highest;
    let low = 2 * (number - below) + below;
    [low, low ^ mask]
}

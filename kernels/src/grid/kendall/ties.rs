//! Counts ties, where equal values are adjacent.

use super::{TIES_BOTH, TIES_X, TIES_Y, count};
use cuda_std::prelude::*;

/// Counts the pairs of sorted `keys` that are equal in the upper half, and those equal in all bits.
///
/// Called by every thread of a grid along x with at least one thread per key, in blocks of a
/// multiple of 32 threads. It contains block barriers.
#[device]
pub fn ties_of_keys(keys: Global<u64>, counts: Global<u64>) {
    let at = thread::index();
    count(counts, TIES_X, pairs(keys.len(), at, |i| keys.read(i) >> 32));
    thread::sync_threads();
    count(counts, TIES_BOTH, pairs(keys.len(), at, |i| keys.read(i)));
}

/// Counts the equal pairs of the sorted ranks of y. Called like [`ties_of_keys`].
#[device]
pub fn ties_of_ranks(ranks: Global<u32>, counts: Global<u64>) {
    let part = pairs(ranks.len(), thread::index(), |i| ranks.read(i));
    count(counts, TIES_Y, part);
}

/// The number of pairs in the run of equal values that ends at `last`: t·(t − 1)/2 for t of them,
/// or 0 if no run ends there. `at(i)` is value i of `len` sorted values.
///
/// The search for the start of the run doubles its steps and then halves them: two reads for a run
/// of two, and 2·log₂ t for a long run.
#[device]
fn pairs<T: Eq>(len: usize, last: usize, at: impl Fn(usize) -> T) -> u64 {
    if last >= len {
        return 0;
    }
    let value = at(last);
    if last + 1 < len && at(last + 1) == value {
        return 0;
    }
    let mut back = 1;
    while back <= last && at(last - back) == value {
        back *= 2;
    }
    // The start is neither before `low` nor after `high`.
    let mut low = (last + 1).saturating_sub(back);
    let mut high = last - back / 2;
    while low < high {
        let middle = low.midpoint(high);
        if at(middle) == value {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let before = (last - low) as u64;
    (before + 1) * before / 2
}

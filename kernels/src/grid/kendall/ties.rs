//! Ties, counted where equal ones stand side by side.

use super::{TIES_BOTH, TIES_X, TIES_Y, count};
use cuda_std::prelude::*;

/// Counts the pairs of sorted `keys` that are equal in their upper half, and those that are equal.
///
/// Called by every thread of a grid along x with a thread at least for each key, in blocks of a
/// multiple of 32 threads. Barriers of the block inside.
#[device]
pub fn ties_of_keys(keys: Global<u64>, counts: Global<u64>) {
    let at = thread::index();
    count(counts, TIES_X, pairs(keys.len(), at, |i| keys.read(i) >> 32));
    thread::sync_threads();
    count(counts, TIES_BOTH, pairs(keys.len(), at, |i| keys.read(i)));
}

/// Counts the equal pairs of the sorted ranks of y. Called as [`ties_of_keys`].
#[device]
pub fn ties_of_ranks(ranks: Global<u32>, counts: Global<u64>) {
    let part = pairs(ranks.len(), thread::index(), |i| ranks.read(i));
    count(counts, TIES_Y, part);
}

/// The pairs of the run of equal values that ends at `last`: t·(t − 1)/2 for t of them. 0 if none ends
/// there. `at(i)` is value i of `len`, which are sorted.
///
/// The run's start is looked for in steps that double, and then by halving: two reads for a pair, and
/// 2·log₂ t for a long run.
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
    // The start is not before `low`, and not after `high`.
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

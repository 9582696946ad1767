//! Rung 4: a radix sort, with three launches for each digit: count, scan, scatter.
//!
//! Changed: keys are not compared. A pass moves each key to its index in the order of one digit:
//! the number of keys with smaller digits, plus the number of keys with the same digit before it.
//! The first launch counts how many keys of each tile have each digit. The second scans these counts,
//! ordered by digit and then by tile, so each becomes the index of the first of these keys. The third
//! moves the keys. Why: four passes sort any number of keys, while a network needs log₂² n / 2 steps.
//!
//! In the third launch a thread has one digit. It reads all keys of the tile in order, and writes
//! those with its digit. So the pass is stable without any ranks, but each key is read by 256
//! threads.
//!
//! Words moved: 3n + 4·256·n / B for each of 4 digits. Work: 256n tests for each digit.
//!
//! Launched: a block of 256 threads for each tile, to count and to scatter. The library scans.

use super::{DIGITS, digit_of, gridsync_ladder_sort_keys, load, position};
use cuda_std::prelude::*;

shared_array! {
    /// For each digit, how many keys of the tile have it.
    pub(super) fn gridsync_ladder_sort_counts() -> [u32; DIGITS];
}

/// Counts the digits of each tile: `counts` has the counts of all tiles for digit 0, then for digit
/// 1, and so on.
///
/// Called by every thread of the grid, which has a block of at least 256 threads for each tile.
#[device]
pub fn count(keys: Global<u32>, counts: Global<u32>, shift: u32) {
    let len = load(keys, thread::block_index());
    count_tile(len, shift);
    let (digit, _) = position();
    if digit < DIGITS {
        counts.write(of_tile(digit), gridsync_ladder_sort_counts().read(digit));
    }
}

/// Moves the keys of `from` to `to`. `starts` has the exclusive scan of the counts.
///
/// Called by every thread of the grid, which has a block of 256 threads for each tile.
#[device]
pub fn scatter(from: Global<u32>, to: Global<u32>, starts: Global<u32>, shift: u32) {
    let len = load(from, thread::block_index());
    thread::sync_threads();
    let (digit, _) = position();
    let mut next = starts.read(of_tile(digit)) as usize;
    for i in 0..len {
        let key = gridsync_ladder_sort_keys().read(i);
        if digit_of(key, shift) == digit {
            to.write(next, key);
            next += 1;
        }
    }
}

/// Counts the digits of the first `len` keys of the loaded tile, into shared memory.
///
/// Called by every thread of the block, after [`load`]. It has block barriers inside and at the end.
#[device]
pub(super) fn count_tile(len: usize, shift: u32) {
    let counts = gridsync_ladder_sort_counts();
    let (me, threads) = position();
    if me < DIGITS {
        counts.write(me, 0);
    }
    thread::sync_threads();
    // These are the keys that the thread has loaded itself.
    let mut i = me;
    while i < len {
        let digit = digit_of(gridsync_ladder_sort_keys().read(i), shift);
        counts.add(digit, 1, Ordering::Relaxed, Scope::Block);
        i += threads;
    }
    thread::sync_threads();
}

/// The index of a digit's count for the block's tile.
#[device]
pub(super) fn of_tile(digit: usize) -> usize {
    digit * thread::block_count() + thread::block_index()
}

//! A merge sort of keys by the whole grid. It can count the inversions: the pairs of keys in the
//! wrong order.
//!
//! [`sort_tile`] sorts runs of [`TILE`] keys, one per block, in shared memory. [`merge_runs`]
//! merges neighbouring runs into runs of twice the length, one launch for each level; the end of a
//! launch is the barrier between levels. `README.md` next to this file explains how many keys a
//! level moves, and how blocks find their parts.
//!
//! The sort is stable, as far as keys without a payload can show it: of equal keys the left one
//! comes first, so equal keys are not an inversion.

mod keys;
mod path;
mod tile;

use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;
use keys::Keys;
use path::{Neighbours, split_by_warp};
use tile::{Runs, merge};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Keys per thread: a power of two.
const EACH: usize = 8;

/// Keys of a block.
pub const TILE: usize = THREADS as usize * EACH;

shared_array! {
    /// The number of keys of the left run before the block's part, and the number up to its end.
    fn gridsync_merge_splits() -> [u64; 2];
}

/// A number that can be a key.
pub trait Key: Scalar + Ord {
    /// The greatest value.
    const GREATEST: Self;
}

impl Key for u32 {
    const GREATEST: Self = Self::MAX;
}

impl Key for u64 {
    const GREATEST: Self = Self::MAX;
}

/// Sorts the [`TILE`] keys of this block: sets `output` to the sorted values that `load` returns
/// for its indices. Returns this thread's share of the inversions: the sum over the block is their
/// number, at most `TILE`·(`TILE` − 1)/2.
///
/// Called by every thread of a grid of [`THREADS`] along x, one block for each `TILE` keys of
/// `output`; the last may be short. `load` is called once for each index of `output`, and may read
/// that same memory. It contains several block barriers, but none at the end.
#[device]
pub fn sort_tile<K: Key>(load: impl Fn(usize) -> K, output: Global<K>) -> u32 {
    let keys = Keys::<K>::of_block();
    let first = thread::block_idx_x() as usize * TILE;
    let thread = thread::thread_idx_x();
    keys.fill(thread, |i| match first + i as usize {
        // Padding of the last tile stays after all keys and causes no inversions.
        index if index >= output.len() => K::GREATEST,
        index => load(index),
    });
    thread::sync_threads();

    let mine = thread * EACH as u32;
    let (mut held, mut inversions) = tile::sort_held(keys.held(mine));
    let mut run = EACH as u32;
    while run < TILE as u32 {
        leave(keys, mine, held);
        let start = mine & !(2 * run - 1);
        let runs = Runs { start, middle: start + run, end: start + 2 * run };
        let (merged, found) = merge(keys, runs, mine - start);
        held = merged;
        inversions += found;
        run *= 2;
    }
    leave(keys, mine, held);
    store(keys, output, first, (output.len() - first).min(TILE));
    inversions
}

/// Merges neighbouring runs of `run` keys of `input` into runs of 2·`run` in `output`. Returns this
/// thread's share of the inversions between the two runs: the sum over the grid is their number.
///
/// Called by every thread of a grid of [`THREADS`] along x, one block for each [`TILE`] keys; the
/// last block may be short, and so may the last run. `run` is `TILE` times a power of two. `output`
/// is as long as `input` and does not overlap it. It contains block barriers, but none at the end.
#[device]
pub fn merge_runs<K: Key>(input: Global<K>, output: Global<K>, run: usize) -> u64 {
    let keys = Keys::<K>::of_block();
    let first = thread::block_idx_x() as usize * TILE;
    let thread = thread::thread_idx_x();
    let pair = Neighbours::at(input, first & !(2 * run - 1), run);
    let from = first - pair.start;
    let to = (from + TILE).min(pair.len());

    // One warp for each end of the block's part.
    let splits = gridsync_merge_splits();
    let (warp, lane) = (thread / WARP_SIZE, thread % WARP_SIZE);
    if warp < 2 {
        let split = split_by_warp(pair, if warp == 0 { from } else { to }, lane);
        if lane == 0 {
            splits.write(warp as usize, split as u64);
        }
    }
    thread::sync_threads();
    let (left_from, left_to) = (splits.read(0) as usize, splits.read(1) as usize);
    let left = left_to - left_from;
    let all = to - from;

    let right_from = from - left_from;
    keys.fill_some(thread, all as u32, |i| match i as usize {
        i if i < left => pair.left(left_from + i),
        i => pair.right(right_from + i - left),
    });
    thread::sync_threads();
    let mine = thread * EACH as u32;
    let runs = Runs { start: 0, middle: left as u32, end: all as u32 };
    let (held, within) = merge(keys, runs, mine.min(all as u32));
    leave(keys, mine, held);
    store(keys, output, first, all);

    // The left run's keys after the block's part are greater than each key of the right run in it.
    let beyond = match thread {
        0 => (all - left) as u64 * (pair.left_len() - left_to) as u64,
        _ => 0,
    };
    u64::from(within) + beyond
}

/// Puts the keys of each thread into shared memory for all to read. A block barrier comes before
/// and after.
#[device]
fn leave<K: Key>(keys: Keys<K>, mine: u32, held: [K; EACH]) {
    thread::sync_threads();
    held.for_each(|i, key| keys.write(mine + i as u32, key));
    thread::sync_threads();
}

/// Writes the first `len` keys of shared memory to `output`, starting at element `first`.
#[device]
fn store<K: Key>(keys: Keys<K>, output: Global<K>, first: usize, len: usize) {
    let thread = thread::thread_idx_x();
    [(); EACH].for_each(|turn, ()| {
        let i = turn as u32 * THREADS + thread;
        if (i as usize) < len {
            output.write(first + i as usize, keys.read(i));
        }
    });
}

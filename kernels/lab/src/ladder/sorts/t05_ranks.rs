//! Rung 5: all threads of the block rank their keys together.
//!
//! Changed: a tile has rows, with a key for each thread. [`block::rank`] gives each key its index in
//! the order of the row's digits. For this a warp votes on each bit of the digit: the lanes that voted
//! alike have the same digit, and the number of them before a lane is its rank among them. Counters of
//! all warps, added up, give the rest. Why: a key is read once instead of 256 times.
//!
//! The keys of a row are then exchanged through shared memory, so that threads with consecutive
//! indices have keys with the same digit. These are consecutive in the output too: the writes of a
//! warp reach fewer lines of memory.
//!
//! Words moved: as rung 4. Work: 8 votes for each key and each digit.
//!
//! Launched: as rung 4, with 512 threads to scatter. Longer rows have longer runs of a digit.

use super::t04_counts::of_tile;
use super::{DIGITS, digit_of, gridsync_ladder_sort_keys, load, position};
use cuda_std::prelude::*;
use gridsync_kernels::block;

/// Threads of a block, and keys of a row.
pub const ROW: usize = 512;

shared_array! {
    /// The memory of [`block::rank`].
    fn gridsync_ladder_sort_ranks() -> [u32; block::rank_words(ROW as u32)];
}

shared_array! {
    /// A row in the order of its digits.
    fn gridsync_ladder_sort_row() -> [u32; ROW];
}

shared_array! {
    /// For each digit, the index in the output of the tile's next key. While a row is written, less
    /// the index of the digit's first key in the row.
    pub(super) fn gridsync_ladder_sort_next() -> [u32; DIGITS];
}

/// Moves the keys of `from` to `to`. `starts` has the exclusive scan of the counts.
///
/// Called by every thread of the grid, which has a block of [`ROW`] threads for each tile.
#[device]
pub fn scatter_ranked(from: Global<u32>, to: Global<u32>, starts: Global<u32>, shift: u32) {
    let len = load(from, thread::block_index());
    let (digit, _) = position();
    if digit < DIGITS {
        gridsync_ladder_sort_next().write(digit, starts.read(of_tile(digit)));
    }
    move_tile(to, len, shift);
}

/// Moves the first `len` keys of the loaded tile to `to`, each row after the one before.
///
/// Called by every thread of the block of [`ROW`] threads, after [`load`] and after the next index
/// of each digit has been written. It has block barriers inside.
#[device]
pub(super) fn move_tile(to: Global<u32>, len: usize, shift: u32) {
    let (me, _) = position();
    for row in 0..len.div_ceil(ROW) {
        // The thread has loaded this key itself.
        let i = row * ROW + me;
        move_row(to, gridsync_ladder_sort_keys().read(i), i < len, shift);
    }
}

/// Moves the keys of a row to `to`. Called by every thread of the block. Keys after the end of the
/// array are the greatest and the last of the row, so they stay there; `is_key` is whether the row
/// has a key at the index of the thread.
#[device]
fn move_row(to: Global<u32>, key: u32, is_key: bool, shift: u32) {
    let (row, next) = (gridsync_ladder_sort_row(), gridsync_ladder_sort_next());
    let (me, _) = position();
    let rank = block::rank(digit_of(key, shift) as u32, gridsync_ladder_sort_ranks());
    row.write(rank as usize, key);
    thread::sync_threads();
    let key = row.read(me);
    let digit = digit_of(key, shift);
    let is_first = me == 0 || digit_of(row.read(me - 1), shift) != digit;
    let is_last = me + 1 == ROW || digit_of(row.read(me + 1), shift) != digit;
    if is_first {
        next.write(digit, next.read(digit).wrapping_sub(me as u32));
    }
    thread::sync_threads();
    let index = next.read(digit).wrapping_add(me as u32);
    if is_key {
        to.write(index as usize, key);
    }
    // Other threads with this digit may not have read its word yet.
    thread::sync_threads();
    if is_last {
        next.write(digit, index + 1);
    }
}

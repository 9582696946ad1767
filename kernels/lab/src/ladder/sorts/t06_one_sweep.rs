//! Rung 6: one launch for each digit, with decoupled look-back (Adinets, Merrill, "Onesweep: A Faster
//! Least Significant Digit Radix Sort for GPUs", 2022).
//!
//! Changed: the keys with each value of all four digits are counted in one launch at the start: a
//! pass moves keys but does not change these counts. In a pass each tile counts its own digits, and
//! gets the counts of the tiles before it from their blocks, as in rung 9 of the scans, but for 256
//! digits at once. Why: a pass reads each key once and writes it once, 2n words instead of 3n, and
//! needs no scan of the counts of all tiles.
//!
//! **Protocol.** `words[0]` counts tickets. Each tile has a word for each digit. All are 0 when the
//! launch begins.
//!
//! | state, in the upper 2 bits | value, in the lower 30 bits | stored by, when |
//! |---|---|---|
//! | 0, invalid | | not stored yet |
//! | 1, aggregate | the tile's keys with the digit | the thread of the digit, as soon as the tile is counted; not for tile 0 |
//! | 2, prefix | the index in the output after the tile's last key with the digit | the same thread, when its look-back has ended; for tile 0 immediately |
//!
//! The thread of a digit walks back from the tile before its own. It adds aggregates until it reads a
//! prefix. Only tile 0 scans the counts of the whole array: its prefixes begin where its digit begins,
//! and all others follow from them. Tickets, stores and polls are relaxed, as in the scans: a word
//! is all that is sent. Progress: a tile waits only for tiles with smaller tickets, whose blocks have
//! started and publish their aggregates without waiting. Counts and keys of the pass before come
//! from earlier launches.
//!
//! Words moved: n to count, then 2n for each digit. Work: as rung 5.
//!
//! Launched: resident blocks of 256 threads to count. Then for each digit, after the words have been
//! set to 0, a block of 512 threads for each tile.

use super::t04_counts::{count_tile, gridsync_ladder_sort_counts};
use super::t05_ranks::{gridsync_ladder_sort_next, move_tile};
use super::{DIGITS, PASSES, digit_of, load, position};
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::op::Sum;

/// The smallest word with the number of a tile's keys, and the smallest with their end.
const AGGREGATE: u32 = 1 << 30;
const PREFIX: u32 = 2 << 30;

shared_array! {
    /// The counts of all digits of the block's keys.
    fn gridsync_ladder_sort_all_counts() -> [u32; PASSES * DIGITS];
}

shared_array! {
    /// The number of the tile.
    fn gridsync_ladder_sort_tile() -> [u32; 1];
}

/// Adds to `counts` how many keys have each value of each digit, the lowest digit first.
///
/// Called by every thread of a grid of any size. `counts` has 1024 elements, all 0.
#[device]
pub fn count_all(keys: Global<u32>, counts: Global<u32>) {
    let of_block = gridsync_ladder_sort_all_counts();
    let (me, threads) = position();
    let mut at = me;
    while at < of_block.len() {
        of_block.write(at, 0);
        at += threads;
    }
    thread::sync_threads();
    let mut i = thread::index();
    while i < keys.len() {
        let key = keys.read(i);
        for pass in 0..PASSES {
            let at = pass * DIGITS + digit_of(key, 8 * pass as u32);
            of_block.add(at, 1, Ordering::Relaxed, Scope::Block);
        }
        i += thread::thread_count();
    }
    thread::sync_threads();
    at = me;
    while at < of_block.len() {
        counts.add(at, of_block.read(at), Ordering::Relaxed, Scope::Device);
        at += threads;
    }
}

/// Moves the keys of `from` to `to`. `counts` has the counts of the digit.
///
/// Called by every thread of the grid, which has a block of 512 threads for each tile. `words` has a
/// word for each digit of each tile and one more, all 0.
#[device]
pub fn one_sweep(
    from: Global<u32>,
    to: Global<u32>,
    counts: Global<u32>,
    words: Global<u32>,
    shift: u32,
) {
    let tile = draw(words);
    let len = load(from, tile);
    count_tile(len, shift);
    let (digit, _) = position();
    let is_digit = digit < DIGITS;
    let count = if is_digit { gridsync_ladder_sort_counts().read(digit) } else { 0 };
    let mut start = 0;
    if tile == 0 {
        let of_array = if is_digit { counts.read(digit) } else { 0 };
        start = block::scan_exclusive(Sum::<u32>::new(), of_array).before;
    } else if is_digit {
        send(words, tile, digit, AGGREGATE + count);
        start = look_back(words, tile, digit);
    }
    if is_digit {
        send(words, tile, digit, PREFIX + start + count);
        gridsync_ladder_sort_next().write(digit, start);
    }
    move_tile(to, len, shift);
}

/// The number of this block's tile. Called by all threads of the block; has a barrier inside.
#[device]
fn draw(words: Global<u32>) -> usize {
    let tile = gridsync_ladder_sort_tile();
    if thread::is_first_in_block() {
        tile.write(0, words.fetch_add(0, 1, Ordering::Relaxed, Scope::Device));
    }
    thread::sync_threads();
    tile.read(0) as usize
}

/// Stores the word of a digit of a tile.
#[device]
fn send(words: Global<u32>, tile: usize, digit: usize, word: u32) {
    words.store(1 + tile * DIGITS + digit, word, Ordering::Relaxed, Scope::Device);
}

/// The index in the output of the tile's first key with this digit. Waits for the tiles before it.
#[device]
fn look_back(words: Global<u32>, tile: usize, digit: usize) -> u32 {
    let (mut sum, mut earlier) = (0, tile);
    loop {
        earlier -= 1;
        let mut word = 0;
        spin::until(|| {
            word = words.load(1 + earlier * DIGITS + digit, Ordering::Relaxed, Scope::Device);
            word >= AGGREGATE
        });
        sum += word % AGGREGATE;
        if word >= PREFIX {
            return sum;
        }
    }
}

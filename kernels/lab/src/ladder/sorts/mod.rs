//! The ladder of sorts: the u32 keys of an array in ascending order, in seven steps, from one block
//! that exchanges neighbours to one pass over the array for each digit.
//!
//! Each file is a rung. Its header explains what has changed since the rung below and why, how many
//! words it reads from and writes to device memory, its work (comparisons, or keys that are moved),
//! and how it is launched. n is the number of keys, and B is [`TILE`], the number of keys in a
//! block's tile. Read the rungs in order: later rungs call functions of lower ones. `README.md` in
//! this folder has them in one table, with the rules for blocks that wait for each other.
//!
//! Rungs 1 to 3 compare keys, and the comparisons do not depend on the keys. Rungs 4 to 7 compare
//! nothing: they sort by one digit of 8 bits at a time, the lowest first. Each of these passes is
//! stable, so keys with the same digit stay in the order of the passes before. Rung 7 is the
//! library's: [`grid::sort`](gridsync_kernels::grid::sort).
//!
//! They accept arrays of any length, including empty ones; those that count keys of a digit accept
//! fewer than 2^30 keys. `gridsync lab sorts` runs them all.

pub mod kernels;
pub mod t01_odd_even;
pub mod t02_bitonic;
pub mod t03_bitonic_tiles;
pub mod t04_counts;
pub mod t05_ranks;
pub mod t06_one_sweep;

use cuda_std::prelude::*;

/// Keys of a tile.
pub const TILE: usize = 2048;

/// Values of a digit.
pub const DIGITS: usize = 256;

/// Digits of a key, and so the number of passes.
pub const PASSES: usize = 4;

shared_array! {
    /// The keys of the block's tile.
    fn gridsync_ladder_sort_keys() -> [u32; TILE];
}

/// The digit of `key` that starts at bit `shift`.
#[inline(always)]
fn digit_of(key: u32, shift: u32) -> usize {
    (key >> shift) as usize % DIGITS
}

/// The index of the thread in its block, and the number of threads of the block.
#[device]
fn position() -> (usize, usize) {
    let me = thread::in_32_bits::index_in_block();
    (me as usize, thread::in_32_bits::threads_per_block() as usize)
}

/// Loads the keys of a tile into shared memory, with the greatest key after the end of the array.
/// Returns the number of keys of the tile.
///
/// Called by every thread of the block. Each thread loads the keys whose index is its own plus a
/// multiple of the number of threads. It has no barrier: the block needs one before a thread reads
/// other keys.
#[device]
fn load(from: Global<u32>, tile: usize) -> usize {
    let keys = gridsync_ladder_sort_keys();
    let (me, threads) = position();
    let start = tile * TILE;
    let mut i = me;
    while i < TILE {
        let key = if start + i < from.len() { from.read(start + i) } else { u32::MAX };
        keys.write(i, key);
        i += threads;
    }
    from.len().saturating_sub(start).min(TILE)
}

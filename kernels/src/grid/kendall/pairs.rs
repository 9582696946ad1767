//! Compares every element with every other.

use super::{DISCORDANT, Side, TIES_BOTH, TIES_X, TIES_Y, report_nan};
use crate::block;
use crate::op::{Number, Sum};
use cuda_std::prelude::*;

/// Threads of a block, and elements of a tile.
pub const PAIRS_TILE: u32 = 256;

shared_array! {
    /// The later tile of x.
    fn gridsync_kendall_x() -> [u64; PAIRS_TILE as usize];
    /// The later tile of y.
    fn gridsync_kendall_y() -> [u64; PAIRS_TILE as usize];
}

/// Counts the discordant pairs and the ties of `x` and `y` by comparing all n·(n − 1)/2 pairs.
///
/// The arrays have the same length and are divided into tiles of [`PAIRS_TILE`]. Called by every
/// thread of a grid with as many blocks along x, and along y, as tiles, of `PAIRS_TILE` threads
/// each. Block (i, j) compares tile i with tile j, and returns immediately if j is before i. A
/// thread has one element of tile i; tile j is in shared memory. It contains block barriers.
#[device]
pub fn by_pairs<T: Number>(x: Global<T>, y: Global<T>, counts: Global<u64>) {
    let (row, column) = (thread::block_idx_x(), thread::block_idx_y());
    if column < row {
        return;
    }
    let (xs, ys) = (gridsync_kendall_x().cast::<T>(), gridsync_kendall_y().cast());
    let thread = thread::thread_idx_x() as usize;
    let tile = PAIRS_TILE as usize;
    let (first, later) = (row as usize * tile, column as usize * tile);
    let len = (x.len() - later).min(tile);
    if thread < len {
        xs.write(thread, x.read(later + thread));
        ys.write(thread, y.read(later + thread));
    }
    thread::sync_threads();

    // A block counts at most 2^16 of each. Within one tile a pair is counted by its first element.
    let (mut discordant, mut ties_x, mut ties_y, mut ties_both) = (0u32, 0u32, 0u32, 0u32);
    let mine = first + thread;
    if mine < x.len() {
        let (my_x, my_y) = (x.read(mine), y.read(mine));
        if row == column {
            if my_x.is_nan() {
                report_nan(counts, Side::X, mine);
            }
            if my_y.is_nan() {
                report_nan(counts, Side::Y, mine);
            }
        }
        let mut other = if row == column { thread + 1 } else { 0 };
        while other < len {
            let (other_x, other_y) = (xs.read(other), ys.read(other));
            let (same_x, same_y) = (my_x == other_x, my_y == other_y);
            ties_x += u32::from(same_x);
            ties_y += u32::from(same_y);
            ties_both += u32::from(same_x & same_y);
            let opposite = (my_x < other_x) != (my_y < other_y);
            discordant += u32::from(opposite & !same_x & !same_y);
            other += 1;
        }
    }
    let two = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    let sum = Sum::<u64>::new();
    let opposite_and_x = block::reduce(sum, two(discordant, ties_x));
    thread::sync_threads();
    let y_and_both = block::reduce(sum, two(ties_y, ties_both));
    if thread == 0 {
        let add = |which, count: u64| {
            counts.add(which, count, Ordering::Relaxed, Scope::Device);
        };
        add(DISCORDANT, opposite_and_x & 0xFFFF_FFFF);
        add(TIES_X, opposite_and_x >> 32);
        add(TIES_Y, y_and_both & 0xFFFF_FFFF);
        add(TIES_BOTH, y_and_both >> 32);
    }
}

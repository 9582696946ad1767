//! Rung 3: the steps within a tile are done in shared memory.
//!
//! Changed: a step whose keys are at most B / 2 apart needs no key of another tile. One launch does
//! all consecutive steps like this: a block loads its tile, does them with barriers of the block in
//! between, and writes the tile. Why: an access to shared memory is much faster than one to device
//! memory, and one launch replaces up to 66. The launches of rung 2 are left for the steps across
//! tiles.
//!
//! Words moved: 2n for each launch. With t = log₂ (n / B), these are t · (t + 1) / 2 steps across
//! tiles, and t + 1 launches of this kernel. Work: as rung 2.
//!
//! Launched: a block of 256 threads for each tile, first to sort the tiles, then after the steps of
//! each merge that cross tiles.

use super::t02_bitonic::pair;
use super::{TILE, gridsync_ladder_sort_keys, load, position};
use cuda_std::prelude::*;

/// Sorts each tile of `from`, or if `merging` is not 0, finishes a merge whose steps across tiles are
/// done.
///
/// Called by every thread of the grid, which has a block for each tile. `to` may be `from`.
#[device]
pub fn tiles(from: Global<u32>, to: Global<u32>, merging: u32) {
    let len = load(from, thread::block_index());
    if merging == 0 {
        let mut size = 2;
        while size <= TILE {
            step_in_tile(size - 1);
            halve(size / 4);
            size *= 2;
        }
    } else {
        halve(TILE / 2);
    }
    thread::sync_threads();
    let (me, threads) = position();
    let mut i = me;
    while i < len {
        to.write(thread::block_index() * TILE + i, gridsync_ladder_sort_keys().read(i));
        i += threads;
    }
}

/// The steps with keys `apart`, half as far apart, and so on. `apart` is a power of two, or 0 for no
/// step.
#[device]
fn halve(mut apart: usize) {
    while apart > 0 {
        step_in_tile(apart);
        apart /= 2;
    }
}

/// One step, after a barrier of the block.
#[device]
fn step_in_tile(mask: usize) {
    thread::sync_threads();
    let keys = gridsync_ladder_sort_keys();
    let (mut number, threads) = position();
    while number < TILE / 2 {
        let [low, high] = pair(number, mask);
        let (a, b) = (keys.read(low), keys.read(high));
        keys.write(low, a.min(b));
        keys.write(high, a.max(b));
        number += threads;
    }
}

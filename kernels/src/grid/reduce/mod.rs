//! The reduction of an array by the whole grid, in one launch.
//!
//! The array is parted into tiles, one for each block; [`Shape`] says how, and in which order
//! everything is combined. The results of the tiles, or of their strips while there are few, go to
//! memory as stamped words. The block that *started* last picks them up as they come and combines
//! them.
//!
//! Started last, not finished last: every other block runs already or has ended, so that its words
//! will come without any block that has yet to start. The wait ends however few blocks are resident,
//! and in whichever order they are. And since a block draws its number at the start, when it waits
//! for its first loads anyway, nothing is drawn, fenced or waited for at the end: the last word
//! travels to the waiting block, and that is all.
//!
//! A block for each tile, not as many as are resident and more tiles for each: the hardware hands
//! out blocks more evenly, and in prototypes on an H200 read memory about 1 % faster, than blocks
//! that stay.
//!
//! Moves n elements once, and some words twice.

mod leaves;
mod rows;
mod shape;
mod strip;

pub use rows::{Batch, reduce_long_rows, reduce_short_rows};
pub use shape::{LARGE, MOST_TILES, SMALL, Shape};

use super::stamped::Stamped;
use super::workspace::{Workspace, clear, draw, is_last_stamp, last_stamp, leave_stamp};
use crate::block::{Slots, ThreadPosition};
use crate::op::{Carried, Operation, for_each_word};
use crate::warp;
use cuda_std::prelude::*;
use leaves::chain;
use shape::leaves_are_strips;
use strip::strip;

shared_array! {
    /// The results of the strips of the tile, of at most four words each.
    fn gridsync_reduce_strips() -> [u32; 4 * LARGE as usize];
    /// The results of the chains of each warp.
    fn gridsync_reduce_chains() -> [u32; 4 * LARGE as usize];
    /// What the first thread found in the state.
    fn gridsync_reduce_state() -> [u32; 2];
}

/// Words of the state: the stamp lies in a line of its own. In the line that all blocks count in,
/// who only reads would wait for them.
pub const STATE: usize = 65;
/// The same of a row, of which there are many: side by side.
pub const ROW_STATE: usize = 2;
const STARTED: usize = 0;

/// Reduces `input` to the words of an accumulator in `result`, which has as many elements: what all
/// elements combine to, not [finished](Operation::finish).
///
/// Called by every thread of a grid along x that is a [`Shape`]: `tiles` blocks of `warps` warps,
/// `runs` runs to a strip. For the order that is promised, it is the shape of the input's length.
/// Nobody writes `input` while the kernel runs, so it overlaps none of the others. The workspace has
/// [`MOST_TILES`] words for each word of an accumulator, and [`STATE`] words of state. The first thread of the block that started last writes the
/// result; it is visible to what follows on the stream. No co-residency needed.
#[device(protocol = "the reduction")]
pub fn reduce<O: Operation>(
    op: O,
    input: Global<O::Element>,
    workspace: Workspace,
    result: Global<u32>,
    runs: u32,
) {
    reduce_strips(op, workspace, MOST_TILES, result, |tile, at| strip(op, input, runs, tile, at));
}

/// The same of strips that come from anywhere: `strip(tile, at)` combines that of a warp, and is
/// called by all of its lanes. The blocks that share a workspace stand side by side in x; the words
/// are `apart` ones for each word of an accumulator.
#[device]
fn reduce_strips<O: Operation>(
    op: O,
    Workspace { words, state }: Workspace,
    apart: usize,
    result: Global<u32>,
    strip: impl FnOnce(u32, ThreadPosition) -> O::Accumulator,
) {
    let (tile, tiles) = (thread::block_idx_x(), thread::grid_dim_x());
    let at = ThreadPosition::here();
    let leaves_are_strips = leaves_are_strips(tiles, at.warps);
    let first_leaf = match leaves_are_strips {
        true => tile * at.warps,
        false => tile,
    };
    let (mut started, mut stamp) = (0, 0);
    if at.thread == 0 && tiles > 1 {
        // Both are asked for now and looked at when the tile is done.
        started = draw(state, STARTED, tiles);
        stamp = last_stamp(state, state.len() - 1);
        // Who looks for a leaf that is not in the L2 waits for device memory.
        words.prefetch(first_leaf as usize);
    }
    let strip = strip(tile, at);

    let strips = Slots::new(gridsync_reduce_strips(), 4);
    let found = gridsync_reduce_state();
    if at.thread == 0 {
        found.write(0, started);
        found.write(1, stamp);
    }
    if at.lane == 0 && (!leaves_are_strips || tiles == 1) {
        strips.write(at.warp as usize, strip);
    }
    thread::sync_threads();
    // Adding 1 where it is loaded would wait for it there, before the loads of the tile.
    let stamp = found.read(1) + 1;
    let leaves = Stamped { words, apart, stamp };
    if leaves_are_strips && tiles > 1 {
        if at.lane == 0 {
            leaves.send((first_leaf + at.warp) as usize, strip);
        }
    } else if at.warp == 0 {
        let value = combine_warps(op, strips, at);
        if at.thread == 0 && tiles == 1 {
            write(result, value);
        } else if at.thread == 0 {
            leaves.send(first_leaf as usize, value);
        }
    }
    if tiles == 1 || found.read(0) != tiles - 1 {
        return;
    }

    let count = match leaves_are_strips {
        true => tiles * at.warps,
        false => tiles,
    };
    let chains = Slots::new(gridsync_reduce_chains(), 4);
    let chain = warp::reduce(op, chain(op, leaves, count, at));
    if at.lane == 0 {
        chains.write(at.warp as usize, chain);
    }
    thread::sync_threads();
    if at.warp == 0 {
        let value = combine_warps(op, chains, at);
        if at.thread == 0 {
            write(result, value);
        }
    }
    leave_for_next(words, state, stamp, at);
}

/// Combines the values of all warps of the block, in their order. By all lanes of a warp, of which the
/// first has the result.
#[device]
fn combine_warps<O: Operation>(op: O, values: Slots, at: ThreadPosition) -> O::Accumulator {
    let value = match at.lane {
        lane if lane < at.warps => values.read(lane as usize),
        _ => op.identity(),
    };
    // No more steps than there are warps for: two less are 12 of 3485 ns at 2^20 f32 (an H200, 2026-11-22).
    match at.warps {
        ..=SMALL => warp::reduce_groups::<O, SMALL>(op, value),
        _ => warp::reduce_groups::<O, LARGE>(op, value),
    }
}

/// Writes the words of `value`.
#[device]
fn write<T: Carried>(result: Global<u32>, value: T) {
    for_each_word(value, |i, word| result.write(i, word));
}

/// Leaves the stamp for the next launch; the count of blocks has wrapped to 0. By all threads of the block
/// that started last: it has seen every word, so that no other block touches any.
#[device]
fn leave_for_next(words: Global<u64>, state: Global<u32>, mut stamp: u32, at: ThreadPosition) {
    if is_last_stamp(stamp) {
        clear(words, at.thread, at.threads);
        stamp = 0;
    }
    if at.thread == 0 {
        leave_stamp(state, state.len() - 1, stamp);
    }
}

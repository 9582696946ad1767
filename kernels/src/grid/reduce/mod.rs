//! The reduction of an array by the whole grid, in one launch.
//!
//! The array is divided into tiles, one per block. [`Shape`] defines how, and in which order
//! everything is combined. Each block stores the result of its tile, or of each strip if the array
//! has few strips, as stamped words. The block that *started* last waits for these words and
//! combines them.
//!
//! It is the block that started last, not the one that finished last. All other blocks have
//! started, so their words will arrive even if few blocks are resident, whatever order the hardware
//! starts them in. A block draws its number at its start, while it waits for its first loads
//! anyway. So its end has no draw and no fence: only the last word has to travel to the waiting
//! block.
//!
//! Each tile has its own block. In prototypes on an H200 the hardware spread these more evenly, and
//! read memory faster, than persistent blocks that process several tiles.
//!
//! Moves n elements once, and a few words twice.

mod finish;
mod leaves;
mod rows;
mod shape;
mod strip;

pub use finish::finish_rows;
pub use rows::{Batch, reduce_long_rows, reduce_short_rows};
pub(super) use rows::{Shifted, is_aligned};
pub(super) use shape::ROWS as RUN_ROWS;
pub use shape::{LARGE, MOST_TILES, SMALL, Shape};

use super::overlap::{begin, let_next_start};
use super::stamped::Stamped;
use super::workspace::{Workspace, clear, draw, is_last_stamp, last_stamp, leave_stamp};
use crate::block::{Slots, ThreadPosition};
use crate::op::{Carried, MOST_WORDS, Operation, for_each_word};
use crate::warp;
use cuda_std::prelude::*;
use leaves::chain;
use shape::leaves_are_strips;
use strip::strip;

shared_array! {
    /// The results of the tile's strips.
    fn gridsync_reduce_strips() -> [u32; MOST_WORDS * LARGE as usize];
    /// The results of each warp's chains.
    fn gridsync_reduce_chains() -> [u32; MOST_WORDS * LARGE as usize];
    /// The values that the first thread read from the state.
    fn gridsync_reduce_state() -> [u32; 2];
}

/// Words of the state. The stamp is in a separate cache line: in the line that all blocks
/// increment, a read would wait for the increments.
pub const STATE: usize = 65;
/// Words of the state of a row. A launch has many rows, so these are adjacent.
pub const ROW_STATE: usize = 2;
const STARTED: usize = 0;

/// Reduces `input` to the words of an accumulator in `result`, which has exactly these words: the
/// combined value of all elements, not [finished](Operation::finish).
///
/// If `result` has more words, it has those of an accumulator for each tile, and gets the combined
/// value of each tile. Then no block waits, and the workspace is not accessed. So several launches
/// can share an array: each handles some of its tiles, which need not be all of the grid's shape.
///
/// Called by every thread of a grid along x that matches a [`Shape`]: `tiles` blocks of `warps`
/// warps, `runs` runs per strip. Only the shape for the input's length gives the promised order.
/// `input` is not written while the kernel runs, so it overlaps no other view. The workspace has
/// [`MOST_TILES`] words for each word of an accumulator, and [`STATE`] words of state. The first
/// thread of the block that started last writes the result, each word with one relaxed store at
/// system scope. Later work on the stream sees it. The blocks need not be co-resident. The launch
/// may [overlap](cuda_std::dependent) the kernel before it.
#[device(protocol = "the reduction")]
pub fn reduce<O: Operation>(
    op: O,
    input: Global<O::Element>,
    workspace: Workspace,
    result: Global<u32>,
    runs: u32,
) {
    begin();
    let goal = match result.len() > O::Accumulator::WORDS {
        true => Goal::EachTile,
        false => Goal::All,
    };
    let strip = |tile, at| strip(op, input, runs, tile, at);
    reduce_strips(op, workspace, MOST_TILES, (result, goal), strip);
}

/// The part that is reduced to one value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// The whole array.
    All,
    /// The tile of each block.
    EachTile,
}

/// [`reduce`] with strips from any source: `strip(tile, at)` combines the strip of a warp, called
/// by all of its lanes. Blocks that differ only in x share a workspace. It has `apart` words for
/// each word of an accumulator.
#[device]
fn reduce_strips<O: Operation>(
    op: O,
    Workspace { words, state }: Workspace,
    apart: usize,
    (result, goal): (Global<u32>, Goal),
    strip: impl FnOnce(u32, ThreadPosition) -> O::Accumulator,
) {
    let (tile, tiles) = (thread::block_idx_x(), thread::grid_dim_x());
    let at = ThreadPosition::here();
    let alone = tiles == 1 || goal == Goal::EachTile;
    let leaves_are_strips = !alone && leaves_are_strips(tiles, at.warps);
    let first_leaf = match leaves_are_strips {
        true => tile * at.warps,
        false => tile,
    };
    let (mut started, mut stamp) = (0, 0);
    if at.thread == 0 && !alone {
        // Both are requested now, and used when the tile is done.
        started = draw(state, STARTED, tiles);
        stamp = last_stamp(state, state.len() - 1);
        // Polling a leaf that is not in the L2 would wait for device memory.
        words.prefetch(first_leaf as usize);
    }
    let strip = strip(tile, at);

    let strips = Slots::<MOST_WORDS>::new(gridsync_reduce_strips());
    let found = gridsync_reduce_state();
    if at.thread == 0 {
        found.write(0, started);
        found.write(1, stamp);
    }
    if at.lane == 0 && !leaves_are_strips {
        strips.write(at.warp as usize, strip);
    }
    thread::sync_threads();
    // Adding 1 right after the load would wait for it there, before the loads of the tile.
    let stamp = found.read(1) + 1;
    let leaves = Stamped::new(words, apart, stamp);
    if leaves_are_strips {
        if at.lane == 0 {
            leaves.send((first_leaf + at.warp) as usize, strip);
        }
    } else if at.warp == 0 {
        let value = combine_warps(op, strips, at);
        if at.thread == 0 && alone {
            let words = O::Accumulator::WORDS;
            let own = if goal == Goal::EachTile { tile as usize * words } else { 0 };
            write(op, result.part(own, words), value);
        } else if at.thread == 0 {
            leaves.send(first_leaf as usize, value);
        }
    }
    if alone || found.read(0) != tiles - 1 {
        return;
    }

    // Only this block is still working, so the blocks of the next kernel will be spread evenly.
    let_next_start();
    let count = match leaves_are_strips {
        true => tiles * at.warps,
        false => tiles,
    };
    let chains = Slots::<MOST_WORDS>::new(gridsync_reduce_chains());
    let chain = warp::reduce(op, chain(op, leaves, count, at));
    if at.lane == 0 {
        chains.write(at.warp as usize, chain);
    }
    thread::sync_threads();
    if at.warp == 0 {
        let value = combine_warps(op, chains, at);
        if at.thread == 0 {
            write(op, result, value);
        }
    }
    leave_for_next(words, state, stamp, at);
}

/// Combines the values of all warps of the block, in order. Called by all lanes of a warp; the
/// first lane gets the result.
#[device]
fn combine_warps<O: Operation>(
    op: O,
    values: Slots<MOST_WORDS>,
    at: ThreadPosition,
) -> O::Accumulator {
    let value = match at.lane {
        lane if lane < at.warps => values.read(lane as usize),
        _ => op.identity(),
    };
    // Only as many steps as the number of warps needs.
    match at.warps {
        ..=SMALL => warp::reduce_groups::<O, SMALL>(op, value),
        _ => warp::reduce_groups::<O, LARGE>(op, value),
    }
}

/// Writes each word once, so a host that shares the memory can wait for each.
#[device]
fn write<O: Operation>(op: O, result: Global<u32>, value: O::Accumulator) {
    for_each_word(op.settled(value), |i, word| {
        result.store(i, word, Ordering::Relaxed, Scope::System)
    });
}

/// Leaves the stamp for the next launch; the block counter has wrapped to 0. Called by all threads
/// of the block that started last. It has seen every word, so no other block accesses any of them.
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

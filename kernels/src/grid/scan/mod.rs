//! The scan of an array by the whole grid, in one launch: for each element, the combined value of
//! all elements up to it.
//!
//! The array is divided into tiles, one per block, and tiles into groups. [`Shape`] defines how,
//! and in which order everything is combined. A block scans its tile in registers and sends its
//! combined value (its aggregate) to memory as a stamped word. Then it loads the words of earlier
//! tiles: each thread several tiles of its group, and one word for all groups before. So nothing is
//! read twice, and no tile looks back from tile to tile.
//!
//! Blocks wait only for blocks that have *started*: a tile's number is a ticket, drawn at the
//! start. So the wait ends however few blocks are resident, and in whatever order the hardware
//! starts them. `README.md` next to this file documents the words, which blocks write them, and why
//! that suffices.
//!
//! Moves n elements in and n accumulators out, and a word or two for each tile.

#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
mod bulk;
mod mode;
mod rows;
mod segments;
mod shape;
mod spread;
mod tile;

pub use super::tiles::MOST_GROUP;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub use bulk::{BulkOperation, SHARED as BULK_SHARED, THREADS as BULK_THREADS};
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub use bulk::{scan_by_bulk, scan_spread_by_bulk};
pub use mode::{Form, Mode};
pub use rows::{
    MIDDLE_TILES, ROW_STATE, RowLanes, RowStrips, scan_long_rows, scan_middle_rows, scan_short_rows,
};
pub use segments::scan_segments;
pub use shape::{Shape, most_rows};
pub use spread::{Stripes, head_and_places, scan_spread};

use super::overlap::begin;
use super::tiles::{self, Strip, Tiles, across_warps};
use super::workspace::Workspace;
use crate::block::ThreadPosition;
use crate::op::{Carried, Operation, words_of};
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use tile::{Held, Places};

/// The operations that can scan: their result is a number that memory can hold.
pub trait ScanOperation: Operation<Output: Scalar> {}

impl<O: Operation<Output: Scalar>> ScanOperation for O {}

/// Words of the state of a workspace: those of the tiles, and two slots for the value that a launch
/// leaves to the next.
pub const STATE: usize = LEFT + 2 * 4;
const LEFT: usize = tiles::STATE;

/// Scans `input` into `output`, element by element.
///
/// Called by every thread of a grid along x that matches a [`Shape`]: `tiles` blocks of `warps`
/// warps, `rows` rows per warp, `group` tiles per group. Only the shape for the input's length
/// gives the promised order. `output` is as long as `input`. It does not overlap it, or is the same
/// memory if elements and accumulators have the same size. Nothing else writes `input` while the
/// kernel runs. The workspace has [`STATE`] words of state, and an accumulator's words for each of
/// the shape's [places](Shape::places). A launch that continues has the accumulator type of the
/// previous one. Later work on the stream sees the results. The blocks need not be co-resident. The
/// launch may [overlap](cuda_std::dependent) the kernel before it.
///
/// Input or output that does not begin at a multiple of 16 bytes is read or written element by
/// element: more slowly, with the same bits.
#[device(protocol = "the scan")]
pub fn scan<O: ScanOperation>(
    op: O,
    input: Global<O::Element>,
    output: Global<O::Output>,
    workspace: Workspace,
    rows: u32,
    group: u32,
    mode: Mode,
) {
    begin();
    let arrays = (input, output);
    match const { most_rows::<O::Element, O::Accumulator>() } {
        1 => scan_by::<O, 1>(op, arrays, workspace, rows, group, mode),
        2 => scan_by::<O, 2>(op, arrays, workspace, rows, group, mode),
        4 => scan_by::<O, 4>(op, arrays, workspace, rows, group, mode),
        _ => scan_by::<O, 8>(op, arrays, workspace, rows, group, mode),
    }
}

/// [`scan`] with registers for `ROWS` rows.
#[device]
fn scan_by<O: ScanOperation, const ROWS: usize>(
    op: O,
    (input, output): (Global<O::Element>, Global<O::Output>),
    workspace: Workspace,
    rows: u32,
    group: u32,
    mode: Mode,
) where
    [Places<O>; ROWS]: Pack<Places<O>>,
    [O::Accumulator; ROWS]: Pack<O::Accumulator>,
{
    let at = ThreadPosition::here();
    let tiles = Tiles::draw(workspace, thread::grid_dim_x(), group, at);
    let start = found(op, workspace.state, mode);
    let strip = Strip::new::<O::Element>(tiles.tile, rows, at);
    let (held, aggregate) = tile_of::<O, ROWS>(op, input, strip, mode.form, at);
    if tiles.is_alone() {
        if at.thread == 0 && mode.leaves {
            leave(workspace.state, mode, op.combine(start, aggregate));
        }
        return strip.store(op, output, held, start);
    }
    tiles.send(aggregate, at);
    let (prefix, next) = tiles.prefix(op, aggregate, start, mode.leaves, at);
    if mode.leaves && tiles.is_last() && at.thread == 0 {
        leave(workspace.state, mode, next);
    }
    strip.store(op, output, held, prefix);
    tiles.leave_for_next(workspace.state, at);
}

/// The scan of the tile of `strip`, as if nothing came before it, and its aggregate. Called by all
/// threads of the block. It contains a block barrier.
#[device]
fn tile_of<O: ScanOperation, const ROWS: usize>(
    op: O,
    input: Global<O::Element>,
    strip: Strip,
    form: Form,
    at: ThreadPosition,
) -> (Held<O, ROWS>, O::Accumulator)
where
    [Places<O>; ROWS]: Pack<Places<O>>,
    [O::Accumulator; ROWS]: Pack<O::Accumulator>,
{
    let (mut held, total) = Held::<O, ROWS>::scan(op, strip.load(op, input));
    let (before, aggregate) = across_warps(op, total, at);
    held.warps = before;
    if form == Form::Exclusive {
        held.shift(op, |row| strip.pack(row) as u64);
    }
    (held, aggregate)
}

/// The value before the array: the value left by the previous launch, if this one continues it.
#[device]
fn found<O: ScanOperation>(op: O, state: Global<u32>, mode: Mode) -> O::Accumulator {
    if !mode.goes_on {
        return op.identity();
    }
    let at = LEFT + 4 * mode.in_second as usize;
    let word = |i| state.read(at + i);
    Carried::from_words(words_of([word(0), word(1), word(2), word(3)]))
}

/// Leaves the combined value of everything up to the end of this launch. Called by one thread.
#[device]
fn leave<T: Carried>(state: Global<u32>, mode: Mode, all: T) {
    let at = LEFT + 4 * !mode.in_second as usize;
    let [a, b, c, d, ..] = all.to_words();
    state.write(at, a);
    state.write(at + 1, b);
    state.write(at + 2, c);
    state.write(at + 3, d);
}

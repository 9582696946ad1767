//! The scan of an array by the whole grid, in one launch: what all elements up to each one combine
//! to.
//!
//! The array is parted into tiles, one for each block, and tiles into groups; [`Shape`] says how, and
//! in which order everything is combined. A block scans its tile in registers, sends what the tile
//! combines to (its aggregate) to memory as a stamped word, and picks up what the tiles before it
//! have sent: all of its own group at once, a thread each, and one word for all groups before. So
//! nothing is read twice, and there is no walk back from tile to tile.
//!
//! Blocks wait for each other, but for blocks that have *started* only: a tile's number is a ticket,
//! drawn at the start. So the wait ends however few blocks are resident, and in whichever order the
//! hardware starts them. The words, who writes them and why that suffices: `README.md` beside this
//! file.
//!
//! Moves n elements in and n accumulators out, and a word or two for each tile.

#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
mod bulk;
mod prefix;
mod shape;
mod tile;

#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub use bulk::{BulkOperation, SHARED as BULK_SHARED, THREADS as BULK_THREADS, scan_by_bulk};
pub use shape::{MOST_GROUP, Shape, most_rows};

use super::stamped::Stamped;
use crate::op::{Carried, Operation};
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;
pub(super) use prefix::{Tiles, leave_for_next, prefix, send};
use tile::{Held, Places};
pub(super) use tile::{Strip, across_warps};

shared_array! {
    /// The number of the tile, and the stamp of the launch.
    fn gridsync_scan_turn() -> [u32; 2];
}

/// The operations that scan: their result is a number that memory holds.
pub trait ScanOperation: Operation<Output: Scalar> {}

impl<O: Operation<Output: Scalar>> ScanOperation for O {}

/// What the scan gives for an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Form {
    /// What the elements up to it, with it, combine to.
    Inclusive = 0,
    /// What the elements before it combine to: the identity for the first.
    Exclusive = 1,
}

impl Form {
    /// The form of this number; exclusive if it is not 0.
    #[inline(always)]
    #[must_use]
    pub const fn of(number: u32) -> Self {
        match number {
            0 => Self::Inclusive,
            _ => Self::Exclusive,
        }
    }
}

/// What a launch is of a scan.
///
/// An array may be scanned part by part, in one launch after the other: the bits are those of one
/// launch if each part but the last is a whole number of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// What is given for an element.
    pub form: Form,
    /// Whether it goes on from where the launch before ended, which left that.
    pub goes_on: bool,
    /// Whether another launch is to go on from here.
    pub leaves: bool,
    /// Of two places, in which one the launch before left it: the second one? This launch leaves it in
    /// the other one, since blocks may still read that one.
    pub in_second: bool,
}

impl Mode {
    /// A whole array.
    #[must_use]
    pub const fn whole(form: Form) -> Self {
        Self {
            form,
            goes_on: false,
            leaves: false,
            in_second: false,
        }
    }

    /// The number that a kernel is told it by.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.form as u32
            | (self.goes_on as u32) << 1
            | (self.leaves as u32) << 2
            | (self.in_second as u32) << 3
    }

    /// The mode of this number.
    #[inline(always)]
    #[must_use]
    pub const fn of(number: u32) -> Self {
        Self {
            form: Form::of(number & 1),
            goes_on: number & 2 != 0,
            leaves: number & 4 != 0,
            in_second: number & 8 != 0,
        }
    }
}

/// What a launch of [`scan`] works in: nothing of it is the array's.
#[derive(Clone, Copy)]
pub struct Workspace {
    /// [`Shape::places`] words at least for an accumulator of 4 bytes, twice as many for one of 8.
    pub words: Global<u64>,
    /// [`STATE`] words: how many tiles have been given out, the stamp of the last launch, how many
    /// blocks have ended (counted in one launch of 2^32 − 1), and two places for what a launch leaves
    /// for the next.
    pub state: Global<u32>,
}

/// Words of the state.
pub const STATE: usize = CARRIES + 2 * 4;
const TICKET: usize = 0;
const STAMP: usize = 1;
const ENDED: usize = 2;
const CARRIES: usize = 3;

/// Scans `input` into `output`, element by element.
///
/// Called by every thread of a grid along x that is a [`Shape`]: `tiles` blocks of `warps` warps,
/// `rows` rows to a warp, `group` tiles to a group. For the order that is promised, it is the shape of
/// the input's length. `output` is as long as `input`; it is the same memory, for elements and
/// accumulators of one size, or memory apart. Nobody else writes `input` while the kernel runs. The
/// workspace is zeroed before the first launch, left as it is from one launch to the next, whatever
/// their lengths, and used by one launch at a time: by one type of accumulators where a launch goes on. The results are visible to what follows on the
/// stream. No co-residency needed.
///
/// Input or output that does not begin at a multiple of 16 bytes is read, or written, element by
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
    let arrays = (input, output);
    match const { most_rows::<O::Element, O::Accumulator>() } {
        1 => scan_by::<O, 1>(op, arrays, workspace, rows, group, mode),
        2 => scan_by::<O, 2>(op, arrays, workspace, rows, group, mode),
        4 => scan_by::<O, 4>(op, arrays, workspace, rows, group, mode),
        _ => scan_by::<O, 8>(op, arrays, workspace, rows, group, mode),
    }
}

/// The same, with registers for `ROWS` rows.
#[device]
fn scan_by<O: ScanOperation, const ROWS: usize>(
    op: O,
    (input, output): (Global<O::Element>, Global<O::Output>),
    Workspace { words, state }: Workspace,
    rows: u32,
    group: u32,
    mode: Mode,
) where
    [Places<O>; ROWS]: Pack<Places<O>>,
    [O::Accumulator; ROWS]: Pack<O::Accumulator>,
{
    let (at, tiles) = (Place::here(), thread::grid_dim_x());
    let (tile, stamp) = draw(state, tiles, at);
    let start = found(op, state, mode);
    let strip = tile as usize * at.warps as usize + at.warp as usize;
    let strip = Strip::new::<O::Element>(strip, rows, at.lane);
    let (mut held, total) = Held::<O, ROWS>::scan(op, strip.load(op, input));
    let (before, aggregate) = across_warps(op, total, at);
    held.warps = before;
    if mode.form == Form::Exclusive {
        held.shift(op, |row| strip.pack(row) as u64);
    }
    if tiles == 1 {
        if at.thread == 0 && mode.leaves {
            leave(state, mode, op.combine(start, aggregate));
        }
        return strip.store(op, output, held, start);
    }
    let tiles = Tiles {
        tile,
        tiles,
        group,
        values: Stamped {
            words,
            apart: 1,
            stamp,
        },
    };
    send(tiles, aggregate, at);
    let (prefix, next) = prefix(op, tiles, aggregate, start, mode.leaves, at);
    if mode.leaves && tiles.is_last() && at.thread == 0 {
        leave(state, mode, next);
    }
    strip.store(op, output, held, prefix);
    leave_for_next(tiles, state, at);
}

/// What lies before the array: what the launch before has left, if this one goes on.
#[device]
fn found<O: ScanOperation>(op: O, state: Global<u32>, mode: Mode) -> O::Accumulator {
    if !mode.goes_on {
        return op.identity();
    }
    let at = CARRIES + 4 * mode.in_second as usize;
    let half = |half| state.read(at + half);
    Carried::from_halves([half(0), half(1), half(2), half(3)])
}

/// Leaves what all up to the end of this launch combines to. By one thread.
#[device]
fn leave<T: Carried>(state: Global<u32>, mode: Mode, all: T) {
    let at = CARRIES + 4 * !mode.in_second as usize;
    let [a, b, c, d] = all.to_halves();
    state.write(at, a);
    state.write(at + 1, b);
    state.write(at + 2, c);
    state.write(at + 3, d);
}

/// Where a thread stands in its block, which lies along x.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) thread: u32,
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) threads: u32,
    pub(super) warps: u32,
}

impl Place {
    #[device]
    pub(super) fn here() -> Self {
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        Self {
            thread,
            warp: thread / WARP_SIZE,
            lane: thread % WARP_SIZE,
            threads,
            warps: threads / WARP_SIZE,
        }
    }
}

/// The number of this block's tile, and the stamp of this launch. By all threads of the block, with a
/// barrier of the block inside.
#[device]
pub(super) fn draw(state: Global<u32>, tiles: u32, at: Place) -> (u32, u32) {
    if tiles == 1 {
        return (0, 0);
    }
    let turn = gridsync_scan_turn();
    if at.thread == 0 {
        // Relaxed: it says whose turn it is, and carries nothing. The last one sets it back to 0.
        let tile = state.fetch_inc(TICKET, tiles - 1, Ordering::Relaxed, Scope::Device);
        let last = state.load(STAMP, Ordering::Relaxed, Scope::Device);
        turn.write(0, tile);
        turn.write(1, last + 1);
    }
    thread::sync_threads();
    (turn.read(0), turn.read(1))
}

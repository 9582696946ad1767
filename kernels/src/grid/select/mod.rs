//! Selects elements of an array, in order, by the whole grid in one launch: those that a predicate
//! keeps ([`select`]), and on request the others too, or the first of each run of equal elements
//! ([`unique`]).
//!
//! The two differ only in which elements they keep. The array is divided into tiles as for a
//! [scan](mod@super::scan), one per block. A block keeps its tile in registers. One bit per element
//! is set if it is kept, and a scan of the bits gives its index in the tile. The number of elements
//! that the earlier tiles keep arrives in the words of the scan, as the prefix of a sum. While
//! these words are in flight, the kept elements are moved to their slots in shared memory, and then
//! written to adjacent indices of the output.
//!
//! Reads every element once, and writes those that are kept once. The result depends only on the
//! input. `README.md` next to this file explains why waiting for other blocks is safe.

mod held;
mod predicate;
mod staged;
mod within;

pub use predicate::Predicate;
pub use within::{Comparable, Within};

use super::overlap::begin;
use super::scan::Shape;
use super::tiles::{Strip, Tiles, across_warps};
use super::workspace::Workspace;
use crate::block::ThreadPosition;
use crate::op::Sum;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_idx};
use held::{Held, ROWS, Ranks, most_rows};

/// Words of 32 bits in a count that a block sends: a workspace has this many words for each of the
/// [places](Shape::places) of a shape.
pub const WORDS: usize = 2;

/// The shape of a selection from `len` elements of `T`. It is the shape of a scan with few enough
/// rows: one word has a bit for each element of a lane.
///
/// # Panics
/// Same as for [`Shape::of`].
#[must_use]
pub fn shape<T: Scalar>(len: usize) -> Shape {
    match most_rows::<T>() {
        ROWS => Shape::of::<T, T>(len),
        // As many rows as for elements of twice the size.
        _ => Shape::of::<T, [T; 2]>(len),
    }
}

/// The most [`places`](Shape::places) of the [`shape`] of any array of up to `longest` elements.
///
/// # Panics
/// Same as for [`Shape::of`].
#[must_use]
pub fn most_places<T: Scalar>(longest: usize) -> usize {
    match most_rows::<T>() {
        ROWS => Shape::most_places::<T, T>(longest),
        _ => Shape::most_places::<T, [T; 2]>(longest),
    }
}

/// The outputs of a launch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outputs<T> {
    /// The kept elements, in order, starting at index 0. The rest of this view stays unchanged.
    pub kept: Global<T>,
    /// All others, in order; empty if not wanted.
    pub rest: Global<T>,
    /// The indices of the kept elements in the input; empty if not wanted.
    pub positions: Global<u64>,
    /// A single number: how many elements are kept.
    pub count: Global<u64>,
}

// SAFETY: `repr(C)` of four views, which are the same on both sides.
unsafe impl<T: Scalar> KernelArg for Outputs<T> {}

/// Writes the elements of `input` that `predicate` keeps to `outputs`.
///
/// Called by every thread of a grid along x that is the [`shape`] of the input's length: `tiles`
/// blocks of `warps` warps, `rows` rows per warp, `group` tiles per group. `kept`, and `rest` and
/// `positions` unless they are empty, are as long as the input, or at least as long as the data
/// written to them. No views overlap. Nothing else accesses the outputs, or writes `input`, while
/// the kernel runs. The workspace has [`WORDS`] words for each place. It is zeroed before the first
/// launch, left unchanged between launches of any lengths, and used by one launch at a time. Later
/// work on the stream sees the results. The blocks need not be co-resident. The launch may
/// [overlap](cuda_std::dependent) the kernel before it.
///
/// Input that does not begin at a multiple of 16 bytes is read element by element, more slowly;
/// outputs may begin anywhere.
#[device(protocol = "the selection")]
pub fn select<P: Predicate>(
    predicate: P,
    input: Global<P::Element>,
    outputs: Outputs<P::Element>,
    workspace: Workspace,
    rows: u32,
    group: u32,
) {
    compact(input, outputs, workspace, (rows, group), |held, _| {
        held.flags(|x, index| predicate.keeps(x, index as u64))
    });
}

/// Writes the first element of each run of equal elements of `input` to `outputs`. The `positions`
/// are the indices where the runs begin.
///
/// Equality is `==`, that of IEEE 754 for floating point: −0 equals +0, and a NaN equals nothing
/// and forms a separate run. Called like [`select`].
#[device(protocol = "the selection")]
pub fn unique<T: Scalar + PartialEq>(
    input: Global<T>,
    outputs: Outputs<T>,
    workspace: Workspace,
    rows: u32,
    group: u32,
) {
    compact(input, outputs, workspace, (rows, group), |held, lane| held.run_starts(input, lane));
}

/// Writes the elements whose [bit](held::flag) is set in the result of `flags`, which is called by
/// all lanes of a warp with the held tile and the lane's index.
#[device]
fn compact<T: Scalar>(
    input: Global<T>,
    outputs: Outputs<T>,
    workspace: Workspace,
    (rows, group): (u32, u32),
    flags: impl FnOnce(Held<T>, u32) -> u32,
) {
    begin();
    let at = ThreadPosition::here();
    let tiles = Tiles::draw(workspace, thread::grid_dim_x(), group, at);
    let strip = Strip::new::<T>(tiles.tile, rows, at);
    let held = Held::load(strip, input);
    let kept = flags(held, at.lane) & held.there;
    let ranks = Ranks::of::<T>(kept);
    let (before, count) = across_warps(Sum::<u32>::new(), ranks.total(), at);
    if !tiles.is_alone() {
        tiles.send(u64::from(count), at);
    }

    // While the counts of the earlier tiles are in flight.
    let tile = InArray::of::<T>(tiles.tile, rows, at, input.len());
    let element = |row: usize, place: usize| held.packs[row][place];
    staged::put::<T, _>(kept, ranks.after(before), element);
    if !outputs.rest.is_empty() {
        // After all that are kept.
        let rest = held.there & !kept;
        let before = (strip.start - tile.first) as u32 - before;
        let ranks = Ranks::of::<T>(rest).after(count + before);
        staged::put::<T, _>(rest, ranks, element);
    }
    let earlier = match tiles.is_alone() {
        true => 0,
        false => {
            let (earlier, _) = tiles.prefix(Sum::<u64>::new(), count.into(), 0, false, at);
            earlier
        }
    };
    thread::sync_threads();

    let (start, len) = (earlier as usize, count as usize);
    staged::take(0, outputs.kept.part(start, len), at);
    if !outputs.rest.is_empty() {
        let rest = outputs.rest.part(tile.first - start, tile.len - len);
        staged::take(count, rest, at);
    }
    if !outputs.positions.is_empty() {
        // The elements have been taken out of their slots.
        thread::sync_threads();
        // A shuffle of the lane's own flags hides them from the compiler: this makes it recompute
        // the ranks instead of keeping them in registers.
        let (kept, _) = warp_shuffle_idx(FULL_MASK, kept, at.lane, WARP_SIZE);
        let first = (strip.pack(0) - tile.first) as u32;
        let position = |row: usize, place: usize| first + (row * Shape::row::<T>() + place) as u32;
        staged::put::<T, _>(kept, Ranks::of::<T>(kept).after(before), position);
        thread::sync_threads();
        staged::take_positions(tile.first, outputs.positions.part(start, len), at);
    }
    if tiles.is_last() && at.thread == 0 {
        outputs.count.write(0, earlier + u64::from(count));
    }
    if !tiles.is_alone() {
        tiles.leave_for_next(workspace.state, at);
    }
}

/// The position of a tile in its array.
#[derive(Clone, Copy)]
struct InArray {
    first: usize,
    len: usize,
}

impl InArray {
    /// Tile `number` of an array of `len` elements of `T`.
    #[inline(always)]
    fn of<T: Scalar>(number: u32, rows: u32, at: ThreadPosition, len: usize) -> Self {
        let elements = (at.warps * rows) as usize * Shape::row::<T>();
        let first = number as usize * elements;
        Self { first, len: elements.min(len.saturating_sub(first)) }
    }
}

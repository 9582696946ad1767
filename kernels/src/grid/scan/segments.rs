//! The scan within segments: what [`scan`](super::scan()) by [`InSegments`] computes, to the bit.
//!
//! Where the segments start is a bit for each element of a lane, and not a part of each value: so
//! only values are shuffled, and a lane needs half the registers.

use super::tile::Places;
use super::{Form, Mode, ScanOperation, Strip, found, leave, most_rows};
use crate::block::ThreadPosition;
use crate::grid::overlap::begin;
use crate::grid::tiles::{Tiles, segmented_across_warps};
use crate::grid::workspace::Workspace;
use crate::op::{InSegments, Operation, Segment, Segments};
use crate::warp::Segmented;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Scans each of the `segments` of `input` into `output`, element by element, by `O`.
///
/// Called like [`scan`](super::scan()), with the [`Shape`](super::Shape) and the words for
/// [`InSegments`]: the result has the same bits.
#[device(protocol = "the scan")]
pub fn scan_segments<O: ScanOperation + Default>(
    segments: Segments,
    input: Global<O::Element>,
    output: Global<O::Output>,
    workspace: Workspace,
    rows: u32,
    group: u32,
    mode: Mode,
) {
    begin();
    let arrays = (input, output);
    match const { most_rows::<O::Element, Segment<O::Accumulator>>() } {
        1 => scan_by::<O, 1>(segments, arrays, workspace, rows, group, mode),
        2 => scan_by::<O, 2>(segments, arrays, workspace, rows, group, mode),
        4 => scan_by::<O, 4>(segments, arrays, workspace, rows, group, mode),
        _ => scan_by::<O, 8>(segments, arrays, workspace, rows, group, mode),
    }
}

/// [`scan_segments`] with registers for `ROWS` rows.
#[device]
fn scan_by<O: ScanOperation + Default, const ROWS: usize>(
    segments: Segments,
    (input, output): (Global<O::Element>, Global<O::Output>),
    workspace: Workspace,
    rows: u32,
    group: u32,
    mode: Mode,
) where
    [Places<O>; ROWS]: Pack<Places<O>>,
    [Segment<O::Accumulator>; ROWS]: Pack<Segment<O::Accumulator>>,
    [u32; ROWS]: Pack<u32>,
{
    let op = InSegments::<O>::new(segments);
    let at = ThreadPosition::here();
    let tiles = Tiles::draw(workspace, thread::grid_dim_x(), group, at);
    let start = found(op, workspace.state, mode);
    let strip = Strip::new::<O::Element>(tiles.tile, rows, at);
    let starts = Bits::of_starts::<O::Element, ROWS>(segments, strip, input.len());
    let loaded = strip.load(O::default(), input);
    let (mut held, total) = Held::<O, ROWS>::scan(op, loaded, starts, at.lane);
    let (before, aggregate) = segmented_across_warps(O::default(), total, at);
    if mode.form == Form::Exclusive {
        held.shift();
    }
    let held = held.in_tile(op, before);
    if tiles.is_alone() {
        if at.thread == 0 && mode.leaves {
            leave(workspace.state, mode, op.combine(start, aggregate));
        }
        return held.store(op, strip, output, start);
    }
    tiles.send(aggregate, at);
    let prefix = match tiles.previous(op.identity()) {
        // What comes before it does not count.
        Some(previous) if previous.starts => previous,
        _ => {
            let (prefix, next) = tiles.prefix(op, aggregate, start, mode.leaves, at);
            if mode.leaves && tiles.is_last() && at.thread == 0 {
                leave(workspace.state, mode, next);
            }
            prefix
        }
    };
    held.store(op, strip, output, prefix);
    tiles.leave_for_next(workspace.state, at);
}

/// A bit for each element of a lane: bit `PACK` × r + p for place p of row r.
#[derive(Clone, Copy)]
struct Bits(u32);

impl Bits {
    /// Where segments start among the elements of this lane in `strip` of an array of `len` elements
    /// of `T`. A row that does not exist and an element past the end start nothing.
    #[device]
    fn of_starts<T: Scalar, const ROWS: usize>(segments: Segments, strip: Strip, len: usize) -> Self
    where
        [u32; ROWS]: Pack<u32>,
    {
        let marks = if strip.is_whole(len) { segments.marks_from(strip.pack(0)) } else { None };
        let rows: [u32; ROWS] =
            match marks {
                // A row has as many words as a pack has elements.
                Some((marks, shift)) => Pack::from_fn(|row| {
                    if row < strip.rows { marks.read(row * T::PACK) >> shift } else { 0 }
                }),
                None => Pack::from_fn(|row| {
                    let first = strip.pack(row);
                    if row >= strip.rows || first >= len {
                        return 0;
                    }
                    let there = T::PACK.min(len - first) as u32;
                    segments.starts_of_pack::<T>(first as u64) & (u32::MAX >> (u32::BITS - there))
                }),
            };
        let mut starts = 0;
        rows.for_each(|row, bits| starts |= (bits & ((1 << T::PACK) - 1)) << (T::PACK * row));
        Self(starts)
    }

    /// The bits of a row, of elements of `T`.
    #[inline(always)]
    fn of_row<T: Scalar>(self, row: usize) -> u32 {
        self.0 >> (T::PACK * row) & ((1 << T::PACK) - 1)
    }

    /// The bit of `place` of a row.
    #[inline(always)]
    fn is_at<T: Scalar>(self, row: usize, place: usize) -> bool {
        self.0 >> (T::PACK * row + place) & 1 != 0
    }

    /// Whether a bit of a row is set up to that of `place`.
    #[inline(always)]
    fn are_up_to<T: Scalar>(self, row: usize, place: usize) -> bool {
        self.of_row::<T>(row) & ((2 << place) - 1) != 0
    }
}

/// A lane's share of a tile: a pack of each row of its warp.
struct Held<O: ScanOperation, const ROWS: usize> {
    /// For each element, the combined value of the pack since the last start up to it.
    packs: [Places<O>; ROWS],
    starts: Bits,
    /// What is before each pack in the warp.
    before: [Segment<O::Accumulator>; ROWS],
}

impl<O: ScanOperation + Default, const ROWS: usize> Held<O, ROWS>
where
    [Places<O>; ROWS]: Pack<Places<O>>,
    [Segment<O::Accumulator>; ROWS]: Pack<Segment<O::Accumulator>>,
{
    /// Scans the packs that the lanes of a warp have loaded of a strip, as if nothing came before
    /// the strip. Also returns the strip's combined value. Called by all lanes of the warp.
    #[device]
    fn scan(
        op: InSegments<O>,
        loaded: [Places<O>; ROWS],
        starts: Bits,
        lane: u32,
    ) -> (Self, Segment<O::Accumulator>) {
        let own = O::default();
        let packs: [Places<O>; ROWS] = Pack::from_fn(|row| {
            let mut all = loaded[row][0];
            Pack::from_fn(|place| {
                let x = loaded[row][place];
                if place > 0 {
                    all = if starts.is_at::<O::Element>(row, place) {
                        x
                    } else {
                        own.combine(all, x)
                    };
                }
                all
            })
        });
        let mut rows = op.identity();
        let before = Pack::from_fn(|row| {
            let value = packs[row][O::Element::PACK - 1];
            let pack = Segment { starts: starts.of_row::<O::Element>(row) != 0, value };
            let lanes = Segmented::of(own, pack, lane);
            let before = op.combine(rows, lanes.before(own, lane));
            rows = op.combine(rows, lanes.total());
            before
        });
        (Self { packs, starts, before }, rows)
    }

    /// Makes it exclusive: each position of a pack gets the value before it, and the identity where
    /// a segment starts.
    #[inline(always)]
    fn shift(&mut self) {
        let (packs, none) = (self.packs, O::default().identity());
        self.packs = Pack::from_fn(|row| {
            Pack::from_fn(|place| {
                if place == 0 || self.starts.is_at::<O::Element>(row, place) {
                    none
                } else {
                    packs[row][place - 1]
                }
            })
        });
    }

    /// The values in the tile, where `warps` is what is before the warp in it.
    #[device]
    fn in_tile(self, op: InSegments<O>, warps: Segment<O::Accumulator>) -> InTile<O, ROWS> {
        let mut begun = 0;
        let packs = Pack::from_fn(|row| {
            let before = op.combine(warps, self.before[row]);
            Pack::from_fn(|place| {
                let starts = self.starts.are_up_to::<O::Element>(row, place);
                let value = self.packs[row][place];
                let all = op.combine(before, Segment { starts, value });
                begun |= u32::from(all.starts) << (O::Element::PACK * row + place);
                all.value
            })
        });
        InTile { packs, begun: Bits(begun) }
    }
}

/// The values of a lane, as if nothing came before the tile.
struct InTile<O: ScanOperation, const ROWS: usize> {
    packs: [Places<O>; ROWS],
    /// The elements whose segments start in the tile.
    begun: Bits,
}

impl<O: ScanOperation + Default, const ROWS: usize> InTile<O, ROWS>
where
    [Places<O>; ROWS]: Pack<Places<O>>,
{
    /// Writes the results, where `prefix` is what is before the tile.
    #[device]
    fn store(
        self,
        op: InSegments<O>,
        strip: Strip,
        output: Global<O::Output>,
        prefix: Segment<O::Accumulator>,
    ) {
        let by_packs = strip.writes_packs::<O>(output);
        self.packs.for_each(|row, pack| {
            let results = Pack::from_fn(|place| {
                let starts = self.begun.is_at::<O::Element>(row, place);
                op.finish(op.combine(prefix, Segment { starts, value: pack[place] }))
            });
            strip.store_row::<O>(output, row, results, by_packs);
        });
    }
}

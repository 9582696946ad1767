//! The scan of each row of a matrix, all in one launch. A row gets the same bits as if
//! [`scan`](super::scan()) scanned it alone.
//!
//! * A row of at most 32 packs, one per lane of a warp, is **short**. It has as many lanes as packs,
//!   rounded up to a power of two. So few lanes are idle, however short the rows are.
//! * A **middle** row, of at most [`MIDDLE_TILES`] small tiles, has a warp, which goes through its
//!   tiles. It holds a tile in registers, so as many bytes are in flight as in a scan of large tiles,
//!   and it waits for no other warp. If a row has at most half a tile, a warp scans several.
//! * A **long** row gets the grid that it would have alone, next to the grids of the other rows. So
//!   do middle rows, if they are too few to keep the GPU busy with a warp each.
//!
//! 2^28 f32 in rows of 4 to 2^16 take 524 to 575 µs, a copy 505. Rows of 17 and 1001, which begin at
//! any element, take 755 and 685, and rows of 132, for which most lanes of every other strip are
//! idle, 699. With the grid of a long row, rows of 1024 took 1791, because a small tile has a pack per
//! lane, and rows of 2^20 take 821 (an H200, 2026-11-29).
//!
//! Rows that do not begin at multiples of 16 bytes are read and written element by element.

use super::tile::{Held, Places, lift, write_packs};
use super::{Form, Mode, ScanOperation, scan};
use crate::block::ThreadPosition;
use crate::grid::overlap::begin;
use crate::grid::reduce::is_aligned;
use crate::grid::tiles::{self, MOST_GROUP, MOST_WARPS};
use crate::grid::workspace::Workspace;
use crate::op::{Carried, Operation};
use crate::warp::{self, before_among, scan_among};
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Packs of short rows that a lane loads together.
// Other numbers have not been measured.
const AT_ONCE: usize = 4;

/// Strips of a small tile, which has one row of packs in each.
const STRIPS: usize = MOST_WARPS as usize;

/// The most tiles of a middle row.
pub const MIDDLE_TILES: u32 = 1 << LEVELS;
const LEVELS: usize = 8;
const _: () = assert!(MIDDLE_TILES <= MOST_GROUP, "a middle row is one group");

/// The strips of a middle row in a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowStrips {
    /// Log2 of their number: 0 to 3.
    pub log: u32,
}

impl RowStrips {
    /// The strips for rows of `columns` elements of `T`. Longer rows have several tiles of 8.
    #[must_use]
    pub fn of<T: Scalar>(columns: usize) -> Self {
        let strips = columns.div_ceil(T::PACK * WARP_SIZE as usize).clamp(1, STRIPS);
        Self { log: strips.next_power_of_two().ilog2() }
    }

    /// Rows that a warp scans: 1 to 8.
    #[must_use]
    pub const fn rows(self) -> usize {
        STRIPS >> self.log
    }

    /// The row of a strip of the warp.
    #[inline(always)]
    const fn row(self, strip: usize) -> usize {
        strip >> self.log
    }

    /// The index of a strip of the warp in its row.
    #[inline(always)]
    const fn in_row(self, strip: usize) -> usize {
        strip & ((1 << self.log) - 1)
    }
}

/// Words of the state of each row, in the workspace of [`scan_long_rows`].
pub const ROW_STATE: usize = tiles::STATE;

/// The lanes of a short row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLanes {
    /// Log2 of their number: 0 to 5.
    pub log: u32,
}

impl RowLanes {
    /// The lanes for rows of `columns` elements of `T`; `None` if these are long.
    #[must_use]
    pub fn of<T: Scalar>(columns: usize) -> Option<Self> {
        let packs = columns.div_ceil(T::PACK).max(1);
        let log = packs.next_power_of_two().ilog2();
        (packs <= WARP_SIZE as usize).then_some(Self { log })
    }

    /// Rows that a warp scans: 4 to 128.
    #[must_use]
    pub const fn rows(self) -> usize {
        AT_ONCE * self.rows_at_once()
    }

    const fn rows_at_once(self) -> usize {
        WARP_SIZE as usize >> self.log
    }
}

/// Scans each row of `columns` elements of `input` into `output`. For short rows.
///
/// Called by every thread of a grid along x, of whole warps, at least one per `lanes.rows()` rows.
/// `lanes` is [`RowLanes::of`] the columns, of which there is at least one. Both views hold all rows
/// consecutively and have one length. They do not overlap, or are the same memory if elements and
/// results have the same size. Nothing else writes `input` while the kernel runs. Later work on the
/// stream sees the results. Needs no barrier, shared memory or co-residency. The launch may
/// [overlap](cuda_std::dependent) the kernel before it.
#[device]
pub fn scan_short_rows<O: ScanOperation>(
    op: O,
    input: Global<O::Element>,
    output: Global<O::Output>,
    columns: u32,
    lanes: RowLanes,
    form: Form,
) {
    begin();
    let (at, columns, width) = (ThreadPosition::here(), columns as usize, O::Element::PACK);
    let number = thread::block_idx_x() as usize * at.warps as usize + at.warp as usize;
    let first = number * lanes.rows();
    // The whole warp returns together, because its lanes shuffle below.
    if first * columns >= input.len() {
        return;
    }
    let lanes_of_row = 1 << lanes.log;
    let lane = at.lane & (lanes_of_row - 1);
    let place = lane as usize * width;
    let in_warp = (at.lane >> lanes.log) as usize;
    let start = |row: usize| (first + row * lanes.rows_at_once() + in_warp) * columns;
    // A lane loads what it stores and nothing else: the output may be the same memory.
    let is_there = |row, i| place + i < columns && start(row) < input.len();
    let by_packs = is_aligned(input, columns);
    let none = op.identity();
    let loaded: [Places<O>; AT_ONCE] = if by_packs {
        let read = |row| input.read_pack(start(row) + place, CacheHint::Streaming);
        Pack::from_fn(|row| match is_there(row, 0) {
            true => lift(op, read(row), place),
            false => Pack::splat(none),
        })
    } else {
        let read = |row, i| input.read(start(row) + place + i);
        Pack::from_fn(|row| {
            Pack::from_fn(|i| match is_there(row, i) {
                true => op.lift(read(row, i), (place + i) as u64),
                false => none,
            })
        })
    };
    let packs = Held::<O, AT_ONCE>::packs(op, loaded);
    let scanned = scan_among(op, Held::<O, AT_ONCE>::totals(packs), lane, lanes_of_row);
    let before = Pack::from_fn(|row| before_among(op, scanned[row], lane, lanes_of_row));
    let mut held = Held::of(op, packs, before);
    if form == Form::Exclusive {
        held.shift(op, |_| place as u64);
    }
    let narrows = size_of::<O::Output>() < size_of::<O::Element>();
    let by_packs = by_packs && !narrows && output.unaligned_head() == 0;
    held.results(op, op.identity(), |row, results| {
        let at = start(row) + place;
        if by_packs {
            if is_there(row, 0) {
                write_packs::<O>(output, at, results);
            }
            return;
        }
        results.for_each(|i, result| {
            if is_there(row, i) {
                output.write(at + i, result);
            }
        });
    });
}

/// Scans each row of `columns` elements of `input` into `output`. For middle rows.
///
/// Called by every thread of a grid along x, of whole warps, at least one per `strips.rows()` rows.
/// `strips` is [`RowStrips::of`] the columns. The [`Shape`](super::Shape) of the columns has at most
/// [`MIDDLE_TILES`] tiles of 8 warps with one row. Otherwise the same as for [`scan_short_rows`].
#[device]
pub fn scan_middle_rows<O: ScanOperation>(
    op: O,
    input: Global<O::Element>,
    output: Global<O::Output>,
    columns: u32,
    strips: RowStrips,
    form: Form,
) {
    begin();
    let (at, columns) = (ThreadPosition::here(), columns as usize);
    let number = thread::block_idx_x() as usize * at.warps as usize + at.warp as usize;
    let start = number * strips.rows() * columns;
    // The whole warp returns together, because its lanes shuffle below.
    if start >= input.len() {
        return;
    }
    let reads_packs = is_aligned(input, columns);
    let narrows = size_of::<O::Output>() < size_of::<O::Element>();
    let writes_packs = reads_packs && !narrows && output.unaligned_head() == 0;
    let len = (strips.rows() * columns).min(input.len() - start);
    let (input, output) = (input.part(start, len), output.part(start, len));
    let rows = MiddleRows::<O> { input, output, columns, reads_packs, writes_packs, form };
    let (mut first, tile) = (at.lane as usize * O::Element::PACK, MiddleRows::<O>::TILE);
    if columns <= tile {
        rows.scan_tile(op, first, strips, op.identity());
        return;
    }
    // The compiler knows the strips of a row with several tiles.
    let strips = RowStrips { log: STRIPS.ilog2() };
    let mut tiles = Before { blocks: Pack::splat(op.identity()), count: 0 };
    // The same number of turns for all lanes.
    while first - at.lane as usize * O::Element::PACK < columns {
        let aggregate = rows.scan_tile(op, first, strips, tiles.combined(op));
        tiles.push(op, aggregate);
        first += tile;
    }
}

/// The middle rows of a warp.
struct MiddleRows<O: ScanOperation> {
    input: Global<O::Element>,
    output: Global<O::Output>,
    columns: usize,
    reads_packs: bool,
    writes_packs: bool,
    form: Form,
}

impl<O: ScanOperation> MiddleRows<O> {
    /// Elements of a tile.
    const TILE: usize = STRIPS * WARP_SIZE as usize * O::Element::PACK;

    /// Scans a tile of which this lane's first element is at `first` of its row, after elements with
    /// the combined value `prefix`. Returns the aggregate of the last row. Called by all lanes of the
    /// warp.
    #[device]
    fn scan_tile(
        &self,
        op: O,
        first: usize,
        strips: RowStrips,
        prefix: O::Accumulator,
    ) -> O::Accumulator {
        let Self { input, output, columns, reads_packs, writes_packs, form } = *self;
        let row = |strip| strips.row(strip) * columns;
        let place = |strip| first + strips.in_row(strip) * WARP_SIZE as usize * O::Element::PACK;
        let is_there = |strip, i| place(strip) + i < columns && row(strip) < input.len();
        let loaded: [Places<O>; STRIPS] = if reads_packs {
            let read = |strip| input.read_pack(row(strip) + place(strip), CacheHint::Streaming);
            Pack::from_fn(|strip| {
                if is_there(strip, 0) {
                    lift(op, read(strip), place(strip))
                } else {
                    Pack::splat(op.identity())
                }
            })
        } else {
            let read = |strip, i| input.read(row(strip) + place(strip) + i);
            Pack::from_fn(|strip| {
                Pack::from_fn(|i| {
                    if is_there(strip, i) {
                        op.lift(read(strip, i), (place(strip) + i) as u64)
                    } else {
                        op.identity()
                    }
                })
            })
        };
        let (mut held, aggregate) = tile_of_warp(op, loaded, strips);
        if form == Form::Exclusive {
            held.shift(op, |strip| place(strip) as u64);
        }
        held.results(op, prefix, |strip, results| {
            let at = row(strip) + place(strip);
            if writes_packs {
                if is_there(strip, 0) {
                    write_packs::<O>(output, at, results);
                }
                return;
            }
            results.for_each(|i, result| {
                if is_there(strip, i) {
                    output.write(at + i, result);
                }
            });
        });
        aggregate
    }
}

/// The scans of the rows in a small tile whose strips are all held by one warp, and the aggregate of
/// the last row. Called by all lanes of the warp.
#[device]
fn tile_of_warp<O: ScanOperation>(
    op: O,
    loaded: [Places<O>; STRIPS],
    of_row: RowStrips,
) -> (Held<O, STRIPS>, O::Accumulator) {
    let packs = Held::<O, STRIPS>::packs(op, loaded);
    let scanned = warp::scan_each(op, Held::<O, STRIPS>::totals(packs));
    let totals: [_; STRIPS] = Pack::from_fn(|strip| warp::total(scanned[strip]));
    // The scan of a warp over the totals of each row, which all lanes have.
    let step = |values: [O::Accumulator; STRIPS], distance: usize| -> [_; STRIPS] {
        Pack::from_fn(|strip| {
            if of_row.in_row(strip) >= distance {
                op.combine(values[strip - distance], values[strip])
            } else {
                values[strip]
            }
        })
    };
    let strips = step(step(step(totals, 1), 2), 4);
    let before = Pack::from_fn(|strip| {
        let is_first = of_row.in_row(strip) == 0;
        let strips = if is_first { op.identity() } else { strips[strip - 1] };
        op.combine(strips, warp::before(op, scanned[strip]))
    });
    (Held::of(op, packs, before), strips[STRIPS - 1])
}

/// The balanced binary tree over the tiles so far: a block of 2^l tiles at level l, if bit l of their
/// number is set.
struct Before<A> {
    blocks: [A; LEVELS],
    count: u32,
}

impl<A: Carried> Before<A> {
    /// The combined value of all tiles, with the identity for missing ones: the largest block is
    /// combined last.
    #[device]
    fn combined<O: Operation<Accumulator = A>>(&self, op: O) -> A {
        let mut all = op.identity();
        self.blocks.for_each(|level, block| {
            if self.count >> level & 1 != 0 {
                all = op.combine(block, all);
            }
        });
        all
    }

    /// Adds the next tile. Blocks of one size become one of twice the size.
    #[device]
    fn push<O: Operation<Accumulator = A>>(&mut self, op: O, aggregate: A) {
        let free = self.count.trailing_ones() as usize;
        let mut all = aggregate;
        self.blocks = Pack::from_fn(|level| {
            let block = self.blocks[level];
            if level < free {
                all = op.combine(block, all);
            }
            if level == free { all } else { block }
        });
        self.count += 1;
    }
}

/// Scans each row of `columns` elements of `input` into `output`. For long rows.
///
/// Called by every thread of a grid. Along x it is the [`Shape`](super::Shape) of `columns`, whose
/// `rows` and `group` it gets; y and z together have at least one block per row, of `warps` warps.
/// Both views hold all rows consecutively. The workspace has, for each row, [`ROW_STATE`] words of
/// state and an accumulator's words for each of the shape's [places](super::Shape::places).
/// Otherwise the same as for [`scan`](super::scan()).
#[device(protocol = "the scan")]
pub fn scan_long_rows<O: ScanOperation>(
    op: O,
    input: Global<O::Element>,
    output: Global<O::Output>,
    Workspace { words, state }: Workspace,
    columns: usize,
    (rows, group): (u32, u32),
    form: Form,
) {
    let row = thread::block_idx_z() as usize * thread::grid_dim_y() as usize
        + thread::block_idx_y() as usize;
    let start = row * columns;
    if start >= input.len() {
        return;
    }
    let tiles = thread::grid_dim_x();
    let each = (tiles + tiles.div_ceil(group)) as usize * O::Accumulator::WORDS;
    let of_row = Workspace {
        words: words.part(row * each, each),
        state: state.part(row * ROW_STATE, ROW_STATE),
    };
    let (input, output) = (input.part(start, columns), output.part(start, columns));
    scan(op, input, output, of_row, rows, group, Mode::whole(form));
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn a_short_row_has_a_lane_for_each_of_its_packs() {
        let lanes = |columns| RowLanes::of::<f32>(columns).map(|lanes| 1 << lanes.log);
        assert_eq!(lanes(1), Some(1));
        assert_eq!(lanes(4), Some(1));
        assert_eq!(lanes(5), Some(2));
        assert_eq!(lanes(9), Some(4));
        assert_eq!(lanes(128), Some(32));
        assert_eq!(lanes(129), None);
        assert_eq!(RowLanes::of::<f64>(65), None);
        assert_eq!(RowLanes { log: 5 }.rows(), 4);
        assert_eq!(RowLanes { log: 0 }.rows(), 128);
    }

    #[test]
    fn a_warp_scans_several_rows_of_half_a_tile() {
        let rows = |columns| RowStrips::of::<f32>(columns).rows();
        assert_eq!([129, 256, 257, 512, 513, 1 << 18].map(rows), [4, 4, 2, 2, 1, 1]);
        assert_eq!(RowStrips::of::<f64>(128).rows(), 4);
    }
}

//! The scan of each row of a matrix: bit-identical to a [`Scan`] by [`InSegments`], but several
//! times as fast. The starts of rows are counted instead of being queried for each element, and
//! between them the elements are combined as if rows did not exist.

use super::reduce::take_all;
use super::scan::{Blocks, LANES, Scan, lanes_before, scan_lanes};
use crate::memory::{self, NoRoom};
use crate::parallel::{self, CHUNK};
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::scan::{Form, ScanOperation, Shape};
use gridsync_kernels::op::{InSegments, Operation, Segment, Segments};
use std::mem::replace;

/// A scan by `O` of each row of a matrix that is passed part by part. The results are bit-identical
/// to a [`Scan`] by [`InSegments`] of the whole matrix.
pub struct RowScan<O: ScanOperation + Default> {
    op: O,
    columns: u64,
    form: Form,
    shape: Shape,
    /// The combined value of the elements before the next one; before the next group, unless the
    /// operation is exact.
    before: Segment<O::Accumulator>,
    /// The index of the next element.
    next: u64,
    /// The tiles of the current group.
    group: Blocks<InSegments<O>>,
    /// For each tile of a part, the results within the tile of the elements before the first start
    /// of a row.
    heads: Vec<O::Accumulator>,
}

impl<O: ScanOperation + Default> RowScan<O> {
    /// A scan of the rows of `columns` elements of a matrix of `len` elements.
    ///
    /// # Errors
    /// [`NoRoom`] for the accumulators of a few tiles, or of all elements if they are fewer.
    ///
    /// # Panics
    /// If `columns` is 0.
    pub fn new(len: usize, columns: usize, form: Form) -> Result<Self, NoRoom> {
        let segments = InSegments::<O>::new(Segments::rows(columns as u64));
        let shape = Shape::of::<O::Element, Segment<O::Accumulator>>(len);
        let mut heads = Vec::new();
        if !O::EXACT {
            let few = Scan::<InSegments<O>>::AT_ONCE * shape.tile::<O::Element>();
            memory::reserve(&mut heads, len.min(few))?;
        }
        Ok(Self {
            op: O::default(),
            columns: columns as u64,
            form,
            shape,
            before: segments.identity(),
            next: 0,
            group: Blocks::of(segments, shape.group, 0),
            heads,
        })
    }

    /// Elements of a tile in a scan of `len` elements. Parts are multiples of it.
    #[must_use]
    pub fn tile(len: usize) -> usize {
        Scan::<InSegments<O>>::tile(len)
    }

    /// Continues at element `index`, where a tile starts. The results of rows that start before it
    /// are meaningless, because the combined value of the preceding elements is not known.
    pub(super) fn go_to(&mut self, index: usize) {
        let segments = InSegments::<O>::new(Segments::rows(self.columns));
        let tiles = index / self.shape.tile::<O::Element>();
        let in_group = tiles as u64 % u64::from(self.shape.group);
        self.before = segments.identity();
        self.group = Blocks::of(segments, self.shape.group, in_group as u32);
        self.next = index as u64;
    }

    /// Scans the next elements, and writes a result for each. Unless the operation is exact or this
    /// is the last part, their number is a multiple of a [tile](Self::tile); they need not be whole
    /// rows.
    ///
    /// # Panics
    /// If the numbers of results and elements differ.
    pub fn next(&mut self, input: &[O::Element], output: &mut [O::Output]) {
        assert_eq!(input.len(), output.len(), "a result for each element");
        if O::EXACT {
            self.next_by_chunks(input, output);
            return;
        }
        let few = Scan::<InSegments<O>>::AT_ONCE * self.shape.tile::<O::Element>();
        for (input, output) in input.chunks(few).zip(output.chunks_mut(few)) {
            match self.form {
                Form::Inclusive => self.next_tiles::<false>(input, output),
                Form::Exclusive => self.next_tiles::<true>(input, output),
            }
        }
    }

    /// Scans from the first element to the last. The ends of the cores' chunks that the next chunk
    /// needs are reduced first.
    fn next_by_chunks(&mut self, input: &[O::Element], output: &mut [O::Output]) {
        let (op, form, columns, start) = (self.op, self.form, self.columns, self.next);
        let mut before = parallel::map_chunks(input.len(), CHUNK, &move |chunk| {
            let (first, end) = (start + chunk.start as u64, start + chunk.end as u64);
            // The last row that starts in the chunk or right behind it.
            let row = end / columns * columns;
            let counts = first.max(row);
            let value = take_all(op, &input[(counts - start) as usize..chunk.end], counts);
            Segment { starts: row >= first, value }
        });
        for total in &mut before {
            let with_chunk = combine(op, self.before, *total);
            *total = replace(&mut self.before, with_chunk);
        }
        let chunks = input.chunks(CHUNK).zip(output.chunks_mut(CHUNK)).zip(before);
        parallel::for_each(chunks, &move |number, ((mut input, mut output), before)| {
            let (mut all, mut index) = (before.value, start + (number * CHUNK) as u64);
            while !input.is_empty() {
                if index.is_multiple_of(columns) {
                    all = op.identity();
                }
                let left = (columns - index % columns).min(input.len() as u64) as usize;
                let (row, rest) = input.split_at(left);
                let (results, others) = output.split_at_mut(left);
                all = scan_piece(op, form, all, row, index, results);
                (input, output, index) = (rest, others, index + left as u64);
            }
        });
        self.next += input.len() as u64;
    }

    /// Scans a few tiles. The last tile of the matrix may be shorter.
    fn next_tiles<const EXCLUSIVE: bool>(
        &mut self,
        input: &[O::Element],
        output: &mut [O::Output],
    ) {
        let (op, columns, shape, start) = (self.op, self.columns, self.shape, self.next);
        let segments = InSegments::<O>::new(Segments::rows(columns));
        let tile = shape.tile::<O::Element>();
        // There is room, and the contents from earlier tiles are overwritten.
        self.heads.resize(input.len(), op.identity());
        let mut prefixes = vec![segments.identity(); input.len().div_ceil(tile)];
        let tiles = input.chunks(tile).zip(output.chunks_mut(tile));
        let tiles = tiles.zip(self.heads.chunks_mut(tile)).zip(&mut prefixes);
        let first_of = move |number: usize| start + (number * tile) as u64;
        parallel::for_each(tiles, &move |number, (((input, output), heads), aggregate)| {
            let tile = Tile { op, columns, shape, input, first: first_of(number) };
            *aggregate = tile.scan::<EXCLUSIVE>(heads, output);
        });
        self.group.take(segments, &mut self.before, &mut prefixes);
        let tiles = output.chunks_mut(tile).zip(self.heads.chunks(tile)).zip(prefixes);
        parallel::for_each(tiles, &move |number, ((output, heads), prefix)| {
            let head = before_a_start(first_of(number), columns, output.len());
            for (result, &in_tile) in output[..head].iter_mut().zip(heads) {
                *result = op.finish(op.combine(prefix.value, in_tile));
            }
        });
        self.next += input.len() as u64;
    }
}

/// Combines two adjacent pieces of a matrix.
#[inline(always)]
fn combine<O: Operation>(
    op: O,
    a: Segment<O::Accumulator>,
    b: Segment<O::Accumulator>,
) -> Segment<O::Accumulator> {
    let value = if b.starts { b.value } else { op.combine(a.value, b.value) };
    Segment { starts: a.starts || b.starts, value }
}

/// The number of the `len` elements starting at `index` that come before the start of a row.
#[inline]
fn before_a_start(index: u64, columns: u64, len: usize) -> usize {
    let left = index.next_multiple_of(columns) - index;
    left.min(len as u64) as usize
}

/// Scans a piece of a row after elements that combine to `all`. Returns the combined value
/// including the piece.
#[inline]
fn scan_piece<O: ScanOperation>(
    op: O,
    form: Form,
    mut all: O::Accumulator,
    input: &[O::Element],
    first: u64,
    output: &mut [O::Output],
) -> O::Accumulator {
    let elements = input.iter().zip(first..).zip(output);
    match form {
        Form::Inclusive => {
            for ((&x, index), result) in elements {
                all = op.take(all, x, index);
                *result = op.finish(all);
            }
        }
        Form::Exclusive => {
            for ((&x, index), result) in elements {
                *result = op.finish(all);
                all = op.take(all, x, index);
            }
        }
    }
    all
}

/// A tile of the matrix.
struct Tile<'a, O: Operation> {
    op: O,
    columns: u64,
    shape: Shape,
    input: &'a [O::Element],
    /// The index of its first element in the matrix.
    first: u64,
}

/// The combined values of the packs of a row of lanes, or of the packs before them, and whether a
/// row of the matrix starts in them.
type Packs<A> = ([A; LANES], [bool; LANES]);

impl<O: ScanOperation + Default> Tile<'_, O> {
    /// Elements of a row of lanes.
    const ROW: usize = LANES * O::Element::PACK;

    /// Scans the tile on its own. Writes the results of elements before the first start of a row to
    /// `heads`, and all others to `output`. Returns the aggregate.
    fn scan<const EXCLUSIVE: bool>(
        &self,
        heads: &mut [O::Accumulator],
        output: &mut [O::Output],
    ) -> Segment<O::Accumulator> {
        let op = self.op;
        let segments = InSegments::<O>::new(Segments::rows(self.columns));
        let strip = self.shape.strip::<O::Element>();
        // For each pack, the combined value before it in its strip.
        let mut before = Vec::with_capacity(self.input.len().div_ceil(Self::ROW));
        let strips = self.input.chunks(strip).zip((self.first..).step_by(strip));
        let totals = strips.map(|(strip, first)| self.strip(strip, first, &mut before));
        let warps = scan_lanes(segments, totals);
        let head = before_a_start(self.first, self.columns, self.input.len());
        for (number, (values, starts)) in before.into_iter().enumerate() {
            let at = number * Self::ROW;
            let row = &self.input[at..self.input.len().min(at + Self::ROW)];
            let warp = lanes_before(segments, &warps, at / strip);
            let mut all = values;
            for lane in 0..LANES {
                all[lane] =
                    if starts[lane] { values[lane] } else { op.combine(warp.value, values[lane]) };
            }
            let end = at + row.len();
            let start = self.first + at as u64;
            let left = before_a_start(start, self.columns, row.len());
            if end <= head {
                let same = |x: O::Accumulator| x;
                let heads = &mut heads[at..end];
                plain_results::<O, EXCLUSIVE, _>(op, row, start, &all, same, heads);
            } else if left == row.len() || self.packs_start_rows() && at >= head {
                for (before, starts) in all.iter_mut().zip(self.starts(start, row.len())) {
                    if starts {
                        *before = op.identity();
                    }
                }
                let finish = |x: O::Accumulator| op.finish(x);
                let output = &mut output[at..end];
                plain_results::<O, EXCLUSIVE, _>(op, row, start, &all, finish, output);
            } else {
                self.results::<EXCLUSIVE>(at..end, &all, head, heads, output);
            }
        }
        warps[LANES - 1]
    }

    /// Combines the elements of a strip, which starts at element `first` of the matrix. Appends to
    /// `before`, for each of its rows of lanes, the combined values before each pack in the strip.
    fn strip(
        &self,
        strip: &[O::Element],
        first: u64,
        before: &mut Vec<Packs<O::Accumulator>>,
    ) -> Segment<O::Accumulator> {
        let op = self.op;
        let mut rows = Segment { starts: false, value: op.identity() };
        for (row, first) in strip.chunks(Self::ROW).zip((first..).step_by(Self::ROW)) {
            let is_plain = before_a_start(first, self.columns, row.len()) == row.len();
            let (lanes, starts) = if is_plain {
                (scan_plain_lanes(op, plain_totals(op, row, first)), [false; LANES])
            } else {
                scan_marked_lanes(op, self.totals(row, first))
            };
            let mut values = [op.combine(rows.value, op.identity()); LANES];
            let mut flags = [rows.starts; LANES];
            for lane in 1..LANES {
                let (value, is_start) = (lanes[lane - 1], starts[lane - 1]);
                values[lane] = if is_start { value } else { op.combine(rows.value, value) };
                flags[lane] |= is_start;
            }
            before.push((values, flags));
            let last = Segment { starts: starts[LANES - 1], value: lanes[LANES - 1] };
            rows = combine(op, rows, last);
        }
        rows
    }

    /// Whether each row of the matrix starts at the first element of a pack, so that packs are
    /// combined as if rows did not exist.
    fn packs_start_rows(&self) -> bool {
        self.columns.is_multiple_of(O::Element::PACK as u64)
    }

    /// Whether a row of the matrix starts at the first element of each pack, for a row of lanes of
    /// `len` elements.
    fn starts(&self, first: u64, len: usize) -> [bool; LANES] {
        let mut starts = [false; LANES];
        let mut next = before_a_start(first, self.columns, len);
        while next < len {
            starts[next / O::Element::PACK] = true;
            next = next.saturating_add(self.columns as usize);
        }
        starts
    }

    /// The combined value of each pack of a row of lanes.
    fn totals(&self, row: &[O::Element], first: u64) -> Packs<O::Accumulator> {
        let op = self.op;
        if self.packs_start_rows() {
            return (plain_totals(op, row, first), self.starts(first, row.len()));
        }
        let (mut values, mut starts) = ([op.identity(); LANES], [false; LANES]);
        let mut next = first.next_multiple_of(self.columns);
        let mut index = first;
        for (lane, pack) in row.chunks(O::Element::PACK).enumerate() {
            for &x in pack {
                let lifted = op.lift(x, index);
                if index == next {
                    (values[lane], starts[lane]) = (lifted, true);
                    next += self.columns;
                } else {
                    values[lane] = op.combine(values[lane], lifted);
                }
                index += 1;
            }
        }
        (values, starts)
    }

    /// The results of the elements at `at` of the tile, if rows of the matrix start among them.
    /// `before` is the combined value before each pack in the tile.
    fn results<const EXCLUSIVE: bool>(
        &self,
        at: std::ops::Range<usize>,
        before: &[O::Accumulator; LANES],
        head: usize,
        heads: &mut [O::Accumulator],
        output: &mut [O::Output],
    ) {
        let (op, start) = (self.op, at.start);
        let mut index = self.first + start as u64;
        let mut next = index.next_multiple_of(self.columns);
        let packs = self.input[at].chunks(O::Element::PACK).zip(before);
        for (number, (pack, &before)) in packs.enumerate() {
            let (mut packed, mut has_start) = (op.identity(), false);
            for (place, &x) in (start + number * O::Element::PACK..).zip(pack) {
                let lifted = op.lift(x, index);
                let is_start = index == next;
                if is_start {
                    (packed, has_start) = (op.identity(), true);
                    next += self.columns;
                }
                let with_x = if is_start { lifted } else { op.combine(packed, lifted) };
                let in_pack = if EXCLUSIVE { packed } else { with_x };
                let all = if has_start { in_pack } else { op.combine(before, in_pack) };
                if place < head {
                    heads[place] = all;
                } else {
                    output[place] = op.finish(all);
                }
                packed = with_x;
                index += 1;
            }
        }
    }
}

/// The combined value of each pack of a row of lanes, if no row of the matrix starts in it.
#[inline]
fn plain_totals<O: ScanOperation>(
    op: O,
    row: &[O::Element],
    first: u64,
) -> [O::Accumulator; LANES] {
    let mut totals = [op.identity(); LANES];
    let packs = row.chunks(O::Element::PACK).zip((first..).step_by(O::Element::PACK));
    for (total, (pack, first)) in totals.iter_mut().zip(packs) {
        let lifted = pack.iter().zip(first..).map(|(&x, index)| op.lift(x, index));
        *total = lifted.fold(*total, |all, x| op.combine(all, x));
    }
    totals
}

/// The scan of 32 values, as a warp does it.
#[inline]
fn scan_plain_lanes<O: ScanOperation>(
    op: O,
    mut lanes: [O::Accumulator; LANES],
) -> [O::Accumulator; LANES] {
    for distance in [1, 2, 4, 8, 16] {
        let before = lanes;
        for lane in distance..LANES {
            lanes[lane] = op.combine(before[lane - distance], before[lane]);
        }
    }
    lanes
}

/// The same if rows of the matrix start in some of the lanes.
#[inline]
fn scan_marked_lanes<O: ScanOperation>(
    op: O,
    (mut lanes, mut starts): Packs<O::Accumulator>,
) -> Packs<O::Accumulator> {
    for distance in [1, 2, 4, 8, 16] {
        let before = (lanes, starts);
        for lane in distance..LANES {
            let sum = op.combine(before.0[lane - distance], before.0[lane]);
            lanes[lane] = if before.1[lane] { before.0[lane] } else { sum };
            starts[lane] = before.1[lane] | before.1[lane - distance];
        }
    }
    (lanes, starts)
}

/// The results of a row of lanes in which no row of the matrix starts. `before` is the combined
/// value before each pack.
#[inline]
fn plain_results<O: ScanOperation, const EXCLUSIVE: bool, R>(
    op: O,
    row: &[O::Element],
    first: u64,
    before: &[O::Accumulator; LANES],
    finish: impl Fn(O::Accumulator) -> R,
    results: &mut [R],
) {
    let packs = row.chunks(O::Element::PACK).zip(results.chunks_mut(O::Element::PACK));
    let packs = packs.zip((first..).step_by(O::Element::PACK));
    for (((pack, results), first), &before) in packs.zip(before) {
        let mut packed = op.identity();
        for ((&x, index), result) in pack.iter().zip(first..).zip(results) {
            let with_x = op.combine(packed, op.lift(x, index));
            *result = finish(op.combine(before, if EXCLUSIVE { packed } else { with_x }));
            packed = with_x;
        }
    }
}

#[cfg(test)]
mod tests;

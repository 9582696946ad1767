//! The scan.

use super::reduce::take_all;
use crate::memory::{self, NoRoom};
use crate::parallel::{self, CHUNK};
use cuda_std::memory::Scalar;
use cuda_std::warp::WARP_SIZE;
use gridsync_kernels::grid::scan::{Form, ScanOperation, Shape};
use gridsync_kernels::op::Operation;
use std::mem::replace;

/// Lanes of a warp.
pub(super) const LANES: usize = WARP_SIZE as usize;

/// Scans `input` by `op` on all cores.
///
/// The order of combination depends only on the length, as defined by [`Shape`], unless the
/// operation is exact. So the bits are the same on any number of cores and on a GPU.
///
/// # Panics
/// If there is too little memory for a [`Scan`].
pub fn scan<O: ScanOperation>(op: O, input: &[O::Element], form: Form) -> Vec<O::Output> {
    let shape = Shape::of::<O::Element, O::Accumulator>(input.len());
    whole(op, shape, input, form, Scan::next)
}

/// Scans `input` in the order of another shape of that length, even for an exact operation.
///
/// # Panics
/// As for [`scan`].
pub fn scan_in<O: ScanOperation>(
    op: O,
    shape: Shape,
    input: &[O::Element],
    form: Form,
) -> Vec<O::Output> {
    whole(op, shape, input, form, Scan::next_by_tiles)
}

/// Scans all of `input` with `next`.
fn whole<O: ScanOperation>(
    op: O,
    shape: Shape,
    input: &[O::Element],
    form: Form,
    next: impl FnOnce(&mut Scan<O>, &[O::Element], &mut [O::Output]),
) -> Vec<O::Output> {
    let scan = Scan::in_shape(op, shape, input.len(), form);
    let mut scan = scan.unwrap_or_else(|no_room| panic!("{no_room}"));
    let mut output = vec![O::Output::default(); input.len()];
    next(&mut scan, input, &mut output);
    output
}

/// A scan of an array that is passed part by part: each part continues where the last one ended.
/// The results are bit-identical to a scan of the whole.
pub struct Scan<O: ScanOperation> {
    op: O,
    form: Form,
    shape: Shape,
    /// The combined value of all elements before the next one; before the next group, unless the
    /// operation is exact.
    before: O::Accumulator,
    /// The index of the next element.
    next: u64,
    /// The tiles of the current group.
    group: Blocks<O>,
    /// The results of a part within their tiles.
    in_tiles: Vec<O::Accumulator>,
}

impl<O: ScanOperation> Scan<O> {
    /// A scan of `len` elements by `op`.
    ///
    /// # Errors
    /// [`NoRoom`] for the accumulators of a few tiles, or of all elements if they are fewer.
    pub fn new(op: O, len: usize, form: Form) -> Result<Self, NoRoom> {
        let shape = Shape::of::<O::Element, O::Accumulator>(len);
        Self::in_shape(op, shape, len, form)
    }

    fn in_shape(op: O, shape: Shape, len: usize, form: Form) -> Result<Self, NoRoom> {
        let mut in_tiles = Vec::new();
        memory::reserve(&mut in_tiles, len.min(Self::AT_ONCE * shape.tile::<O::Element>()))?;
        let group = Blocks::of(op, shape.group, 0);
        Ok(Self { op, form, shape, before: op.identity(), next: 0, group, in_tiles })
    }

    /// Tiles that are scanned at a time: they are read twice, and stay in the caches in between.
    pub(super) const AT_ONCE: usize = 128;

    /// Elements of a tile in a scan of `len` elements. Parts are multiples of it.
    #[must_use]
    pub fn tile(len: usize) -> usize {
        Shape::of::<O::Element, O::Accumulator>(len).tile::<O::Element>()
    }

    /// Scans the next elements, and writes a result for each. Unless the operation is exact or this
    /// is the last part, their number is a multiple of a [tile](Self::tile).
    ///
    /// # Panics
    /// If the numbers of results and elements differ.
    pub fn next(&mut self, input: &[O::Element], output: &mut [O::Output]) {
        assert_eq!(input.len(), output.len(), "a result for each element");
        if O::EXACT {
            self.next_by_chunks(input, output)
        } else {
            self.next_by_tiles(input, output)
        }
    }

    /// Scans in the order of the shape, a few tiles at a time.
    fn next_by_tiles(&mut self, input: &[O::Element], output: &mut [O::Output]) {
        let few = Self::AT_ONCE * self.shape.tile::<O::Element>();
        for (input, output) in input.chunks(few).zip(output.chunks_mut(few)) {
            self.next_tiles(input, output);
        }
    }

    /// Scans from the first element to the last: the chunks of the cores are reduced first, and
    /// then scanned from the combined value of the preceding elements.
    fn next_by_chunks(&mut self, input: &[O::Element], output: &mut [O::Output]) {
        let (op, form, start) = (self.op, self.form, self.next);
        let mut before = parallel::map_chunks(input.len(), CHUNK, &move |chunk| {
            let first = start + chunk.start as u64;
            take_all(op, &input[chunk], first)
        });
        for total in &mut before {
            let with_chunk = op.combine(self.before, *total);
            *total = replace(&mut self.before, with_chunk);
        }
        let chunks = input.chunks(CHUNK).zip(output.chunks_mut(CHUNK));
        let chunks = chunks.zip(before);
        parallel::for_each(chunks, &move |number, ((chunk, results), mut all)| {
            let first = start + (number * CHUNK) as u64;
            for ((&x, index), result) in chunk.iter().zip(first..).zip(results) {
                let before = op.before(all, index);
                all = op.take(all, x, index);
                *result = op.finish(match form {
                    Form::Inclusive => all,
                    Form::Exclusive => before,
                });
            }
        });
        self.next += input.len() as u64;
    }

    /// Scans a few tiles. The last tile of the array may be shorter.
    fn next_tiles(&mut self, input: &[O::Element], output: &mut [O::Output]) {
        let (op, form, shape, start) = (self.op, self.form, self.shape, self.next);
        let tile = shape.tile::<O::Element>();
        // There is room, and the contents from earlier tiles are overwritten.
        self.in_tiles.resize(input.len(), op.identity());
        let mut prefixes = vec![op.identity(); input.len().div_ceil(tile)];
        let tiles = input.chunks(tile).zip(self.in_tiles.chunks_mut(tile));
        let tiles = tiles.zip(&mut prefixes);
        parallel::for_each(tiles, &move |number, ((input, results), aggregate)| {
            let first = start + (number * tile) as u64;
            *aggregate = scan_tile(op, shape, input, first, results, form);
        });
        self.group.take(op, &mut self.before, &mut prefixes);
        let tiles = output.chunks_mut(tile).zip(self.in_tiles.chunks(tile)).zip(prefixes);
        parallel::for_each(tiles, &|_, ((output, in_tile), prefix)| {
            for (result, &all) in output.iter_mut().zip(in_tile) {
                *result = op.finish(op.combine(prefix, all));
            }
        });
        self.next += input.len() as u64;
    }
}

/// The balanced binary tree over the tiles of a group so far. Two blocks of the same size are
/// combined as soon as both exist, so only few are kept.
pub(super) struct Blocks<O: Operation> {
    /// The number of tiles of each block, and their combined value. Each block is smaller than the
    /// previous one.
    blocks: Vec<(u32, O::Accumulator)>,
    /// Tiles of a whole group.
    group: u32,
}

impl<O: Operation> Blocks<O> {
    /// A group of `group` tiles, where the first `tiles` are the identity and the others follow
    /// later.
    pub(super) fn of(op: O, group: u32, tiles: u32) -> Self {
        let sizes = (0..u32::BITS).rev().map(|bit| 1 << bit);
        let blocks = sizes.filter(|size| tiles & size != 0).map(|size| (size, op.identity()));
        Self { blocks: blocks.collect(), group }
    }

    /// Adds the next tiles, including those of later groups. `base` is the combined value before
    /// the group. Replaces the aggregate of each tile by the combined value before it.
    pub(super) fn take(
        &mut self,
        op: O,
        base: &mut O::Accumulator,
        aggregates: &mut [O::Accumulator],
    ) {
        for tile in aggregates {
            let before = op.combine(*base, self.combined(op));
            self.push(op, replace(tile, before));
            if self.is_full() {
                *base = op.combine(*base, self.combined(op));
                self.blocks.clear();
            }
        }
    }

    /// The combined value of all tiles so far, with the identity for missing ones: the largest
    /// block is combined last.
    fn combined(&self, op: O) -> O::Accumulator {
        let blocks = self.blocks.iter().rev();
        blocks.fold(op.identity(), |all, &(_, block)| op.combine(block, all))
    }

    /// Adds the next tile.
    fn push(&mut self, op: O, aggregate: O::Accumulator) {
        let (mut tiles, mut all) = (1, aggregate);
        while let Some((_, before)) = self.blocks.pop_if(|&mut (last, _)| last == tiles) {
            (tiles, all) = (2 * tiles, op.combine(before, all));
        }
        self.blocks.push((tiles, all));
    }

    /// Whether the group has all its tiles.
    fn is_full(&self) -> bool {
        self.blocks.iter().map(|(tiles, _)| tiles).sum::<u32>() == self.group
    }
}

/// Scans a tile, which starts at element `first` of the array, on its own, and returns its
/// aggregate.
pub(super) fn scan_tile<O: ScanOperation>(
    op: O,
    shape: Shape,
    input: &[O::Element],
    first: u64,
    output: &mut [O::Accumulator],
    form: Form,
) -> O::Accumulator {
    let strip = shape.strip::<O::Element>();
    // For each pack, the combined value before it in its strip.
    let mut before = Vec::with_capacity(input.len().div_ceil(O::Element::PACK));
    let totals = input
        .chunks(strip)
        .zip((first..).step_by(strip))
        .map(|(strip, first)| scan_strip(op, strip, first, &mut before));
    let warps = scan_lanes(op, totals);
    let packs = input.chunks(O::Element::PACK).zip(output.chunks_mut(O::Element::PACK));
    for ((number, (pack, results)), in_strip) in packs.enumerate().zip(before) {
        let start = number * O::Element::PACK;
        let before = op.combine(lanes_before(op, &warps, start / strip), in_strip);
        let mut packed = op.identity();
        for ((&x, index), result) in pack.iter().zip(first + start as u64..).zip(results) {
            let with_x = op.combine(packed, op.lift(x, index));
            *result = op.combine(
                before,
                match form {
                    Form::Inclusive => with_x,
                    Form::Exclusive => op.before(packed, index),
                },
            );
            packed = with_x;
        }
    }
    warps[LANES - 1]
}

/// Combines the elements of a strip, which starts at element `first` of the array. Appends to
/// `before`, for each of its packs, the combined value before it in the strip.
fn scan_strip<O: ScanOperation>(
    op: O,
    strip: &[O::Element],
    first: u64,
    before: &mut Vec<O::Accumulator>,
) -> O::Accumulator {
    let mut rows = op.identity();
    let row = Shape::row::<O::Element>();
    for (row, first) in strip.chunks(row).zip((first..).step_by(row)) {
        let packs = row.chunks(O::Element::PACK);
        let count = packs.len();
        let firsts = (first..).step_by(O::Element::PACK);
        let totals = packs.zip(firsts).map(|(pack, first)| {
            let lifted = pack.iter().zip(first..).map(|(&x, index)| op.lift(x, index));
            lifted.fold(op.identity(), |all, x| op.combine(all, x))
        });
        let lanes = scan_lanes(op, totals);
        before.extend((0..count).map(|lane| op.combine(rows, lanes_before(op, &lanes, lane))));
        rows = op.combine(rows, lanes[LANES - 1]);
    }
    rows
}

/// The scan of at most 32 values, one per lane, as a warp does it; other lanes have the identity.
pub(super) fn scan_lanes<O: Operation>(
    op: O,
    values: impl Iterator<Item = O::Accumulator>,
) -> [O::Accumulator; LANES] {
    let mut lanes = [op.identity(); LANES];
    for (lane, value) in lanes.iter_mut().zip(values) {
        *lane = value;
    }
    for distance in [1, 2, 4, 8, 16] {
        for lane in (distance..LANES).rev() {
            lanes[lane] = op.combine(lanes[lane - distance], lanes[lane]);
        }
    }
    lanes
}

/// The combined value of the lanes before `lane` in such a scan.
pub(super) fn lanes_before<O: Operation>(
    op: O,
    lanes: &[O::Accumulator; LANES],
    lane: usize,
) -> O::Accumulator {
    match lane {
        0 => op.identity(),
        lane => lanes[lane - 1],
    }
}

/// The most combinations that any element goes through in a scan of `len` elements, which is the
/// number of roundings in a floating-point sum.
#[must_use]
pub fn scan_depth<O: ScanOperation>(len: usize) -> u64 {
    let shape = Shape::of::<O::Element, O::Accumulator>(len);
    shape.depth::<O::Element>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::f16;
    use gridsync_kernels::op::{InSegments, Max, Product, Segments, Sum, Xor};

    /// Compares both forms with a loop, in groups of `group` tiles.
    fn agrees_with_a_loop<O: ScanOperation<Element = i32, Output: PartialEq + std::fmt::Debug>>(
        op: O,
        len: usize,
        group: u32,
    ) {
        let random = |i: i32| i.wrapping_mul(0x9E37_79B1u32 as i32);
        let input: Vec<i32> = (1..=len as i32).map(random).collect();
        let mut shape = Shape::of::<i32, O::Accumulator>(len);
        shape.group = group;
        let inclusive = scan_in(op, shape, &input, Form::Inclusive);
        let exclusive = scan_in(op, shape, &input, Form::Exclusive);
        let mut all = op.identity();
        for (i, &x) in input.iter().enumerate() {
            assert_eq!(exclusive[i], op.finish(all), "before element {i} of {len}");
            all = op.combine(all, op.lift(x, i as u64));
            assert_eq!(inclusive[i], op.finish(all), "up to element {i} of {len}");
        }
    }

    #[test]
    fn agrees_with_a_loop_without_rounding() {
        let tile = Shape::of::<i32, i32>(1).tile::<i32>();
        for len in [0, 1, 4, 5, 127, 128, 129, tile - 1, tile, tile + 1, 9 * tile + 5] {
            for group in [2, 4, 256] {
                agrees_with_a_loop(Sum::<i32>::new(), len, group);
                agrees_with_a_loop(Sum::<i32, i64>::new(), len, group);
                agrees_with_a_loop(Product::<i32, i64>::new(), len, group);
                agrees_with_a_loop(Xor::<i32>::new(), len, group);
                agrees_with_a_loop(Max::<i32>::new(), len, group);
            }
        }
    }

    #[test]
    fn parts_are_bit_identical_to_the_whole() {
        // Small elements: some groups, and one that is incomplete.
        let group = Shape::part::<f16, f64>();
        let input: Vec<_> = (0..3 * group + 1001)
            .map(|i| f16::from_bits(0x3000 | (i as u16).wrapping_mul(0x9E37) & 0x8fff))
            .collect();
        for form in [Form::Inclusive, Form::Exclusive] {
            let tile = Scan::<Sum<f16, f64>>::tile(input.len());
            for part in [group, 7 * tile, 129 * tile] {
                in_parts(Sum::<f16, f64>::new(), &input, part, form);
            }
        }
        let input: Vec<i32> = (0..300_000).collect();
        in_parts(Sum::<i32, i64>::new(), &input, 100_001, Form::Exclusive);
        let rows = InSegments::<Sum<i32, i64>>::new(Segments::rows(777));
        in_parts(rows, &input, 100_001, Form::Inclusive);
    }

    fn in_parts<O>(op: O, input: &[O::Element], part: usize, form: Form)
    where
        O: ScanOperation<Output: PartialEq + std::fmt::Debug>,
    {
        let expected = scan(op, input, form);
        let mut parts = Scan::new(op, input.len(), form).expect("there is room");
        let mut output = vec![O::Output::default(); input.len()];
        for (input, output) in input.chunks(part).zip(output.chunks_mut(part)) {
            parts.next(input, output);
        }
        let at = output.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(at, None, "{form:?}, in parts of {part}");
    }

    #[test]
    fn a_nan_makes_all_later_maxima_nan() {
        for at in [0, 7, 16, 999] {
            let mut input = vec![1.0f32; 1000];
            input[at] = f32::NAN;
            let maxima = scan(Max::<f32>::new(), &input, Form::Inclusive);
            assert!(maxima[..at].iter().all(|&max| max == 1.0), "{at}");
            assert!(maxima[at..].iter().all(|max| max.is_nan()), "{at}");
        }
    }

    #[test]
    fn the_first_exclusive_result_is_the_identity() {
        let sums = scan(Sum::<f64>::new(), &[1.0, 2.0], Form::Exclusive);
        assert_eq!(sums[0].to_bits(), (-0.0f64).to_bits());
        assert_eq!(sums[1], 1.0);
    }
}

//! The reduction.

use crate::parallel::{self, CHUNK};
use cuda_std::memory::Scalar;
use cuda_std::warp::WARP_SIZE;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::Operation;

/// Lanes of a warp.
pub(super) const LANES: usize = WARP_SIZE as usize;

/// Reduces `input` by `op` on all cores. An empty input gives the result for the operation's
/// identity.
///
/// The order of the tree depends only on the length, as defined by [`Shape`], unless the operation
/// is exact. So the bits are the same on any number of cores and on a GPU.
pub fn reduce<O: Operation>(op: O, input: &[O::Element]) -> O::Output {
    let mut reduction = Reduction::new(op, input.len());
    reduction.next(input);
    reduction.finish()
}

/// A reduction of an array that is passed part by part. The result is bit-identical to a reduction
/// of the whole.
pub struct Reduction<O: Operation> {
    op: O,
    shape: Shape,
    /// The combined value of all elements so far, if the operation is exact.
    all: O::Accumulator,
    /// The leaves of the tree so far, if it is not.
    leaves: Vec<O::Accumulator>,
    /// The index of the next element.
    next: u64,
}

impl<O: Operation> Reduction<O> {
    /// A reduction of `len` elements by `op`.
    #[must_use]
    pub fn new(op: O, len: usize) -> Self {
        Self::from(op, len, 0)
    }

    /// Like [`new`](Self::new), but only of the elements from `start`. Unless the operation is
    /// exact, a tile starts there.
    pub(crate) fn from(op: O, len: usize, start: usize) -> Self {
        Self {
            op,
            shape: Shape::of::<O::Element>(len),
            all: op.identity(),
            leaves: Vec::new(),
            next: start as u64,
        }
    }

    /// Adds the next elements. Unless the operation is exact or this is the last part, their number
    /// is a multiple of a [tile](Shape::tile).
    pub fn next(&mut self, input: &[O::Element]) {
        if O::EXACT {
            self.next_by_chunks(input)
        } else {
            self.next_tiles(input)
        }
        self.next += input.len() as u64;
    }

    /// Combines from the first element to the last, in chunks: a plain loop, which the compiler
    /// vectorises if the operation allows it.
    fn next_by_chunks(&mut self, input: &[O::Element]) {
        let (op, start) = (self.op, self.next);
        let chunks = parallel::map_chunks(input.len(), CHUNK, &move |chunk| {
            let first = start + chunk.start as u64;
            take_all(op, &input[chunk], first)
        });
        let chunks = chunks.into_iter();
        self.all = chunks.fold(self.all, |all, chunk| op.combine(all, chunk));
    }

    fn next_tiles(&mut self, input: &[O::Element]) {
        let (op, shape, start) = (self.op, self.shape, self.next);
        let (tile, warps) = (shape.tile::<O::Element>(), shape.warps as usize);
        let each = if shape.leaves_are_strips() { warps } else { 1 };
        let before = self.leaves.len();
        let after = before + input.len().div_ceil(tile) * each;
        self.leaves.resize(after, op.identity());
        let tiles = input.chunks(tile).zip(self.leaves[before..].chunks_mut(each));
        parallel::for_each(tiles, &move |number, (elements, leaves)| {
            let tile = Tile { elements, first: start + (number * tile) as u64, warps };
            let mut strips = if O::COMMUTATIVE {
                tile.strips_of_places(op)
            } else {
                tile.strips_in_order(op, shape.runs as usize)
            };
            match leaves {
                [leaf] => *leaf = by_pairs(op, &mut strips),
                leaves => leaves.copy_from_slice(&strips),
            }
        });
    }

    /// The leaves of the elements so far; empty if the operation is exact.
    pub(crate) fn leaves(&self) -> &[O::Accumulator] {
        &self.leaves
    }

    /// The leaves of the elements so far, or, if the operation is exact, their combined value.
    pub(crate) fn into_leaves(self) -> Vec<O::Accumulator> {
        if O::EXACT { vec![self.all] } else { self.leaves }
    }

    /// The result, after all elements have been added.
    #[must_use]
    pub fn finish(self) -> O::Output {
        let all =
            if O::EXACT { self.all } else { combine_leaves(self.op, self.shape, &self.leaves) };
        self.op.finish_of(all, self.next)
    }
}

/// Combines the leaves of an array of this shape.
pub(crate) fn combine_leaves<O: Operation>(
    op: O,
    shape: Shape,
    leaves: &[O::Accumulator],
) -> O::Accumulator {
    by_pairs(op, &mut chains(op, leaves, shape.threads() as usize))
}

/// The elements of a tile.
struct Tile<'a, T> {
    elements: &'a [T],
    /// The index of the first element in the array.
    first: u64,
    /// The number of warps that share it.
    warps: usize,
}

impl<T: Scalar> Tile<'_, T> {
    /// Elements of a row.
    const ROW: usize = LANES * T::PACK;

    /// Combines the strips of the tile, with an accumulator for each position in a pack and each
    /// lane.
    #[inline]
    fn strips_of_places<O: Operation<Element = T>>(&self, op: O) -> Vec<O::Accumulator> {
        let mut places = vec![op.identity(); self.warps * Self::ROW];
        let run = Shape::run::<T>();
        for (number, elements) in self.elements.chunks(run).enumerate() {
            let strip = &mut places[number % self.warps * Self::ROW..][..Self::ROW];
            take_run(op, strip, elements, self.first + (number * run) as u64);
        }
        places.chunks_exact_mut(Self::ROW).map(|strip| by_pairs(op, strip)).collect()
    }

    /// Combines the strips of the tile row by row, the elements in order.
    #[inline]
    fn strips_in_order<O: Operation<Element = T>>(
        &self,
        op: O,
        runs: usize,
    ) -> Vec<O::Accumulator> {
        let strip = runs * Shape::run::<T>();
        let mut places = Vec::with_capacity(Self::ROW);
        let mut strips = vec![op.identity(); self.warps];
        for (number, row) in self.elements.chunks(Self::ROW).enumerate() {
            let start = number * Self::ROW;
            let first = self.first + start as u64;
            places.clear();
            places.extend((first..).zip(row).map(|(index, &x)| op.lift(x, index)));
            places.resize(Self::ROW, op.identity());
            let strip = &mut strips[start / strip];
            *strip = op.combine(*strip, by_pairs(op, &mut places));
        }
        strips
    }
}

/// Combines `elements`, where the first has index `first` in the array. If order does not
/// matter, large ones are combined in eight independent chains, so that none waits for the previous
/// operation. For small ones the compiler makes such chains itself.
#[inline]
pub(super) fn take_all<O: Operation>(op: O, elements: &[O::Element], first: u64) -> O::Accumulator {
    let take = |all, elements: &[O::Element], first: u64| {
        let indexed = elements.iter().zip(first..);
        indexed.fold(all, |all, (&x, index)| op.take(all, x, index))
    };
    let is_large = size_of::<O::Element>() == 8 || size_of::<O::Accumulator>() > 8;
    if !(O::COMMUTATIVE && is_large) {
        return take(op.identity(), elements, first);
    }
    let (eights, rest) = elements.as_chunks::<8>();
    let mut chains = [op.identity(); 8];
    for (number, eight) in eights.iter().enumerate() {
        let start = first + 8 * number as u64;
        for at in 0..8 {
            chains[at] = op.take(chains[at], eight[at], start + at as u64);
        }
    }
    let all = chains.into_iter().fold(op.identity(), |all, chain| op.combine(all, chain));
    take(all, rest, first + (elements.len() - rest.len()) as u64)
}

/// Adds the rows of `run`, which starts at element `first` of the array, to `strip`, from the first
/// to the last.
#[inline]
pub(super) fn take_run<O: Operation>(
    op: O,
    strip: &mut [O::Accumulator],
    run: &[O::Element],
    first: u64,
) {
    let row = LANES * O::Element::PACK;
    if run.len() < Shape::run::<O::Element>() {
        for (at, &element) in run.iter().enumerate() {
            let accumulator = &mut strip[at % row];
            *accumulator = op.take(*accumulator, element, first + at as u64);
        }
        return;
    }
    // All rows of a position at once: its accumulator is loaded and stored once.
    for (place, accumulator) in strip[..row].iter_mut().enumerate() {
        let mut all = *accumulator;
        for from in (0..Shape::run::<O::Element>()).step_by(row) {
            let at = from + place;
            all = op.take(all, run[at], first + at as u64);
        }
        *accumulator = all;
    }
}

/// Combines the leaves of each of `count` chains, in order.
fn chains<O: Operation>(op: O, leaves: &[O::Accumulator], count: usize) -> Vec<O::Accumulator> {
    let mut chains = vec![op.identity(); count];
    if O::COMMUTATIVE {
        for leaves in leaves.chunks(count) {
            for (chain, &leaf) in chains.iter_mut().zip(leaves) {
                *chain = op.combine(*chain, leaf);
            }
        }
    } else {
        let each = leaves.len().div_ceil(count).max(1);
        for (chain, leaves) in chains.iter_mut().zip(leaves.chunks(each)) {
            *chain = leaves.iter().fold(*chain, |all, &leaf| op.combine(all, leaf));
        }
    }
    chains
}

/// Combines neighbours repeatedly until one value is left. The number of values is a power of two.
#[inline]
pub(super) fn by_pairs<O: Operation>(op: O, values: &mut [O::Accumulator]) -> O::Accumulator {
    let mut left = values.len();
    // Three rounds at once while there are enough values: in registers.
    while left >= 8 {
        left /= 8;
        for at in 0..left {
            let (eights, _) = values.as_chunks();
            let [a, b, c, d, e, f, g, h] = eights[at];
            let four = [op.combine(a, b), op.combine(c, d), op.combine(e, f), op.combine(g, h)];
            let two = [op.combine(four[0], four[1]), op.combine(four[2], four[3])];
            values[at] = op.combine(two[0], two[1]);
        }
    }
    while left > 1 {
        left /= 2;
        for at in 0..left {
            values[at] = op.combine(values[2 * at], values[2 * at + 1]);
        }
    }
    values[0]
}

/// The most combinations that any element goes through in a reduction of `len` elements, which is
/// the number of roundings in a floating-point sum.
#[must_use]
pub fn reduce_depth<O: Operation>(len: usize) -> u64 {
    Shape::of::<O::Element>(len).depth::<O::Element>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::f16;
    use gridsync_kernels::op::{Affine, ArgMax, Compose, Count, Max, Min, Product, Sum, Xor};

    #[test]
    fn agrees_with_the_iterators_of_the_standard_library() {
        let tile = Shape::of::<i32>(1).tile::<i32>();
        for len in [0, 1, 127, 128, 129, tile - 1, tile, tile + 1, 3 * tile + 5] {
            let input: Vec<i32> =
                (0..len as i32).map(|i| i.wrapping_mul(0x9E37_79B1u32 as i32)).collect();
            let wide = input.iter().map(|&x| i64::from(x));
            assert_eq!(reduce(Sum::<i32, i64>::new(), &input), wide.clone().sum::<i64>());
            assert_eq!(
                reduce(Product::<i32, i64>::new(), &input),
                wide.fold(1, |a: i64, b| a.wrapping_mul(b))
            );
            assert_eq!(reduce(Xor::<i32>::new(), &input), input.iter().fold(0, |a, b| a ^ b));
            assert_eq!(
                reduce(Min::<i32>::new(), &input),
                input.iter().copied().min().unwrap_or(i32::MAX)
            );
            assert_eq!(
                reduce(Max::<i32>::new(), &input),
                input.iter().copied().max().unwrap_or(i32::MIN)
            );
            let nonzero = input.iter().filter(|&&x| x != 0).count() as u64;
            assert_eq!(reduce(Count::<i32>::new(), &input), nonzero);
        }
    }

    #[test]
    fn parts_are_bit_identical_to_the_whole() {
        // A tree whose leaves are strips, and trees whose leaves are tiles of one run and of more.
        for len in [5000, (4 << 20) + 12_345, 129 << 20] {
            let shape = Shape::of::<f16>(len);
            let elements =
                (0..len).map(|i| f16::from_bits(0x3000 | (i as u16).wrapping_mul(0x9E37)));
            let input: Vec<_> = elements.collect();
            let op = Sum::<f16, f32>::new();
            let whole = reduce(op, &input);
            for tiles in [1, 3] {
                let mut parts = Reduction::new(op, len);
                for part in input.chunks(tiles * shape.tile::<f16>()) {
                    parts.next(part);
                }
                assert_eq!(parts.finish().to_bits(), whole.to_bits(), "{len} by {tiles}");
            }
        }
        let input: Vec<i32> = (0..100_000).map(|i: i32| i.wrapping_mul(i)).collect();
        let op = ArgMax::<i32>::new();
        let mut parts = Reduction::new(op, input.len());
        input.chunks(777).for_each(|part| parts.next(part));
        assert_eq!(parts.finish(), reduce(op, &input), "indices are those of the whole");
    }

    #[test]
    fn maps_are_composed_in_order() {
        // Neither a factor of 0 nor an even one: no map is lost.
        let map = |i: u32| Affine { factor: i.wrapping_mul(0x9E37_79B1) | 1, summand: i };
        for len in [0, 1, 2, 63, 64, 65, 4096, 20_000, 300_001] {
            let input: Vec<u64> = (0..len).map(|i| map(i).to_bits()).collect();
            let one_by_one = (0..len).fold(7, |x, i| map(i).of(x));
            let composed = reduce(Compose::new(), &input);
            assert_eq!(composed.of(7), one_by_one, "{len} maps");
        }
    }

    #[test]
    fn a_nan_at_any_index_makes_a_minimum_nan() {
        for at in [0, 7, 16, 999] {
            let mut input = vec![1.0f32; 1000];
            input[at] = f32::NAN;
            assert!(reduce(Min::<f32>::new(), &input).is_nan());
            assert!(reduce(Max::<f32>::new(), &input).is_nan());
        }
    }

    #[test]
    fn negative_zero_is_less_than_positive_zero() {
        let zeros = [0.0f64, -0.0, 0.0];
        assert_eq!(reduce(Min::<f64>::new(), &zeros).to_bits(), (-0.0f64).to_bits());
        assert_eq!(reduce(Max::<f64>::new(), &zeros).to_bits(), 0.0f64.to_bits());
        assert_eq!(reduce(Sum::<f64>::new(), &[-0.0]).to_bits(), (-0.0f64).to_bits());
    }
}

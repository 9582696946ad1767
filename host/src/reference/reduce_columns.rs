//! The reduction of the columns of a matrix, without a transposed copy of it.

use super::reduce::LANES;
use super::reduce_rows::reduce_rows;
use crate::parallel;
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::Operation;
use std::ops::Range;

/// Bytes of accumulators that a core works on at a time, so that they stay in its cache.
const HELD: usize = 64 << 10;

/// The most columns that a core processes at a time.
const MOST_COLUMNS: usize = 1 << 12;

/// Elements that a core processes at once, if it is free to choose.
const CHUNK: usize = 1 << 17;

/// The most elements of a matrix whose columns are gathered before they are reduced.
const SMALL: usize = 1 << 12;

/// Reduces each column of the matrices of `len` rows and `columns` columns that are stored
/// consecutively in `input`, bit-identical to [`reduce`](super::reduce) of that column alone.
///
/// # Panics
/// If the operation does not commute, or `input` is not a number of whole non-empty matrices.
pub fn reduce_columns<O>(op: O, input: &[O::Element], len: usize, columns: usize) -> Vec<O::Output>
where
    O: Operation<Output: Send>,
{
    let matrix = len * columns;
    assert!(matrix > 0 && input.len().is_multiple_of(matrix), "whole matrices with elements");
    if matrix > SMALL {
        let each = input.chunks(matrix).flat_map(|matrix| {
            let mut reduction = ColumnReduction::new(op, len, columns);
            reduction.next(matrix);
            reduction.finish()
        });
        return each.collect();
    }
    let few = CHUNK / matrix * matrix;
    let each = parallel::map_chunks(input.len(), few, &|chunk| {
        let mut gathered = Vec::with_capacity(chunk.len());
        for matrix in input[chunk].chunks(matrix) {
            for column in 0..columns {
                gathered.extend(matrix[column..].iter().step_by(columns));
            }
        }
        reduce_rows(op, &gathered, gathered.len() / len, len)
    });
    each.concat()
}

/// A reduction of each column of a matrix that is passed part by part, each by the tree of that
/// column alone.
pub struct ColumnReduction<O: Operation> {
    op: O,
    plan: Plan,
    len: usize,
    columns: usize,
    /// Rows so far.
    taken: usize,
    /// The leaves of each unit of rows so far, stripe by stripe; of all rows together if the
    /// operation is exact.
    leaves: Vec<Vec<O::Accumulator>>,
}

impl<O: Operation<Output: Send>> ColumnReduction<O> {
    /// A reduction by `op` of a matrix of `len` rows and `columns` columns.
    ///
    /// # Panics
    /// If the operation does not commute.
    #[must_use]
    pub fn new(op: O, len: usize, columns: usize) -> Self {
        assert!(O::COMMUTATIVE, "rows are taken in any order");
        let plan = Plan::of::<O>(len, columns);
        Self { op, plan, len, columns, taken: 0, leaves: Vec::new() }
    }

    /// Rows that must be passed together: the number of rows of every part except the last must be
    /// a multiple of this, unless the operation is exact.
    #[must_use]
    pub fn unit(&self) -> usize {
        if O::EXACT { 1 } else { self.plan.unit }
    }

    /// Adds the next rows, on all cores.
    pub fn next(&mut self, rows: &[O::Element]) {
        let (op, plan, columns, first) = (self.op, &self.plan, self.columns, self.taken);
        self.taken += rows.len() / columns;
        let (end, stripes) = (self.taken, plan.stripes(columns));
        let tasks = (end - first).div_ceil(plan.unit) * stripes;
        let leaves = parallel::map_chunks(tasks, 1, &|task| {
            let (unit, stripe) = (task.start / stripes, task.start % stripes);
            let unit = first + unit * plan.unit..end.min(first + (unit + 1) * plan.unit);
            let stripe = stripe * plan.width..columns.min((stripe + 1) * plan.width);
            plan.leaves(op, &Columns { rows, first, columns, stripe }, unit)
        });
        self.leaves.extend(leaves);
        if O::EXACT && self.leaves.len() > stripes {
            let more = self.leaves.split_off(stripes);
            for (more, stripe) in more.iter().zip((0..stripes).cycle()) {
                combine_each(op, &mut self.leaves[stripe], more);
            }
        }
    }

    /// The result of each column, after all rows have been added.
    #[must_use]
    pub fn finish(self) -> Vec<O::Output> {
        let Self { op, plan, len, columns, leaves, .. } = self;
        let (stripes, leaves) = (plan.stripes(columns), &leaves[..]);
        let mut results = vec![super::reduce(op, &[]); columns];
        parallel::for_each(results.chunks_mut(plan.width), &|stripe, results| {
            let units = leaves.iter().skip(stripe).step_by(stripes);
            let leaves = units.flat_map(|unit| unit.chunks(results.len()));
            let all = plan.combined(op, leaves, results.len());
            for (result, all) in results.iter_mut().zip(all) {
                *result = op.finish_of(all, len as u64);
            }
        });
        results
    }
}

/// How the tree of each column is divided among the cores.
struct Plan {
    shape: Shape,
    /// Rows that one core processes: a tile, or a run if each of its strips is a single run; any
    /// number if the operation is exact.
    unit: usize,
    /// Accumulators per column for the elements of a strip.
    places: usize,
    /// Columns that are processed together.
    width: usize,
    /// Chains in which the leaves are combined.
    chains: usize,
}

impl Plan {
    fn of<O: Operation>(len: usize, columns: usize) -> Self {
        let shape = Shape::of::<O::Element>(len);
        // All other positions of a strip hold the identity.
        let row = LANES * O::Element::PACK;
        let places = if O::EXACT { 1 } else { row.min(len.next_power_of_two()) };
        let of_column = places * size_of::<O::Accumulator>();
        let width = (HELD / of_column).clamp(16, MOST_COLUMNS).min(columns);
        let unit = if O::EXACT {
            CHUNK.div_ceil(width)
        } else if shape.leaves_are_strips() && shape.runs == 1 {
            Shape::run::<O::Element>()
        } else {
            shape.tile::<O::Element>()
        };
        let leaves = len.div_ceil(unit) * shape.warps as usize;
        let chains = (shape.threads() as usize).min(leaves.next_power_of_two());
        Self { shape, unit, places, width, chains }
    }

    /// How many groups the columns are divided into.
    fn stripes(&self, columns: usize) -> usize {
        columns.div_ceil(self.width)
    }

    /// The leaves of a unit of rows of some columns: for each leaf an accumulator per column.
    fn leaves<O: Operation>(
        &self,
        op: O,
        columns: &Columns<'_, O::Element>,
        rows: Range<usize>,
    ) -> Vec<O::Accumulator> {
        let width = columns.stripe.len();
        if O::EXACT {
            let mut all = vec![op.identity(); width];
            for row in rows {
                take_row(op, &mut all, columns.row(row), row);
            }
            return all;
        }
        let (run, warps) = (Shape::run::<O::Element>(), self.shape.warps as usize);
        // Strips without an element are the identity.
        let strips = warps.min(rows.len().div_ceil(run));
        let mut leaves = Vec::with_capacity(strips * width);
        let mut places = Vec::with_capacity(self.places * width);
        for strip in 0..strips {
            places.clear();
            places.resize(self.places * width, op.identity());
            for first in (rows.start + strip * run..rows.end).step_by(warps * run) {
                for row in first..rows.end.min(first + run) {
                    let place = (row - first) % self.places * width;
                    take_row(op, &mut places[place..][..width], columns.row(row), row);
                }
            }
            by_pairs(op, &mut places, width);
            leaves.extend_from_slice(&places[..width]);
        }
        if !self.shape.leaves_are_strips() {
            leaves.resize(warps * width, op.identity());
            by_pairs(op, &mut leaves, width);
            leaves.truncate(width);
        }
        leaves
    }

    /// Combines the leaves of each of `width` columns.
    fn combined<'a, O: Operation>(
        &self,
        op: O,
        leaves: impl Iterator<Item = &'a [O::Accumulator]>,
        width: usize,
    ) -> Vec<O::Accumulator>
    where
        O::Accumulator: 'a,
    {
        let count = if O::EXACT { 1 } else { self.chains };
        let mut chains = vec![op.identity(); count * width];
        for (number, leaf) in leaves.enumerate() {
            let chain = &mut chains[number % count * width..][..width];
            combine_each(op, chain, leaf);
        }
        by_pairs(op, &mut chains, width);
        chains.truncate(width);
        chains
    }
}

/// Adjacent columns of some rows of a matrix.
struct Columns<'a, T> {
    rows: &'a [T],
    /// The index of the first row.
    first: usize,
    /// Columns of the matrix.
    columns: usize,
    /// The columns to process.
    stripe: Range<usize>,
}

impl<T> Columns<'_, T> {
    /// The elements of row `row` in these columns.
    fn row(&self, row: usize) -> &[T] {
        &self.rows[(row - self.first) * self.columns..][self.stripe.clone()]
    }
}

/// Combines each value of `all` with the value of `more` at the same index.
fn combine_each<O: Operation>(op: O, all: &mut [O::Accumulator], more: &[O::Accumulator]) {
    for (all, &more) in all.iter_mut().zip(more) {
        *all = op.combine(*all, more);
    }
}

/// Adds element `index` of each column to its accumulator.
#[inline]
fn take_row<O: Operation>(op: O, all: &mut [O::Accumulator], row: &[O::Element], index: usize) {
    for (all, &element) in all.iter_mut().zip(row) {
        *all = op.take(*all, element, index as u64);
    }
}

/// Combines neighbours in each of `width` columns, as [`by_pairs`](super::reduce::by_pairs) does
/// for one. The result is in the first row.
fn by_pairs<O: Operation>(op: O, values: &mut [O::Accumulator], width: usize) {
    let mut left = values.len() / width;
    while left > 1 {
        left /= 2;
        let (first, rest) = values.split_at_mut(width);
        combine_each(op, first, rest);
        for at in 1..left {
            let (into, from) = values.split_at_mut(2 * at * width);
            let (a, b) = from[..2 * width].split_at(width);
            for (into, (&a, &b)) in into[at * width..].iter_mut().zip(a.iter().zip(b)) {
                *into = op.combine(a, b);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reduce;
    use super::*;
    use cuda_std::f16;
    use gridsync_kernels::op::{ArgMax, Min, Sum, WideSum};
    use std::fmt::Debug;

    /// Compares with each column alone.
    fn agrees<O>(op: O, of: fn(u64) -> O::Element, matrices: usize, len: usize, columns: usize)
    where
        O: Operation<Output: Send + Debug>,
    {
        let drawn = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let input: Vec<_> = (0..matrices * len * columns).map(|i| of(drawn(i))).collect();
        let results = reduce_columns(op, &input, len, columns);
        assert_eq!(results.len(), matrices * columns);
        for (at, result) in results.into_iter().enumerate() {
            let (matrix, column) = (&input[at / columns * len * columns..], at % columns);
            let alone: Vec<_> = (0..len).map(|row| matrix[row * columns + column]).collect();
            // As text, which distinguishes -0 from 0.
            let (got, alone) = (format!("{result:?}"), format!("{:?}", reduce(op, &alone)));
            assert_eq!(got, alone, "column {at} of {len} rows by {columns}");
        }
    }

    #[test]
    fn each_column_is_bit_identical_to_its_own_reduction() {
        let f32_of = |bits: u64| (bits >> 40) as f32 / 1e3 - 5e3;
        for (matrices, len, columns) in [
            (1, 1, 3),
            (3, 2, 5),
            (9000, 3, 7),
            (2, 127, 33),
            (1, 130, 700),
            (1, 1025, 7),
            (2, 9000, 3),
            (1, 3, 70_000),
        ] {
            agrees(Sum::<f32>::new(), f32_of, matrices, len, columns);
            agrees(Sum::<f32, f64>::new(), f32_of, matrices, len, columns);
            let f16_of = |bits: u64| f16::from_bits(0x3000 | (bits >> 50) as u16 & 0x8fff);
            agrees(Sum::<f16, f32>::new(), f16_of, matrices, len, columns);
            agrees(WideSum::<i64>::new(), |bits| bits as i64, matrices, len, columns);
            agrees(Min::<u32>::new(), |bits| (bits >> 32) as u32, matrices, len, columns);
            agrees(ArgMax::<f64>::new(), |bits| (bits >> 60) as f64, matrices, len, columns);
        }
        // More than one leaf per chain, and leaves that are tiles.
        agrees(Sum::<f32>::new(), f32_of, 1, (5 << 20) + 12_345, 2);
    }

    #[test]
    fn parts_of_a_matrix_are_bit_identical_to_the_whole() {
        let (len, columns) = (20_000, 3);
        let input: Vec<f32> = (0..len * columns).map(|i| (i as f32 * 0.7).sin()).collect();
        let whole = reduce_columns(Sum::<f32>::new(), &input, len, columns);
        for units in [1, 3] {
            let mut parts = ColumnReduction::new(Sum::<f32>::new(), len, columns);
            let part = units * parts.unit() * columns;
            input.chunks(part).for_each(|rows| parts.next(rows));
            assert_eq!(parts.finish(), whole, "{units} units at a time");
        }
        let mut parts = ColumnReduction::new(ArgMax::<f32>::new(), len, columns);
        input.chunks(777 * columns).for_each(|rows| parts.next(rows));
        let whole = reduce_columns(ArgMax::<f32>::new(), &input, len, columns);
        assert_eq!(parts.finish(), whole, "indices are those of the whole");
    }

    #[test]
    fn exact_operations_can_be_cut_anywhere() {
        agrees(Sum::<i32, i64>::new(), |bits| (bits >> 32) as i32, 1, 300_000, 2);
        agrees(ArgMax::<u32>::new(), |bits| (bits >> 61) as u32, 2, 100_000, 3);
    }
}

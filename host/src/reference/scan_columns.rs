//! The scan of each column of a matrix, without a transposed copy of it: row by row if the
//! operation is exact, otherwise some columns at a time.

use super::{RowScan, scan_each_row};
use crate::memory::{self, NoRoom};
use crate::parallel;
use gridsync_kernels::grid::scan::{Form, ScanOperation};

/// The fewest columns that a core processes: with fewer, a loop over their elements of a row is too
/// short.
const FEWEST: usize = 1 << 8;

/// A scan of each column of a matrix that is passed some rows at a time.
pub struct ColumnScan<O: ScanOperation> {
    op: O,
    form: Form,
    /// The combined value of each column's elements so far.
    all: Vec<O::Accumulator>,
    /// Rows so far.
    taken: u64,
}

impl<O: ScanOperation> ColumnScan<O> {
    /// A scan by `op` of a matrix of `columns` columns.
    ///
    /// # Errors
    /// [`NoRoom`] for an accumulator per column.
    ///
    /// # Panics
    /// If the operation is not exact: the bits would differ from those of the concatenated columns.
    pub fn new(op: O, columns: usize, form: Form) -> Result<Self, NoRoom> {
        assert!(O::EXACT, "only exact operations combine in any order");
        let mut all = Vec::new();
        memory::reserve(&mut all, columns)?;
        all.resize(columns, op.identity());
        Ok(Self { op, form, all, taken: 0 })
    }

    /// Starts another matrix with the same number of columns.
    pub fn restart(&mut self) {
        self.all.fill(self.op.identity());
        self.taken = 0;
    }

    /// Scans the next rows, on all cores, and writes a result for each element.
    ///
    /// # Panics
    /// If they are not whole rows, or the numbers of results and elements differ.
    pub fn next(&mut self, input: &[O::Element], output: &mut [O::Output]) {
        let (op, form, columns, first) = (self.op, self.form, self.all.len(), self.taken);
        assert_eq!(input.len(), output.len(), "a result for each element");
        assert!(input.len().is_multiple_of(columns), "whole rows");
        let width = columns.div_ceil(2 * parallel::cores()).max(FEWEST);
        let mut stripes: Vec<Vec<&mut [O::Output]>> = Vec::new();
        stripes.resize_with(columns.div_ceil(width), Vec::new);
        for row in output.chunks_mut(columns) {
            for (stripe, results) in stripes.iter_mut().zip(row.chunks_mut(width)) {
                stripe.push(results);
            }
        }
        parallel::for_each(self.all.chunks_mut(width).zip(stripes), &|stripe, (all, rows)| {
            for (row, results) in rows.into_iter().enumerate() {
                let elements = &input[row * columns + stripe * width..][..all.len()];
                let each = all.iter_mut().zip(elements).zip(results);
                let index = first + row as u64;
                match form {
                    Form::Inclusive => {
                        for ((all, &x), result) in each {
                            *all = op.take(*all, x, index);
                            *result = op.finish(*all);
                        }
                    }
                    Form::Exclusive => {
                        for ((all, &x), result) in each {
                            *result = op.finish(*all);
                            *all = op.take(*all, x, index);
                        }
                    }
                }
            }
        });
        self.taken += (input.len() / columns) as u64;
    }
}

/// Elements that are transposed, scanned and transposed back at a time, unless the rows to gather
/// are longer: they and their results stay in the shared cache of the cores.
const HELD: usize = 1 << 20;

/// Rows and columns that are transposed together: whole cache lines of each.
const SIDE: usize = 16;

/// Rows of results that a core transposes back at a time.
const ROWS: usize = 4 * SIDE;

/// Scans each column of the matrices of `len` rows and `columns` columns that are stored
/// consecutively in `input`. The results are bit-identical to a [`RowScan`] of all columns,
/// concatenated.
///
/// # Errors
/// [`NoRoom`] for some of the columns and their results: 16 or more.
///
/// # Panics
/// If `input` is not a number of whole non-empty matrices, or the number of results differs.
pub fn scan_columns<O: ScanOperation + Default>(
    input: &[O::Element],
    (len, columns): (usize, usize),
    form: Form,
    output: &mut [O::Output],
) -> Result<(), NoRoom> {
    Gathered::<O>::new(input.len(), len, form)?.scan_all(input, (len, columns), output)
}

/// Scans each column of matrices as in [`scan_columns`], with the bits of a [`scan`](super::scan()) of
/// the column alone.
///
/// # Errors
/// As for [`scan_columns`].
///
/// # Panics
/// As for [`scan_columns`].
pub fn scan_each_column<O: ScanOperation>(
    op: O,
    input: &[O::Element],
    (len, columns): (usize, usize),
    form: Form,
    output: &mut [O::Output],
) -> Result<(), NoRoom> {
    let mut alone = Alone { op, form, len, elements: Vec::new(), results: Vec::new() };
    alone.scan_all(input, (len, columns), output)
}

/// Columns that are transposed, scanned as rows, and transposed back.
trait Transposed<O: ScanOperation> {
    /// Scans the columns starting at index `first` of all matrices, whose `count` elements `gather`
    /// writes.
    fn scan(
        &mut self,
        first: usize,
        count: usize,
        gather: impl FnOnce(&mut [O::Element]),
    ) -> Result<&[O::Output], NoRoom>;

    /// Scans all columns, some at a time.
    fn scan_all(
        &mut self,
        input: &[O::Element],
        (len, columns): (usize, usize),
        output: &mut [O::Output],
    ) -> Result<(), NoRoom> {
        assert_eq!(input.len(), output.len(), "a result for each element");
        let matrix = len * columns;
        assert!(matrix > 0 && input.len().is_multiple_of(matrix), "whole matrices with elements");
        if matrix <= HELD / SIDE {
            let few = HELD / matrix;
            let each = input.chunks(few * matrix).zip(output.chunks_mut(few * matrix));
            for (number, (input, output)) in each.enumerate() {
                let gather = |into: &mut [_]| transpose_each(input, into, (len, columns));
                let results = self.scan(number * few * columns, input.len(), gather)?;
                transpose_each(results, output, (columns, len));
            }
            return Ok(());
        }
        let width = (HELD / len).next_multiple_of(SIDE);
        let matrices = input.chunks(matrix).zip(output.chunks_mut(matrix));
        for (number, (input, output)) in matrices.enumerate() {
            for first in (0..columns).step_by(width) {
                let width = width.min(columns - first);
                let gather = |into: &mut [_]| {
                    parallel::for_each(into.chunks_mut(SIDE * len), &|number, into| {
                        let (from, width) = (&input[first + number * SIDE..], into.len() / len);
                        transpose((from, columns), (into, len), (len, width));
                    });
                };
                let results = self.scan(number * columns + first, width * len, gather)?;
                parallel::for_each(output.chunks_mut(ROWS * columns), &|number, into| {
                    let (from, rows) = (&results[number * ROWS..], into.len() / columns);
                    transpose((from, len), (&mut into[first..], columns), (width, rows));
                });
            }
        }
        Ok(())
    }
}

/// Some columns of the matrices, concatenated, and their results.
struct Gathered<O: ScanOperation + Default> {
    scan: RowScan<O>,
    /// Elements of a tile of the scan.
    tile: usize,
    /// Elements of a column.
    len: usize,
    elements: Vec<O::Element>,
    results: Vec<O::Output>,
}

impl<O: ScanOperation + Default> Gathered<O> {
    /// Columns of `len` elements, with `all` elements in total.
    fn new(all: usize, len: usize, form: Form) -> Result<Self, NoRoom> {
        let scan = RowScan::new(all, len, form)?;
        let tile = RowScan::<O>::tile(all);
        Ok(Self { scan, tile, len, elements: Vec::new(), results: Vec::new() })
    }
}

impl<O: ScanOperation + Default> Transposed<O> for Gathered<O> {
    fn scan(
        &mut self,
        first: usize,
        count: usize,
        gather: impl FnOnce(&mut [O::Element]),
    ) -> Result<&[O::Output], NoRoom> {
        let start = first * self.len;
        // The tile in which they start has elements of other columns first, which do not affect
        // them.
        let others = start % self.tile;
        let count = others + count;
        resize(&mut self.elements, count)?;
        resize(&mut self.results, count)?;
        gather(&mut self.elements[others..]);
        self.scan.go_to(start - others);
        self.scan.next(&self.elements, &mut self.results);
        Ok(&self.results[others..])
    }
}

/// Some columns of the matrices, each scanned alone, and their results.
struct Alone<O: ScanOperation> {
    op: O,
    form: Form,
    /// Elements of a column.
    len: usize,
    elements: Vec<O::Element>,
    results: Vec<O::Output>,
}

impl<O: ScanOperation> Transposed<O> for Alone<O> {
    fn scan(
        &mut self,
        _: usize,
        count: usize,
        gather: impl FnOnce(&mut [O::Element]),
    ) -> Result<&[O::Output], NoRoom> {
        resize(&mut self.elements, count)?;
        resize(&mut self.results, count)?;
        gather(&mut self.elements);
        scan_each_row(self.op, &self.elements, self.len, self.form, &mut self.results)?;
        Ok(&self.results)
    }
}

/// Gives `array` this length.
fn resize<T: Copy + Default>(array: &mut Vec<T>, len: usize) -> Result<(), NoRoom> {
    let more = len.saturating_sub(array.len());
    memory::reserve(array, more)?;
    array.resize(len, T::default());
    Ok(())
}

/// Transposes each of the small matrices of this many rows and columns that are stored
/// consecutively.
fn transpose_each<T: Copy + Default + Send + Sync>(
    from: &[T],
    into: &mut [T],
    (rows, columns): (usize, usize),
) {
    let matrix = rows * columns;
    let few = (parallel::CHUNK / matrix).max(1) * matrix;
    parallel::for_each(from.chunks(few).zip(into.chunks_mut(few)), &|_, (from, into)| {
        for (from, into) in from.chunks(matrix).zip(into.chunks_mut(matrix)) {
            transpose((from, columns), (into, rows), (rows, columns));
        }
    });
}

/// Transposes a matrix of this many rows and columns. `apart` is the distance, in elements, between
/// the starts of its rows, and of those of the result.
fn transpose<T: Copy + Default>(
    (from, apart): (&[T], usize),
    (into, apart_into): (&mut [T], usize),
    (rows, columns): (usize, usize),
) {
    // Each cache line is read once and written once, even where many rows share a set of the cache.
    let mut square = [[T::default(); SIDE]; SIDE];
    for row in (0..rows).step_by(SIDE) {
        for column in (0..columns).step_by(SIDE) {
            let (height, width) = (SIDE.min(rows - row), SIDE.min(columns - column));
            for (at, line) in square[..height].iter_mut().enumerate() {
                let from = &from[(row + at) * apart + column..];
                match from.first_chunk() {
                    // Writing more than the width is harmless.
                    Some(whole) => *line = *whole,
                    None => line[..width].copy_from_slice(&from[..width]),
                }
            }
            for at in 0..width {
                let into = &mut into[(column + at) * apart_into + row..][..height];
                for (into, line) in into.iter_mut().zip(&square) {
                    *into = line[at];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;
    use bytemuck::Pod;
    use gridsync_kernels::op::{InSegments, Min, Segments, Sum};
    use std::fmt::Debug;

    /// Compares with a scan of each column alone.
    fn agrees<O>(op: O, len: usize, columns: usize, rows: usize)
    where
        O: ScanOperation<Element = i32, Output: Debug + PartialEq>,
    {
        let drawn = |i: i32| (i + 1).wrapping_mul(0x9E37_79B1u32 as i32);
        let input: Vec<i32> = (0..(len * columns) as i32).map(drawn).collect();
        for form in [Form::Inclusive, Form::Exclusive] {
            let mut columns_scan = ColumnScan::new(op, columns, form).expect("there is room");
            for time in 0..2 {
                let mut output = vec![O::Output::default(); input.len()];
                let part = rows * columns;
                for (input, output) in input.chunks(part).zip(output.chunks_mut(part)) {
                    columns_scan.next(input, output);
                }
                columns_scan.restart();
                for column in 0..columns {
                    let of = |all: &[i32]| -> Vec<i32> {
                        all[column..].iter().step_by(columns).copied().collect()
                    };
                    let expected = scan(op, &of(&input), form);
                    let got: Vec<_> = output[column..].iter().step_by(columns).collect();
                    let same = got.into_iter().eq(&expected);
                    assert!(same, "{form:?} of column {column} of {columns}, time {time}");
                }
            }
        }
    }

    #[test]
    fn each_column_is_scanned_separately() {
        for (len, columns, rows) in [(1, 1, 1), (100, 3, 7), (50, 257, 50), (5, 5000, 2)] {
            agrees(Sum::<i32, i64>::new(), len, columns, rows);
            agrees(Min::<i32>::new(), len, columns, rows);
        }
    }

    /// Compares with a segmented scan of all columns, concatenated. The results must be
    /// bit-identical.
    fn has_the_bits_of_a_copy<O>(
        of: fn(u64) -> O::Element,
        matrices: usize,
        (len, columns): (usize, usize),
    ) where
        O: ScanOperation<Output: Pod> + Default,
    {
        let drawn = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let input: Vec<_> = (0..matrices * len * columns).map(|i| of(drawn(i))).collect();
        let place = |at: usize| {
            let (line, row) = (at / len, at % len);
            (line / columns * len + row) * columns + line % columns
        };
        let copy: Vec<_> = (0..input.len()).map(|at| input[place(at)]).collect();
        let segments = InSegments::<O>::new(Segments::rows(len as u64));
        for form in [Form::Inclusive, Form::Exclusive] {
            let expected = scan(segments, &copy, form);
            let mut output = vec![O::Output::default(); input.len()];
            scan_columns::<O>(&input, (len, columns), form, &mut output).expect("there is room");
            // The comparison of bits distinguishes -0 from 0.
            let bits = bytemuck::bytes_of::<O::Output>;
            let same = |&at: &usize| bits(&output[place(at)]) == bits(&expected[at]);
            let differs = (0..input.len()).find(|at| !same(at));
            assert_eq!(differs, None, "{form:?} of {matrices} of {len} by {columns}");
        }
    }

    #[test]
    fn each_float_column_has_the_bits_of_a_scan_of_it_alone() {
        for (matrices, len, columns) in
            [(1, 1, 33), (3, 33, 31), (2, 257, 300), (1, 4097, 48), (1, 100_000, 37)]
        {
            let of = |i: usize| (i as u32).wrapping_mul(0x9E37_79B1) as f32 / 1e7 - 200.0;
            let input: Vec<f32> = (0..matrices * len * columns).map(of).collect();
            let op = Sum::<f32>::new();
            let mut output = vec![0.0; input.len()];
            scan_each_column(op, &input, (len, columns), Form::Inclusive, &mut output)
                .expect("there is room");
            let matrix = len * columns;
            for column in (0..matrices).flat_map(|m| (0..columns).map(move |c| m * matrix + c)) {
                let of = |all: &[f32]| -> Vec<f32> {
                    all[column..].iter().step_by(columns).take(len).copied().collect()
                };
                let bits = |all: Vec<f32>| all.into_iter().map(f32::to_bits).collect::<Vec<_>>();
                let expected = scan(op, &of(&input), Form::Inclusive);
                assert_eq!(bits(of(&output)), bits(expected), "{matrices} of {len} by {columns}");
            }
        }
    }

    #[test]
    fn float_columns_are_bit_identical_to_a_transposed_copy() {
        let f32_of = |bits: u64| (bits >> 40) as f32 / 1e3 - 5e3;
        let f64_of = |bits: u64| (bits >> 20) as f64 / 1e9 - 5e3;
        for (matrices, len, columns) in [
            (1, 1, 1),
            (1, 1, 33),
            (1, 31, 32),
            (3, 32, 31),
            (1, 33, 33),
            (70_000, 3, 2),
            (5, 257, 300),
            (1, 4095, 70),
            (2, 4096, 17),
            (1, 4097, 48),
            // Several groups of columns, and one that ends in the middle of a square.
            (1, 100_000, 37),
            (2, 90, 14_001),
        ] {
            has_the_bits_of_a_copy::<Sum<f32>>(f32_of, matrices, (len, columns));
            has_the_bits_of_a_copy::<Sum<f32, f64>>(f32_of, matrices, (len, columns));
            has_the_bits_of_a_copy::<Sum<f64>>(f64_of, matrices, (len, columns));
        }
    }
}

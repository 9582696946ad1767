//! The scan of each column of a matrix by an exact operation, without a transposed copy of it.

use crate::memory::{self, NoRoom};
use crate::parallel;
use gridsync_kernels::grid::scan::{Form, ScanOperation};

/// The fewest columns that a core takes: their elements of a row are worth a loop of their own.
const FEWEST: usize = 1 << 8;

/// A scan of each column of a matrix that comes some rows at a time.
pub struct ColumnScan<O: ScanOperation> {
    op: O,
    form: Form,
    /// What the elements so far of each column combine to.
    all: Vec<O::Accumulator>,
    /// Rows so far.
    taken: u64,
}

impl<O: ScanOperation> ColumnScan<O> {
    /// A scan by `op` of a matrix of `columns` columns.
    ///
    /// # Errors
    /// [`NoRoom`] for an accumulator of each column.
    ///
    /// # Panics
    /// If the operation is not exact: the columns would not have the bits that they have one after
    /// the other.
    pub fn new(op: O, columns: usize, form: Form) -> Result<Self, NoRoom> {
        assert!(O::EXACT, "only exact operations combine in any order");
        let mut all = Vec::new();
        memory::reserve(&mut all, columns)?;
        all.resize(columns, op.identity());
        Ok(Self { op, form, all, taken: 0 })
    }

    /// Begins with another matrix of as many columns.
    pub fn restart(&mut self) {
        self.all.fill(self.op.identity());
        self.taken = 0;
    }

    /// Scans the next rows, on all cores, and writes a result for each element.
    ///
    /// # Panics
    /// If they are not whole rows, or there are not as many results as elements.
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

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;
    use gridsync_kernels::op::{Min, Sum};
    use std::fmt::Debug;

    /// Compares with a scan of each column by itself.
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
    fn each_column_is_scanned_by_itself() {
        for (len, columns, rows) in [(1, 1, 1), (100, 3, 7), (50, 257, 50), (5, 5000, 2)] {
            agrees(Sum::<i32, i64>::new(), len, columns, rows);
            agrees(Min::<i32>::new(), len, columns, rows);
        }
    }
}

//! Cases of the reduction of rows.

use super::{CaseError, Kind, Sample, sample};
use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::{Checked, RowReducer};
use gridsync::reference;
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::op::{Max, Min, Operation, Sum};
use std::any::type_name;
use std::fmt::Debug;

/// Reduces the rows of a matrix of sampled elements by `op`, twice by one plan, and holds both results
/// against what the reference makes of each row alone.
///
/// # Errors
/// [`CaseError::Wrong`] if a row differs from the reference in any bit, and those of the device.
pub fn reduce_rows_case<O>(
    op: O,
    device: &Device,
    inputs: Kind,
    rows: usize,
    columns: usize,
    seed: u64,
) -> Result<(), CaseError>
where
    O: RowReducible + Checked,
    O::Element: Pod + Sample,
    O::Output: Debug,
{
    let host = sample::<O::Element>(inputs, rows * columns, seed);
    let input = device.upload(&host)?;
    let mut reducer = RowReducer::with(op, device, rows, columns)?;
    for time in ["", ", the second time"] {
        let results = reducer.reduce(&input)?;
        for (row, result) in results.into_iter().enumerate() {
            let alone = reference::reduce(op, &host[row * columns..][..columns]);
            if !O::same(result, alone) {
                return Err(CaseError::Wrong(format!(
                    "row {row} of {rows} rows of {columns}, {}, seed {seed}{time}: {result:?}, not the bits of {alone:?}",
                    type_name::<O>()
                )));
            }
        }
    }
    Ok(())
}

/// One operation that rows are reduced by, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct RowKind {
    /// The operation, as the program names it.
    pub op: &'static str,
    /// What the matrix holds.
    pub element: &'static str,
    /// What is accumulated.
    pub accumulator: &'static str,
    /// [`reduce_rows_case`] for this operation: rows, columns, seed.
    pub case: fn(&Device, usize, usize, u64) -> Result<(), CaseError>,
}

macro_rules! kinds {
    ($($op:literal $ty:ident: $($element:ident $(=> $accumulator:ident)?),*;)*) => {
        /// Every operation that has kernels for rows.
        #[must_use]
        pub fn row_kinds() -> Vec<RowKind> {
            vec![$($(RowKind {
                op: $op,
                element: stringify!($element),
                accumulator: type_name::<
                    <$ty<$element $(, $accumulator)?> as Operation>::Accumulator,
                >(),
                case: |device, rows, columns, seed| {
                    let op = $ty::<$element $(, $accumulator)?>::new();
                    reduce_rows_case(op, device, Kind::Values, rows, columns, seed)
                },
            }),*),*]
        }
    };
}
kinds! {
    "sum" Sum: f32, f64, i32 => i64, u32 => u64, i64, u64, f16 => f32, bf16 => f32;
    "min" Min: f32, f64, i32, u32, i64, u64;
    "max" Max: f32, f64, i32, u32, i64, u64;
}

//! Cases of the reduction of rows.

use super::reduce::short_name;
use super::{CaseError, Kind, OnCpu, Sample, Widen, sample};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::reduce_rows::reduce_rows_on_cpu;
use gridsync::primitives::{Checked, RowReducer};
use gridsync::reference;
use gridsync_entries::KernelOf;
use gridsync_entries::reduce_rows::{LongCommon, RowReducible, ShortCommon};
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{ArgMax, ArgMin, Max, Min, Operation, Sum};
use std::any::type_name;
use std::fmt::Debug;

/// Reduces the rows of a matrix of sampled elements by `op`, twice with one plan, and compares both
/// results with the reference for each row.
///
/// # Errors
/// [`CaseError::Wrong`] if a row differs from the reference in any bit, or if the device fails.
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
    let mut reducer = RowReducer::new(op, device, rows, columns)?;
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

/// The CPU's results of `op` for the matrix of [`reduce_rows_case`] with this size and seed.
fn on_cpu<O>(op: O, inputs: Kind, rows: usize, columns: usize, seed: u64) -> OnCpu
where
    O: Operation<Element: Sample + Widen, Output: Widen + Send>,
{
    let input = sample::<O::Element>(inputs, rows * columns, seed);
    let results = reduce_rows_on_cpu(op, &input, rows, columns);
    OnCpu::of(&input, results, reference::reduce_depth::<O>(columns))
}

/// One row reduction, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct RowKind {
    /// Its name in the catalogue, such as `sum_f32`.
    pub name: &'static str,
    /// The name of the operation in the program.
    pub op: &'static str,
    /// The element type of the matrix.
    pub element: &'static str,
    /// The type of the accumulator.
    pub accumulator: &'static str,
    /// The entry points in the PTX, for short rows and for long ones.
    pub kernels: [&'static str; 2],
    /// Elements per pack of 16 bytes.
    pub pack: usize,
    /// Elements per tile of a small array.
    pub tile: usize,
    /// [`reduce_rows_case`] for this operation: rows, columns, seed.
    pub case: fn(&Device, usize, usize, u64) -> Result<(), CaseError>,
    /// The matrix of the case, and the CPU's result for each row: rows, columns, seed.
    pub on_cpu: fn(usize, usize, u64) -> OnCpu,
}

impl RowKind {
    fn of<O: RowReducible>(
        name: &'static str,
        op: &'static str,
        case: fn(&Device, usize, usize, u64) -> Result<(), CaseError>,
        on_cpu: fn(usize, usize, u64) -> OnCpu,
    ) -> Self {
        Self {
            name,
            op,
            element: short_name::<O::Element>(),
            accumulator: short_name::<O::Accumulator>(),
            kernels: [KernelOf::<O, ShortCommon<O>>::NAME, KernelOf::<O, LongCommon<O>>::NAME],
            pack: O::Element::PACK,
            tile: Shape::of::<O::Element>(1).tile::<O::Element>(),
            case,
            on_cpu,
        }
    }
}

/// Every reduction of rows that has kernels.
#[must_use]
pub fn row_kinds() -> Vec<RowKind> {
    let mut kinds = Vec::new();
    macro_rules! kind {
        (rows $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            kinds.push(RowKind::of::<$ty>(
                stringify!($name),
                $op,
                |device, rows, columns, seed| {
                    reduce_rows_case(<$ty>::new(), device, Kind::$inputs, rows, columns, seed)
                },
                |rows, columns, seed| on_cpu(<$ty>::new(), Kind::$inputs, rows, columns, seed),
            ));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(kind);
    kinds
}

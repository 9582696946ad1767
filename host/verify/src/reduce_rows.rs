//! Cases of the reduction of rows.

use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, OnCpu, Sample, Widen, sample};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use gridsync::device::Device;
use gridsync::primitives::reduce_rows::reduce_rows_on_cpu;
use gridsync::primitives::scan::Form;
use gridsync::primitives::{Checked, RowReducer};
use gridsync::reference;
use gridsync_entries::KernelOf;
use gridsync_entries::reduce_rows::{LongCommon, RowReducible, ShortCommon};
use gridsync_kernels::grid::reduce::Shape;
use std::any::type_name;
use std::fmt::Debug;

/// A reduction of the rows of matrices.
struct Rows<O> {
    op: O,
    input: Input,
}

impl<O> Cases for Rows<O>
where
    O: RowReducible<Element: Pod + Sample + Widen, Output: Debug + Widen + Send> + Checked,
{
    /// Reduces a matrix twice with one plan, and compares both results with the reference for each
    /// row.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let Size::Matrix(rows, columns) = size else { return Err(size.mismatch()) };
        let host = sample::<O::Element>(self.input, rows * columns, seed);
        let input = device.upload(&host)?;
        let mut reducer = RowReducer::new(self.op, device, rows, columns)?;
        for time in ["", ", the second time"] {
            let results = reducer.reduce(&input)?;
            for (row, result) in results.into_iter().enumerate() {
                let alone = reference::reduce(self.op, &host[row * columns..][..columns]);
                if !O::same(result, alone) {
                    return Err(CaseError::Wrong(format!(
                        "row {row} of {size}, {}, seed {seed}{time}: {result:?}, not the bits of {alone:?}",
                        type_name::<O>()
                    )));
                }
            }
        }
        Ok(())
    }

    fn on_cpu(&self, size: Size, seed: u64, _form: Form) -> Result<OnCpu, CaseError> {
        let Size::Matrix(rows, columns) = size else { return Err(size.mismatch()) };
        let input = sample::<O::Element>(self.input, rows * columns, seed);
        let results = reduce_rows_on_cpu(self.op, &input, rows, columns);
        Ok(OnCpu::of(&input, results, reference::reduce_depth::<O>(columns)))
    }
}

/// The kind of the reduction of rows by `op`.
pub(super) fn kind<O>(names: (&'static str, &'static str), op: O, input: Input) -> Kind
where
    O: RowReducible<Element: Pod + Sample + Widen, Output: Debug + Widen + Send> + Checked,
{
    let tile = Shape::of::<O::Element>(1).tile::<O::Element>();
    let kernels = &[KernelOf::<O, ShortCommon<O>>::NAME, KernelOf::<O, LongCommon<O>>::NAME];
    let cases = Rows { op, input };
    Kind::of::<O::Element, O::Accumulator>(Primitive::Rows, names, kernels, tile, cases)
}

//! Cases of softmax of rows.

use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, Sample, same_bits, sample, wrong};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use gridsync::device::Device;
use gridsync::primitives::RowSoftmax;
use gridsync::primitives::softmax::{
    LongArguments, MiddleArguments, ShortArguments, SoftmaxElement, softmax_rows_on_cpu,
};
use gridsync_entries::KernelOf;
use gridsync_kernels::grid::softmax::most_of_middle;
use std::any::type_name;
use std::fmt::Debug;
use std::marker::PhantomData;

/// Softmax of the rows of matrices of `T`.
struct Softened<T>(PhantomData<T>);

impl<T: SoftmaxElement + Pod + Sample + Debug> Cases for Softened<T> {
    /// Computes the softmax of a matrix twice with one plan, and compares both results with the
    /// CPU's, and the sum of each row with 1.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let Size::Matrix(rows, columns) = size else { return Err(size.mismatch()) };
        let case = format!("{size}, softmax of {}, seed {seed}", type_name::<T>());
        let host = sample::<T>(Input::Values, rows * columns, seed);
        let input = device.upload(&host)?;
        let mut output = device.alloc(host.len())?;
        let mut softmax = RowSoftmax::new(device, rows, columns)?;
        let on_cpu = softmax_rows_on_cpu(&host, columns);
        for what in ["the softmax is", "the second time the softmax is"] {
            softmax.launch(&input, &mut output)?;
            same_bits(&case, what, &output.download()?, &on_cpu)?;
        }
        let unit = if size_of::<T>() == 2 { 1.0 / 256.0 } else { f64::from(f32::EPSILON) };
        // Each result that is not normal may be wrong by half of the least one.
        let bound = unit * 100.0 + columns as f64 * f64::from(f32::EPSILON) / 2.0;
        for row in on_cpu.chunks(columns.max(1)) {
            let sum: f64 = row.iter().map(|y| T::to_f64(y.widen())).sum();
            let error = (sum - 1.0).abs();
            if !sum.is_nan() && error > bound {
                return Err(wrong(&format!("a row of {case}"), &sum, &1.0, [error, bound]));
            }
        }
        Ok(())
    }
}

/// The kind of softmax of `T`, called `name`.
pub(super) fn kind<T: SoftmaxElement + Pod + Sample + Debug>(name: &'static str) -> Kind {
    let kernels = &[
        KernelOf::<T::Rows, ShortArguments<T>>::NAME,
        KernelOf::<T::Rows, MiddleArguments<T>>::NAME,
        KernelOf::<T::Rows, LongArguments<T>>::NAME,
    ];
    let names = (name, "softmax");
    let tile = most_of_middle::<T>();
    Kind::of::<T, T>(Primitive::Softmax, names, kernels, tile, Softened::<T>(PhantomData))
}

//! Cases of the reduction.

use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, OnCpu, Sample, Widen, sample, wrong};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use gridsync::device::Device;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::scan::Form;
use gridsync::primitives::{Checked, Reducer};
use gridsync::reference;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::grid::reduce::Shape;
use std::fmt::Debug;

/// Reduces `len` sampled elements by `op`, twice in one workspace, and checks both results. The
/// kind of the sample suits `op`.
///
/// # Errors
/// [`CaseError::Wrong`] if a result differs from the true one by more than its bound, or if the two
/// runs and the CPU differ in any bit; or if the device fails.
pub fn reduce_case<O>(
    op: O,
    device: &Device,
    inputs: Input,
    len: usize,
    seed: u64,
) -> Result<(), CaseError>
where
    O: Reducible + Checked,
    O::Element: Pod + Sample,
    O::Output: Debug,
{
    let host = sample::<O::Element>(inputs, len, seed);
    let input = device.upload(&host)?;
    let mut reducer = Reducer::new(op, device)?;
    let result = reducer.reduce(&input)?;
    let check = op.check(&host, result, reference::reduce_depth::<O>(len));
    let case = format!("{} of {len} elements, seed {seed}", std::any::type_name::<O>());
    if !check.ok {
        return Err(wrong(&case, &result, &check.reference, [check.abs_err, check.bound]));
    }
    let again = reducer.reduce(&input)?;
    let on_the_cpu = reference::reduce(op, &host);
    for (what, other) in [("a second run", again), ("the CPU", on_the_cpu)] {
        if !O::same(other, result) {
            return Err(CaseError::Wrong(format!(
                "{case}: {what} gives {other:?}, not the bits of {result:?}"
            )));
        }
    }
    Ok(())
}

/// A reduction of arrays.
struct Reduction<O> {
    op: O,
    input: Input,
}

impl<O> Cases for Reduction<O>
where
    O: Reducible<Element: Pod + Sample + Widen, Output: Debug + Widen> + Checked,
{
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        match size {
            Size::Array(len) => reduce_case(self.op, device, self.input, len, seed),
            other => Err(other.mismatch()),
        }
    }

    fn on_cpu(&self, size: Size, seed: u64, _form: Form) -> Result<OnCpu, CaseError> {
        let Size::Array(len) = size else { return Err(size.mismatch()) };
        let input = sample::<O::Element>(self.input, len, seed);
        let result = reduce_on_cpu(self.op, &input);
        Ok(OnCpu::of(&input, [result], reference::reduce_depth::<O>(len)))
    }
}

/// The kind of the reduction by `op`.
pub(super) fn kind<O>(names: (&'static str, &'static str), op: O, input: Input) -> Kind
where
    O: Reducible<Element: Pod + Sample + Widen, Output: Debug + Widen> + Checked,
{
    let tile = Shape::of::<O::Element>(1).tile::<O::Element>();
    let kernels = &[O::Kernel::NAME];
    let cases = Reduction { op, input };
    Kind::of::<O::Element, O::Accumulator>(Primitive::Reduce, names, kernels, tile, cases)
}

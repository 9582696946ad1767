//! Cases of the segments that are reduced, scanned, and scattered.

use super::kind::{Cases, Kind, Primitive, Size};
use super::segments::{Ragged, of};
use super::{CaseError, Input, Sample, same_bits, sample};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use gridsync::device::Device;
use gridsync::primitives::Checked;
use gridsync::primitives::scan::Form;
use gridsync::primitives::segments::scatter::{
    ScatterCommon, Scatterable, scatter_reduce, scatter_reduce_on_cpu,
};
use gridsync::primitives::segments::{Common, Offsets, scan_segments, scan_segments_on_cpu};
use gridsync::primitives::sort::Key;
use gridsync_entries::KernelOf;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::segments::{THREADS, steps};
use gridsync_kernels::op::{InSegments, Operation};
use std::any::type_name;
use std::fmt::Debug;

/// Reductions and scans of segments, and results that are scattered.
struct Scattered<O>(Ragged<O>);

impl<O> Cases for Scattered<O>
where
    O: Scatterable<
            Element: Key + Sample,
            Accumulator: Pod + Scalar + Debug,
            Output = <O as Operation>::Accumulator,
        > + Checked
        + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
{
    /// Reduces the segments, scans them in both forms, and scatters values to indices of which some
    /// are never used. Compares with the CPU's results.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        self.0.run(device, size, seed)?;
        let ((len, lens), Ragged { op, input }) = (of(size)?, &self.0);
        let offsets = lens.offsets(len, seed);
        let case = format!("{size}, {}, seed {seed}", type_name::<O>());
        let host = sample::<O::Element>(*input, len, !seed);
        let (values, segments) = (device.upload(&host)?, Offsets::new(device, &offsets)?);
        for form in [Form::Inclusive, Form::Exclusive] {
            let scanned = scan_segments::<O>(&values, &segments, form)?;
            let on_cpu = scan_segments_on_cpu::<O>(&host, &offsets, form);
            same_bits(&case, "the scan of segments gives", &scanned.download()?, &on_cpu)?;
        }
        let slots = offsets.len() + 5;
        let indices: Vec<u32> = sample::<u32>(Input::Values, len, seed)
            .into_iter()
            .map(|index| index % slots as u32 / 2 * 2)
            .collect();
        let mut on_cpu = vec![op.finish(op.identity()); slots];
        let mut into = device.upload(&on_cpu)?;
        for _ in 0..2 {
            scatter_reduce(*op, &device.upload(&indices)?, &values, &mut into)?;
            scatter_reduce_on_cpu(*op, &indices, &host, &mut on_cpu);
        }
        let wide: Vec<u64> = indices.iter().map(|&index| index.into()).collect();
        scatter_reduce(*op, &device.upload(&wide)?, &values, &mut into)?;
        scatter_reduce_on_cpu(*op, &wide, &host, &mut on_cpu);
        same_bits(&case, "an element that values are scattered to is", &into.download()?, &on_cpu)
    }
}

/// The kind of the reductions, scans and scattered results of segments by `op`.
pub(super) fn kind<O>(names: (&'static str, &'static str), op: O, input: Input) -> Kind
where
    O: Scatterable<
            Element: Key + Sample,
            Accumulator: Pod + Scalar + Debug,
            Output = <O as Operation>::Accumulator,
        > + Checked
        + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
{
    let kernels = &[KernelOf::<O, Common<O>>::NAME, KernelOf::<O, ScatterCommon<O>>::NAME];
    let tile = (THREADS * steps::<O::Element>()) as usize;
    let cases = Scattered(Ragged { op, input });
    Kind::of::<O::Element, O::Accumulator>(Primitive::Segments, names, kernels, tile, cases)
}

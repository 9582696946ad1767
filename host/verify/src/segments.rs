//! Cases of the reductions of segments, and of runs and groups of equal keys.

use super::kind::{Cases, Kind, Primitive, Size};
use super::sort::Lens;
use super::{CaseError, Input, Sample, same_bits, sample, wrong};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use gridsync::device::Device;
use gridsync::primitives::Checked;
use gridsync::primitives::scan::Form;
use gridsync::primitives::segments::by_key::{
    Nans, RunKey, group_by, group_by_on_cpu, reduce_by_key, runs, runs_on_cpu, scan_by_key,
    scan_by_key_on_cpu, unique_by_key, unique_by_key_on_cpu,
};
use gridsync::primitives::segments::{
    Common, Offsets, SegmentReducer, SegmentReducible, reduce_segments_on_cpu,
};
use gridsync::primitives::sort::Order;
use gridsync::primitives::value_counts::value_counts_on_cpu;
use gridsync_entries::KernelOf;
use gridsync_entries::segments::Marking;
use gridsync_kernels::grid::segments::{MARKED, THREADS, depth, steps, tiles};
use gridsync_kernels::op::{Max, Sum};
use std::any::type_name;
use std::fmt::Debug;
use std::marker::PhantomData;

/// Reductions of segments.
pub(super) struct Ragged<O> {
    pub(super) op: O,
    pub(super) input: Input,
}

impl<O> Cases for Ragged<O>
where
    O: SegmentReducible<Element: Pod + Sample, Output: Debug> + Checked,
{
    /// Reduces the segments of an array twice in one workspace, and compares both results with the
    /// CPU's, and each segment with the reference.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let (len, lens) = of(size)?;
        let offsets = lens.offsets(len, seed);
        let case = format!("{size}, {}, seed {seed}", type_name::<O>());
        let host = sample::<O::Element>(self.input, len, seed);
        let input = device.upload(&host)?;
        let segments = Offsets::new(device, &offsets)?;
        let mut reducer = SegmentReducer::new(self.op, device)?;
        let on_cpu = reduce_segments_on_cpu(self.op, &host, &offsets);
        for time in ["", " the second time"] {
            let results = reducer.reduce(&input, &segments)?;
            let differs = |(a, b): (&O::Output, &O::Output)| !O::same(*a, *b);
            if let Some(at) = results.iter().zip(&on_cpu).position(differs) {
                return Err(CaseError::Wrong(format!(
                    "segment {at} of {case}{time}: {:?}, not the bits of {:?}",
                    results[at], on_cpu[at]
                )));
            }
        }
        let depth = depth::<O::Element>(tiles::<O::Element>(len, segments.count()));
        for (segment, (pair, &result)) in offsets.windows(2).zip(&on_cpu).enumerate() {
            let own = &host[pair[0] as usize..pair[1] as usize];
            let check = self.op.check(own, result, depth.into());
            if !check.ok {
                let case = format!("segment {segment} of {case}");
                return Err(wrong(&case, &result, &check.reference, [check.abs_err, check.bound]));
            }
        }
        Ok(())
    }
}

/// The elements and the lengths of the segments of a case.
pub(super) fn of(size: Size) -> Result<(usize, Lens), CaseError> {
    match size {
        Size::Ragged(len, lens) => Ok((len, lens)),
        Size::Array(len) => Ok((len, Lens::Mixed)),
        _ => Err(size.mismatch()),
    }
}

/// The kind of the reductions of segments by `op`.
pub(super) fn kind<O>(names: (&'static str, &'static str), op: O, input: Input) -> Kind
where
    O: SegmentReducible<Element: Pod + Sample, Output: Debug> + Checked,
{
    let kernels = &[KernelOf::<O, Common<O>>::NAME];
    let tile = (THREADS * steps::<O::Element>()) as usize;
    let cases = Ragged { op, input };
    Kind::of::<O::Element, O::Accumulator>(Primitive::Segments, names, kernels, tile, cases)
}

/// Runs and groups of equal keys.
struct Keyed<K>(PhantomData<K>);

impl<K: RunKey + Sample + Debug> Cases for Keyed<K> {
    /// Reduces, scans and counts by keys that have runs of the lengths of the size, and compares
    /// with the CPU's results, and the counts with a loop.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let (len, lens) = of(size)?;
        let case = format!("{size}, keys of {}, seed {seed}", type_name::<K>());
        let offsets = lens.offsets(len, seed);
        let of_runs = sample::<K>(Input::Values, offsets.len(), seed);
        let lens_of_runs = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        let host: Vec<K> =
            of_runs.iter().zip(lens_of_runs).flat_map(|(&key, len)| [key].repeat(len)).collect();
        let floats = sample::<f32>(Input::Values, len, !seed);
        let (keys, values) = (device.upload(&host)?, device.upload(&floats)?);
        let (sum, max) = (Sum::<f32>::new(), Max::<f32>::new());
        for nans in [Nans::Apart, Nans::Together] {
            let (keys_of_runs, sums) = reduce_by_key(sum, &keys, &values, nans)?;
            let (firsts, offsets) = runs_on_cpu(&host, nans);
            let (true_firsts, true_counts) = runs_of(&host, nans);
            same_bits(&case, "the CPU finds the key", &firsts, &true_firsts)?;
            same_bits(&case, "a run has the key", &keys_of_runs, &true_firsts)?;
            let counts: Vec<u64> = runs(&keys, nans)?.1.lengths().collect();
            same_bits(&case, "a run has the length", &counts, &true_counts)?;
            let on_cpu = reduce_segments_on_cpu(sum, &floats, &offsets);
            same_bits(&case, "a run has the sum", &sums, &on_cpu)?;
            let (_, first_values) = unique_by_key(&keys, &values, nans)?;
            let (_, on_cpu) = unique_by_key_on_cpu(&host, &floats, nans);
            same_bits(&case, "a run has the first value", &first_values, &on_cpu)?;
            for form in [Form::Inclusive, Form::Exclusive] {
                let scanned = scan_by_key::<Sum<f32>, _>(&keys, &values, form, nans)?;
                let on_cpu = scan_by_key_on_cpu::<Sum<f32>, _>(&host, &floats, form, nans);
                same_bits(&case, "the scan by key gives", &scanned.download()?, &on_cpu)?;
            }
        }
        let ((distinct, groups), (_, on_cpu)) = (group_by(&keys)?, group_by_on_cpu(&host));
        let largest = groups.reduce(max, &values)?;
        same_bits(&case, "a group has the maximum", &largest, &on_cpu.reduce(max, &floats))?;
        let counted = value_counts_on_cpu(Order::ASCENDING, &host);
        same_bits(&case, "a group has the key", &distinct, &counted.elements)?;
        let counts: Vec<u64> = groups.counts().collect();
        same_bits(&case, "a group has so many values:", &counts, &counted.counts)
    }
}

/// The keys and lengths of the runs, by a loop.
fn runs_of<K: RunKey>(keys: &[K], nans: Nans) -> (Vec<K>, Vec<u64>) {
    let is_nan = |key: &K| key.to_f64().is_nan();
    let continues = |a: &K, b: &K| a == b || nans == Nans::Together && is_nan(a) && is_nan(b);
    keys.chunk_by(continues).map(|run| (run[0], run.len() as u64)).unzip()
}

/// The kind of the runs and groups of keys of `K`, called `name`.
pub(super) fn kind_by_key<K: RunKey + Sample + Debug>(name: &'static str) -> Kind {
    let kernels = &[KernelOf::<K::Runs, Marking<K>>::NAME];
    Kind::of::<K, K>(Primitive::ByKey, (name, "by key"), kernels, MARKED, Keyed::<K>(PhantomData))
}

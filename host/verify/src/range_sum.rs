//! Cases of the range sums.

use super::inputs::random;
use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, Sample, same_bits, sample, wrong};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use gridsync::device::Device;
use gridsync::primitives::range_sum::{
    RangeSumError, RangeSums, check_range_sums, range_sums_on_cpu,
};
use gridsync::primitives::{RangeSummable, ScanCheck};
use gridsync_entries::range_sum::RangeSumNumber;
use gridsync_kernels::grid::scan::Shape;
use std::any::type_name;
use std::fmt::Debug;

/// Queries of a case in addition to those at the ends.
const QUERIES: usize = 600;

/// `count` ranges of `len` elements, of the sequence `seed`: the whole array, empty ranges at
/// either end, and random ranges.
#[must_use]
pub fn sample_ranges(len: usize, count: usize, seed: u64) -> Vec<[u64; 2]> {
    let all = len as u64;
    let ends = [[0, all], [0, 0], [all, all]];
    let any = (0..count as u64).map(|i| {
        let place = |i| random(seed, i) % (all + 1);
        let (a, b) = (place(2 * i), place(2 * i + 1));
        [a.min(b), a.max(b)]
    });
    ends.into_iter().chain(any).take(count).collect()
}

/// Sums of ranges.
struct Ranges<O> {
    op: O,
    input: Input,
}

impl<O> Cases for Ranges<O>
where
    O: RangeSummable<Element: Pod + Sample, Output: Pod + Debug>,
{
    /// Queries the sums of ranges of an array twice.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let Size::Array(len) = size else { return Err(size.mismatch()) };
        let host = sample::<O::Element>(self.input, len, seed);
        let queries = sample_ranges(len, QUERIES, seed);
        let case = format!("{} of {len} elements, seed {seed}", type_name::<O>());
        let failed = |error: RangeSumError| match error {
            RangeSumError::Device(error) => CaseError::Device(error),
            error => CaseError::Wrong(format!("{case}: {error}")),
        };
        let mut ranges = RangeSums::<O>::new(device, &device.upload(&host)?)?;
        let sums = ranges.query(&queries).map_err(failed)?;
        if let Some(ScanCheck { at, check }) =
            check_range_sums(self.op, &host, &queries, &sums).filter(|scan| !scan.check.ok)
        {
            let sum = format_args!("{:?} for {:?}", sums[at], queries[at]);
            return Err(wrong(&case, &sum, &check.reference, [check.abs_err, check.bound]));
        }
        let again = ranges.query(&queries).map_err(failed)?;
        let on_the_cpu =
            range_sums_on_cpu(self.op, &host, &queries).map_err(|bad| failed(bad.into()))?;
        same_bits(&case, "a second time gives", &again, &sums)?;
        same_bits(&case, "the CPU gives", &on_the_cpu, &sums)
    }
}

/// The kind of the sums of ranges by `op`.
pub(super) fn kind<O>(names: (&'static str, &'static str), op: O, input: Input) -> Kind
where
    O: RangeSummable<Element: Pod + Sample, Output: Pod + Debug>,
{
    let tile = Shape::of::<O::Element, O::Accumulator>(1).tile::<O::Element>();
    let kernels = &[<O::Output as RangeSumNumber>::Kernel::NAME];
    let cases = Ranges { op, input };
    Kind::of::<O::Element, O::Output>(Primitive::Ranges, names, kernels, tile, cases)
}

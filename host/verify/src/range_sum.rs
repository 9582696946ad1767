//! Cases of the range sums.

use super::inputs::random;
use super::reduce::short_name;
use super::{CaseError, Kind, Sample, sample};
use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::range_sum::{
    RangeSumError, RangeSums, check_range_sums, range_sums_on_cpu,
};
use gridsync::primitives::{RangeSummable, ScanCheck};
use gridsync_kernels::op::{Operation, Sum};
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

/// Queries the sums of ranges of `len` sampled elements, twice, and checks them all.
///
/// # Errors
/// [`CaseError::Wrong`] if a sum differs from the true one by more than its bound, or in any bit
/// from the second run or the CPU; or if the device fails.
pub fn range_sum_case<O>(op: O, device: &Device, len: usize, seed: u64) -> Result<(), CaseError>
where
    O: RangeSummable,
    O::Element: Pod + Sample,
    O::Output: Pod + Debug,
{
    let host = sample::<O::Element>(Kind::Values, len, seed);
    let queries = sample_ranges(len, QUERIES, seed);
    let case = format!("{} of {len} elements, seed {seed}", type_name::<O>());
    let failed = |error: RangeSumError| match error {
        RangeSumError::Device(error) => CaseError::Device(error),
        error => CaseError::Wrong(format!("{case}: {error}")),
    };
    let mut ranges = RangeSums::<O>::new(device, &device.upload(&host)?)?;
    let sums = ranges.query(&queries).map_err(failed)?;
    if let Some(ScanCheck { at, check }) =
        check_range_sums(op, &host, &queries, &sums).filter(|scan| !scan.check.ok)
    {
        return Err(CaseError::Wrong(format!(
            "{case}: {:?} for {:?}, the reference says {:?}; they differ by {:e}, allowed {:e}",
            sums[at], queries[at], check.reference, check.abs_err, check.bound
        )));
    }
    let again = ranges.query(&queries).map_err(failed)?;
    let on_the_cpu = range_sums_on_cpu(op, &host, &queries).map_err(|bad| failed(bad.into()))?;
    for (what, others) in [("a second time", again), ("the CPU", on_the_cpu)] {
        let same = bytemuck::cast_slice::<_, u8>(&sums) == bytemuck::cast_slice::<_, u8>(&others);
        if !same {
            return Err(CaseError::Wrong(format!("{case}: {what} gives other bits")));
        }
    }
    Ok(())
}

/// One kind of range sum, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct RangeSumKind {
    /// The element type of the array.
    pub element: &'static str,
    /// The type of the accumulator and of the sums.
    pub accumulator: &'static str,
    /// [`range_sum_case`] for this sum: elements, seed.
    pub case: fn(&Device, usize, u64) -> Result<(), CaseError>,
}

/// Every kind of range sum.
#[must_use]
pub fn range_sum_kinds() -> Vec<RangeSumKind> {
    let mut kinds = Vec::new();
    macro_rules! kind {
        (ranges $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            kinds.push(RangeSumKind {
                element: short_name::<<$ty as Operation>::Element>(),
                accumulator: short_name::<<$ty as Operation>::Output>(),
                case: |device, len, seed| range_sum_case(<$ty>::new(), device, len, seed),
            });
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(kind);
    kinds
}

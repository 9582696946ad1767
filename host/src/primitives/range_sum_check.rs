//! Compares range sums with the reference.

use super::check::{Check, within};
use super::scan_check::{ScanCheck, worst};
use crate::reference::{Exact, exact_prefix_sums, sum_bound};
use cuda_std::{bf16, f16};
use gridsync_entries::range_sum::RangeSumNumber;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{Operation, Sum};
use std::iter::once;

/// The sums that range sums exist for: of f32, f64, i32, u32, i64, u64, f16 and bf16, in 64 bits,
/// or in f32 if that can hold the elements.
pub trait RangeSummable: Default + Scannable<Output: RangeSumNumber> {
    /// Compares `sums`, of the ranges `queries` of `input`, with the reference. No element goes
    /// through more than `depth` roundings in the scan.
    ///
    /// # Panics
    /// If there are not as many sums as queries, or a query is no range of the input.
    fn check_ranges(
        self,
        input: &[Self::Element],
        queries: &[[u64; 2]],
        sums: &[Self::Output],
        depth: u64,
    ) -> Option<ScanCheck<Self::Output>>;
}

macro_rules! sum {
    (ranges integer ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
        impl RangeSummable for $ty {
            fn check_ranges(
                self,
                input: &[Self::Element],
                queries: &[[u64; 2]],
                sums: &[Self::Output],
                _depth: u64,
            ) -> Option<ScanCheck<Self::Output>> {
                let up_to = input.iter().scan(self.identity(), |all, &x| {
                    *all = self.combine(*all, self.lift(x, 0));
                    Some(*all)
                });
                let up_to: Vec<_> = once(self.identity()).chain(up_to).collect();
                worst(sums, queries.len(), |number, sum| {
                    let [from, to] = queries[number];
                    let reference = up_to[to as usize].wrapping_sub(up_to[from as usize]);
                    let abs_err = (i128::from(sum) - i128::from(reference)).unsigned_abs() as f64;
                    Check { reference, abs_err, bound: 0.0, ok: sum == reference }
                })
            }
        }
    };
    (ranges float ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
        impl RangeSummable for $ty {
            fn check_ranges(
                self,
                input: &[Self::Element],
                queries: &[[u64; 2]],
                sums: &[Self::Output],
                depth: u64,
            ) -> Option<ScanCheck<Self::Output>> {
                let unit = f64::from(<$ty as Operation>::Output::EPSILON) / 2.0;
                let none = Exact { value: 0.0, magnitude: 0.0 };
                let up_to: Vec<_> = once(none).chain(exact_prefix_sums(input)).collect();
                worst(sums, queries.len(), |number, sum| {
                    let [from, to] = queries[number];
                    let (before, all) = (up_to[from as usize], up_to[to as usize]);
                    let value = if from == to { 0.0 } else { all.value - before.value };
                    let magnitude = all.magnitude + before.magnitude;
                    // One more rounding for the difference, and one for the reference.
                    let bound = sum_bound(magnitude, depth + 2, unit);
                    within(value, bound, magnitude + bound, sum)
                })
            }
        }
    };
    ($primitive:ident $value:tt $row:tt) => {};
}
gridsync_entries::operations!(sum);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_that_of_the_sums_up_to_the_range_not_of_the_range() {
        let input = [1e8f32, 1.0, 1.0];
        let check = |sum| Sum::<f32>::new().check_ranges(&input, &[[1, 3]], &[sum], 4);
        // 1e8 + 2 − 1e8 in f32, where neighbours of 1e8 are 8 apart.
        assert!(check(0.0).is_some_and(|scan| scan.check.ok));
        assert!(check(1e3).is_some_and(|scan| !scan.check.ok));
    }

    #[test]
    fn a_wrong_integer_is_named() {
        let queries = [[0, 1], [1, 3]];
        let check =
            |sums: &[i64]| Sum::<i32, i64>::new().check_ranges(&[1, 2, 3], &queries, sums, 0);
        assert!(check(&[1, 5]).is_some_and(|scan| scan.check.ok));
        assert!(check(&[1, 6]).is_some_and(|scan| !scan.check.ok && scan.at == 1));
    }
}

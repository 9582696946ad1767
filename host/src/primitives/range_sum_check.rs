//! Compares range sums with the reference.

use super::check::{Check, within};
use super::scan_check::{ScanCheck, Worst};
use crate::memory::{self, NoRoom};
use crate::parallel::{self, CHUNK};
use crate::reference::{Exact, RunningSum, sum_bound};
use cuda_std::{bf16, f16};
use gridsync_entries::range_sum::RangeSumNumber;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{Operation, Sum, Widen};

/// A check of the sums of ranges of an array that is passed part by part. It keeps the values at
/// the ends of the ranges.
pub trait RangeChecking<E, A> {
    /// Adds the next elements.
    fn next(&mut self, input: &[E]);

    /// Compares the sums with the reference. All elements must have been added. Returns the first
    /// wrong sum; or, if all are correct, the one whose error is the largest fraction of its bound.
    /// `None` if there are no sums.
    ///
    /// # Panics
    /// If the numbers of sums and queries differ, or a query is not a range of the elements.
    fn check(&self, sums: &[A]) -> Option<ScanCheck<A>>;
}

/// The sums that support range sums: of f32, f64, i32, u32, i64, u64, f16 and bf16, in 64 bits, or
/// in f32 if that can hold the elements.
pub trait RangeSummable: Default + Scannable<Output: RangeSumNumber> {
    /// Half the machine epsilon of the sums, or 0 if they are exact.
    const UNIT: f64;

    /// The sum of the absolute values of `input`, from which [`range_bound`] is computed; `None` if
    /// the sums are exact.
    fn magnitude(input: &[Self::Element]) -> Option<f64>;

    /// Starts a check of the sums of the ranges `queries`. No element has more than `depth`
    /// roundings in the scan.
    ///
    /// # Errors
    /// [`NoRoom`] for the values at the ends of the ranges.
    fn checking_ranges(
        self,
        queries: &[[u64; 2]],
        depth: u64,
    ) -> Result<Box<dyn RangeChecking<Self::Element, Self::Output> + '_>, NoRoom>;
}

/// The largest error of the sum of a range: `magnitude` is the sum of the absolute values of all
/// elements up to its start and of those up to its end, and `depth` is that of the scan. One more
/// rounding is for the difference, and one for a reference.
#[must_use]
pub fn range_bound(magnitude: f64, depth: u64, unit: f64) -> f64 {
    sum_bound(magnitude, depth + 2, unit)
}

/// A check by the sums of the elements before each end of a range.
struct ByEnds<'a, V, N, J> {
    queries: &'a [[u64; 2]],
    /// The ends of all ranges, in order, and the values before them, for the elements so far.
    ends: Vec<u64>,
    before: Vec<V>,
    taken: u64,
    /// Adds the next element to a value.
    next: N,
    judge: J,
}

impl<'a, V: Copy, N, J> ByEnds<'a, V, N, J> {
    /// `none` is the value of no elements.
    fn new(queries: &'a [[u64; 2]], none: V, next: N, judge: J) -> Result<Self, NoRoom> {
        let mut ends = Vec::new();
        memory::reserve(&mut ends, 2 * queries.len())?;
        ends.extend(queries.as_flattened());
        ends.sort_unstable();
        ends.dedup();
        let mut before = Vec::new();
        memory::reserve(&mut before, ends.len())?;
        before.extend((ends.first() == Some(&0)).then_some(none));
        Ok(Self { queries, ends, before, taken: 0, next, judge })
    }

    fn before(&self, end: u64) -> V {
        let place = self.ends.binary_search(&end);
        self.before[place.expect("every end of a query is among them")]
    }
}

impl<E, A, V, N, J> RangeChecking<E, A> for ByEnds<'_, V, N, J>
where
    E: Copy,
    A: Copy,
    V: Copy,
    N: FnMut(E) -> V,
    J: Fn([u64; 2], V, V, A) -> Check<A>,
{
    fn next(&mut self, input: &[E]) {
        for &x in input {
            let with = (self.next)(x);
            self.taken += 1;
            if self.ends.get(self.before.len()) == Some(&self.taken) {
                self.before.push(with);
            }
        }
    }

    fn check(&self, sums: &[A]) -> Option<ScanCheck<A>> {
        assert_eq!(sums.len(), self.queries.len(), "a sum for each query");
        let mut worst = Worst::new();
        for (&range, &sum) in self.queries.iter().zip(sums) {
            let [from, to] = range.map(|end| self.before(end));
            worst.take(|| (self.judge)(range, from, to, sum));
        }
        worst.found()
    }
}

macro_rules! sum {
    (ranges integer ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
        impl RangeSummable for $ty {
            const UNIT: f64 = 0.0;

            fn magnitude(_input: &[Self::Element]) -> Option<f64> {
                None
            }

            fn checking_ranges(
                self,
                queries: &[[u64; 2]],
                _depth: u64,
            ) -> Result<Box<dyn RangeChecking<Self::Element, Self::Output> + '_>, NoRoom> {
                let mut all = self.identity();
                let next = move |x| {
                    all = self.combine(all, self.lift(x, 0));
                    all
                };
                type A = <$ty as Operation>::Output;
                let judge = |_range, before: A, with: A, sum: A| {
                    let reference = with.wrapping_sub(before);
                    let abs_err = (i128::from(sum) - i128::from(reference)).unsigned_abs() as f64;
                    Check { reference, abs_err, bound: 0.0, ok: sum == reference }
                };
                Ok(Box::new(ByEnds::new(queries, self.identity(), next, judge)?))
            }
        }
    };
    (ranges float ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
        impl RangeSummable for $ty {
            const UNIT: f64 = <$ty as Operation>::Output::EPSILON as f64 / 2.0;

            fn magnitude(input: &[Self::Element]) -> Option<f64> {
                let sums = parallel::map_chunks(input.len(), CHUNK, &|chunk| {
                    let magnitudes = input[chunk].iter().map(|&x| {
                        let x: f64 = x.widen();
                        x.abs()
                    });
                    magnitudes.sum::<f64>()
                });
                Some(sums.into_iter().sum())
            }

            fn checking_ranges(
                self,
                queries: &[[u64; 2]],
                depth: u64,
            ) -> Result<Box<dyn RangeChecking<Self::Element, Self::Output> + '_>, NoRoom> {
                type A = <$ty as Operation>::Output;
                let none = RunningSum::default();
                let mut sum = none;
                let next = move |x: Self::Element| {
                    sum.next(x);
                    sum
                };
                let judge =
                    move |[from, to]: [u64; 2], before: RunningSum, with: RunningSum, sum: A| {
                        let Exact { value, magnitude } = with.since(&before);
                        let value = if from == to { 0.0 } else { value };
                        let bound = range_bound(magnitude, depth, Self::UNIT);
                        within(value, bound, magnitude + bound, sum)
                    };
                Ok(Box::new(ByEnds::new(queries, none, next, judge)?))
            }
        }
    };
    ($primitive:ident $value:tt $row:tt) => {};
}
gridsync_entries::operations!(sum);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::range_sum::check_range_sums;

    #[test]
    fn the_bound_covers_all_elements_up_to_the_range() {
        let input = [1e8f32, 1.0, 1.0];
        let check = |sum| check_range_sums(Sum::<f32>::new(), &input, &[[1, 3]], &[sum]);
        // 1e8 + 2 − 1e8 in f32, where neighbours of 1e8 are 8 apart.
        assert!(check(0.0).is_some_and(|scan| scan.check.ok));
        assert!(check(1e3).is_some_and(|scan| !scan.check.ok));
    }

    #[test]
    fn the_reference_is_exact_for_small_ranges_after_large_elements() {
        let input = [-9e33f64, 1.5, 2.5, 9e33, 7.0];
        let check = |query| check_range_sums(Sum::<f64>::new(), &input, &[query], &[0.0]);
        let reference = |query| check(query).map(|scan| scan.check.reference);
        assert_eq!(reference([1, 3]), Some(4.0));
        assert_eq!(reference([2, 4]), Some(9e33));
        assert_eq!(reference([4, 5]), Some(7.0));
    }

    #[test]
    fn a_wrong_integer_is_named() {
        let queries = [[0, 1], [1, 3]];
        let check = |sums: &[i64]| check_range_sums(Sum::new(), &[1, 2, 3], &queries, sums);
        assert!(check(&[1, 5]).is_some_and(|scan| scan.check.ok));
        assert!(check(&[1, 6]).is_some_and(|scan| !scan.check.ok && scan.at == 1));
    }
    #[test]
    fn checks_of_parts_agree_with_the_whole() {
        let input: Vec<f32> = (0..50).map(|i| i as f32 * 0.3).collect();
        let queries = [[0, 50], [3, 3], [0, 0], [50, 50], [7, 8], [7, 31], [49, 50]];
        let sums = crate::reference::range_sums(Sum::<f32>::new(), &input, &queries);
        let mut sums = sums.expect("ranges of the input");
        for wrong in [None, Some(5)] {
            if let Some(at) = wrong {
                sums[at] += 1.0;
            }
            let whole = check_range_sums(Sum::<f32>::new(), &input, &queries, &sums);
            assert_eq!(whole.is_some_and(|scan| scan.check.ok), wrong.is_none());
            let depth = crate::reference::scan_depth::<Sum<f32>>(input.len());
            for part in [1, 7, 50] {
                let checking = Sum::<f32>::new().checking_ranges(&queries, depth);
                let mut checking = checking.expect("a few places");
                input.chunks(part).for_each(|part| checking.next(part));
                assert_eq!(checking.check(&sums), whole, "parts of {part}");
            }
        }
    }
}

//! Compares range sums with the reference.

use super::check::{Check, within};
use super::scan_check::{ScanCheck, Worst};
use crate::memory::{self, NoRoom};
use crate::reference::{Exact, RunningSum, sum_bound};
use cuda_std::{bf16, f16};
use gridsync_entries::range_sum::RangeSumNumber;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{Operation, Sum};

/// A check of the sums of ranges of an array that comes part by part. It keeps what is at the ends of
/// the ranges.
pub trait RangeChecking<E, A> {
    /// Takes the next elements.
    fn next(&mut self, input: &[E]);

    /// Compares the sums with the reference. All elements have to be taken before. Returns the first
    /// wrong sum; or, if all are right, the one whose error is the largest part of its bound. None if
    /// there are no sums.
    ///
    /// # Panics
    /// If there are not as many sums as queries, or a query is no range of the elements.
    fn check(&self, sums: &[A]) -> Option<ScanCheck<A>>;
}

/// The sums that range sums exist for: of f32, f64, i32, u32, i64, u64, f16 and bf16, in 64 bits,
/// or in f32 if that can hold the elements.
pub trait RangeSummable: Default + Scannable<Output: RangeSumNumber> {
    /// Begins a check of the sums of the ranges `queries`. No element goes through more than `depth`
    /// roundings in the scan.
    ///
    /// # Errors
    /// [`NoRoom`] for what is at the ends of the ranges.
    fn checking_ranges(
        self,
        queries: &[[u64; 2]],
        depth: u64,
    ) -> Result<Box<dyn RangeChecking<Self::Element, Self::Output> + '_>, NoRoom>;
}

/// A check by what the elements before each end of a range add up to.
struct ByEnds<'a, V, N, J> {
    queries: &'a [[u64; 2]],
    /// The ends of all ranges, in order, and what is before them, as far as elements have come.
    ends: Vec<u64>,
    before: Vec<V>,
    taken: u64,
    /// Gives the value with the next element.
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
            fn checking_ranges(
                self,
                queries: &[[u64; 2]],
                depth: u64,
            ) -> Result<Box<dyn RangeChecking<Self::Element, Self::Output> + '_>, NoRoom> {
                type A = <$ty as Operation>::Output;
                let unit = f64::from(A::EPSILON) / 2.0;
                let none = Exact { value: 0.0, magnitude: 0.0 };
                let mut sum = RunningSum::default();
                let next = move |x: Self::Element| sum.next(x);
                let judge = move |[from, to]: [u64; 2], before: Exact, with: Exact, sum: A| {
                    let value = if from == to { 0.0 } else { with.value - before.value };
                    let magnitude = with.magnitude + before.magnitude;
                    // One more rounding for the difference, and one for the reference.
                    let bound = sum_bound(magnitude, depth + 2, unit);
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
    fn the_bound_is_that_of_the_sums_up_to_the_range_not_of_the_range() {
        let input = [1e8f32, 1.0, 1.0];
        let check = |sum| check_range_sums(Sum::<f32>::new(), &input, &[[1, 3]], &[sum]);
        // 1e8 + 2 − 1e8 in f32, where neighbours of 1e8 are 8 apart.
        assert!(check(0.0).is_some_and(|scan| scan.check.ok));
        assert!(check(1e3).is_some_and(|scan| !scan.check.ok));
    }

    #[test]
    fn a_wrong_integer_is_named() {
        let queries = [[0, 1], [1, 3]];
        let check = |sums: &[i64]| check_range_sums(Sum::new(), &[1, 2, 3], &queries, sums);
        assert!(check(&[1, 5]).is_some_and(|scan| scan.check.ok));
        assert!(check(&[1, 6]).is_some_and(|scan| !scan.check.ok && scan.at == 1));
    }
    #[test]
    fn parts_are_checked_as_the_whole() {
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

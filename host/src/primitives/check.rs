//! Compares a result with the reference.

use crate::parallel::{self, CHUNK};
use crate::reference::{Exact, ExactProduct, ExactSum, Reduction, compensated_bound, sum_bound};
use cuda_std::memory::Scalar;
use gridsync_kernels::op::{
    All, And, Any, ArgMax, ArgMin, Bits, Carried, CompensatedSum, Compose, Count, Distance,
    Extremes, Float, Indexed, Integer, Max, MaxOfNumbers, Mean, Min, MinMax, MinOfNumbers, Number,
    Operation, Or, PeakToPeak, Product, ProductModulo, SkipNan, Sum, SumOfMagnitudes, Total,
    WideSum, Widen, Xor,
};
use std::marker::PhantomData;

pub(super) mod statistics;

/// The outcome of a comparison with the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check<A> {
    /// The reference result.
    pub reference: A,
    /// The difference between the result and the reference: 0 if they are the same, NaN if one of
    /// them is NaN.
    pub abs_err: f64,
    /// The largest allowed difference: 0 if the operation is exact, infinite if there is no
    /// guarantee.
    pub bound: f64,
    /// Whether the result is correct.
    pub ok: bool,
}

/// A check of a result that is reduced from elements of `E`, which are passed part by part.
pub trait Checking<E, R> {
    /// Adds the next elements. Unless the operation is exact or this is the last part, their number
    /// must be a multiple of a tile, as for [`Reduction::next`].
    fn next(&mut self, input: &[E]);

    /// Compares `result` with the reference. It is reduced from all elements with at most `depth`
    /// roundings on the path of any element.
    fn check(self: Box<Self>, result: R, depth: u64) -> Check<R>;
}

/// A reduction whose results can be checked against the reference.
pub trait Checked: Operation {
    /// Starts a check of a result that is reduced from `len` elements.
    fn checking(self, len: usize) -> Box<dyn Checking<Self::Element, Self::Output>>;

    /// Compares `result` with the reference. It is reduced from `input` with at most `depth`
    /// roundings on the path of any element.
    fn check(
        self,
        input: &[Self::Element],
        result: Self::Output,
        depth: u64,
    ) -> Check<Self::Output> {
        let mut checking = self.checking(input.len());
        checking.next(input);
        checking.check(result, depth)
    }

    /// Whether two results are bit-identical.
    fn same(a: Self::Output, b: Self::Output) -> bool;
}

/// A check that allows no difference from the reference.
struct Exactly<O: Operation, S, D> {
    reference: Reduction<O>,
    same: S,
    distance: D,
}

/// Starts a check that allows no difference from the reference; `distance` measures the difference
/// between results.
fn exactly<O: Operation>(
    op: O,
    len: usize,
    same: impl Fn(O::Output, O::Output) -> bool + 'static,
    distance: impl Fn(O::Output, O::Output) -> f64 + 'static,
) -> Box<dyn Checking<O::Element, O::Output>> {
    Box::new(Exactly { reference: Reduction::new(op, len), same, distance })
}

impl<O, S, D> Checking<O::Element, O::Output> for Exactly<O, S, D>
where
    O: Operation,
    S: Fn(O::Output, O::Output) -> bool,
    D: Fn(O::Output, O::Output) -> f64,
{
    fn next(&mut self, input: &[O::Element]) {
        self.reference.next(input);
    }

    fn check(self: Box<Self>, result: O::Output, _depth: u64) -> Check<O::Output> {
        let Self { reference, same, distance } = *self;
        let reference = reference.finish();
        let ok = same(result, reference);
        let abs_err = if ok { 0.0 } else { distance(result, reference) };
        Check { reference, abs_err, bound: 0.0, ok }
    }
}

/// A check against the true sum.
struct BySum<J> {
    sum: ExactSum,
    len: usize,
    judge: J,
}

/// Starts a check of a result derived from a sum of `len` elements: `judge` gets the true sum, the
/// depth, and the result.
fn by_sum<T: Widen<f64>, R>(
    len: usize,
    judge: impl Fn(&Exact, usize, u64, R) -> Check<R> + 'static,
) -> Box<dyn Checking<T, R>> {
    Box::new(BySum { sum: ExactSum::default(), len, judge })
}

impl<T: Widen<f64>, R, J: Fn(&Exact, usize, u64, R) -> Check<R>> Checking<T, R> for BySum<J> {
    fn next(&mut self, input: &[T]) {
        self.sum.next(input);
    }

    fn check(self: Box<Self>, result: R, depth: u64) -> Check<R> {
        (self.judge)(&self.sum.exact(), self.len, depth, result)
    }
}

/// A check against the true product.
struct ByProduct<J> {
    product: ExactProduct,
    judge: J,
}

impl<T: Widen<f64>, R, J: Fn(&ExactProduct, R) -> Check<R>> Checking<T, R> for ByProduct<J> {
    fn next(&mut self, input: &[T]) {
        self.product.next(input);
    }

    fn check(self: Box<Self>, result: R, _depth: u64) -> Check<R> {
        (self.judge)(&self.product, result)
    }
}

/// A check of a mean of integers, which are summed in `A`: it has to be their true sum divided, and
/// rounded once, even if the sum wraps around in `A`.
struct ByTrueSum<A> {
    sum: i128,
    len: usize,
    summed: PhantomData<fn(A)>,
}

impl<T: Widen<A>, A: Into<i128>> Checking<T, Option<f64>> for ByTrueSum<A> {
    fn next(&mut self, input: &[T]) {
        let sums = parallel::map_chunks(input.len(), CHUNK, &|chunk| {
            let wide = input[chunk].iter().map(|x| -> i128 { x.widen().into() });
            wide.sum::<i128>()
        });
        self.sum += sums.into_iter().sum::<i128>();
    }

    fn check(self: Box<Self>, result: Option<f64>, _depth: u64) -> Check<Option<f64>> {
        let reference = (self.len > 0).then(|| self.sum.divided_by(self.len as u64));
        let ok = same_mean(result, reference);
        let abs_err = if ok { 0.0 } else { distance_of_means(result, reference) };
        Check { reference, abs_err, bound: 0.0, ok }
    }
}

/// The number type of a result, as far as checks need it.
pub trait Judged: Number {
    /// Whether both have the same bits.
    fn same(self, other: Self) -> bool;

    /// The distance between the two.
    fn distance(self, other: Self) -> f64;
}

/// The type in which elements of `T` are summed and multiplied; determines the required accuracy of
/// results.
pub trait Accumulates<T>: Judged {
    /// Starts a check of a sum of `len` elements.
    fn checking_sum(len: usize) -> Box<dyn Checking<T, Self>>;

    /// Starts a check of a product of `len` elements.
    fn checking_product(len: usize) -> Box<dyn Checking<T, Self>>;

    /// Starts a check of a mean of `len` elements, whose sum is computed in this type.
    fn checking_mean(len: usize) -> Box<dyn Checking<T, Option<f64>>>;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Judged for $ty {
            fn same(self, other: Self) -> bool {
                self == other
            }

            // In a type that can hold the difference of any two.
            fn distance(self, other: Self) -> f64 {
                (i128::from(self) - i128::from(other)).unsigned_abs() as f64
            }
        }

        impl<T: Widen<Self>> Accumulates<T> for $ty {
            fn checking_sum(len: usize) -> Box<dyn Checking<T, Self>> {
                exactly(Sum::<T, Self>::new(), len, Self::same, Self::distance)
            }

            fn checking_product(len: usize) -> Box<dyn Checking<T, Self>> {
                exactly(Product::<T, Self>::new(), len, Self::same, Self::distance)
            }

            fn checking_mean(len: usize) -> Box<dyn Checking<T, Option<f64>>> {
                Box::new(ByTrueSum::<Self> { sum: 0, len, summed: PhantomData })
            }
        }
    )*};
}
integers!(i32, u32, i64, u64);

macro_rules! floats {
    ($($ty:ident),*) => {$(
        impl Judged for $ty {
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }

            fn distance(self, other: Self) -> f64 {
                (self - other).abs().into()
            }
        }

        impl<T: Widen<Self> + Widen<f64>> Accumulates<T> for $ty {
            fn checking_sum(len: usize) -> Box<dyn Checking<T, Self>> {
                by_sum(len, |exact, _len, depth, sum| {
                    // The reference itself is rounded once, to the type of the result.
                    let bound = sum_bound(exact.magnitude, depth + 1, unit::<Self>());
                    within(exact.value, bound, exact.magnitude + bound, sum)
                })
            }

            fn checking_product(_len: usize) -> Box<dyn Checking<T, Self>> {
                let judge = |product: &ExactProduct, result| {
                    let (least, greatest) = ($ty::MIN_POSITIVE.into(), $ty::MAX.into());
                    let (value, bound) = product.bound(2.0 * unit::<Self>(), least, greatest);
                    within(value, bound, value.abs(), result)
                };
                Box::new(ByProduct { product: ExactProduct::default(), judge })
            }

            fn checking_mean(len: usize) -> Box<dyn Checking<T, Option<f64>>> {
                by_sum(len, |exact, len, depth, mean| {
                    let bound = sum_bound(exact.magnitude, depth, unit::<Self>());
                    let overflows = exact.magnitude + bound > $ty::MAX.into();
                    mean_within(exact.value, bound, overflows, len, mean)
                })
            }
        }

        impl Checked for CompensatedSum<$ty> {
            fn checking(self, len: usize) -> Box<dyn Checking<$ty, $ty>> {
                by_sum(len, |exact, _len, depth, sum| {
                    let bound = compensated_bound(exact, depth, unit::<$ty>());
                    // The plain sum, which is part of it, must not overflow.
                    let reach = exact.magnitude + sum_bound(exact.magnitude, depth, unit::<$ty>());
                    within(exact.value, bound, reach, sum)
                })
            }

            fn same(a: $ty, b: $ty) -> bool {
                Judged::same(a, b)
            }
        }

        impl Checked for Mean<CompensatedSum<$ty>> {
            fn checking(self, len: usize) -> Box<dyn Checking<$ty, Option<f64>>> {
                by_sum(len, |exact, len, depth, mean| {
                    let bound = compensated_bound(exact, depth, unit::<$ty>());
                    let reach = exact.magnitude + sum_bound(exact.magnitude, depth, unit::<$ty>());
                    mean_within(exact.value, bound, reach > $ty::MAX.into(), len, mean)
                })
            }

            fn same(a: Option<f64>, b: Option<f64>) -> bool {
                same_mean(a, b)
            }
        }
    )*};
}
floats!(f32, f64);

/// Half the machine epsilon: the largest relative error of one rounding.
fn unit<A: Rounded>() -> f64 {
    A::EPSILON / 2.0
}

impl<T: Widen<A>, A: Accumulates<T>> Checked for Sum<T, A> {
    fn checking(self, len: usize) -> Box<dyn Checking<T, A>> {
        A::checking_sum(len)
    }

    fn same(a: A, b: A) -> bool {
        a.same(b)
    }
}

impl<T: Widen<A>, A: Accumulates<T>> Checked for Product<T, A> {
    fn checking(self, len: usize) -> Box<dyn Checking<T, A>> {
        A::checking_product(len)
    }

    fn same(a: A, b: A) -> bool {
        a.same(b)
    }
}

impl<T: Widen<A>, A: Accumulates<T> + Total> Checked for Mean<Sum<T, A>> {
    fn checking(self, len: usize) -> Box<dyn Checking<T, Option<f64>>> {
        A::checking_mean(len)
    }

    fn same(a: Option<f64>, b: Option<f64>) -> bool {
        same_mean(a, b)
    }
}

/// Operations whose results have to be bit-identical to the reference.
macro_rules! exact {
    ($($op:ty $(, [$($generic:tt)*])?: $same:expr, $distance:expr;)*) => {$(
        impl $(<$($generic)*>)? Checked for $op {
            fn checking(
                self,
                len: usize,
            ) -> Box<dyn Checking<Self::Element, Self::Output>> {
                exactly(self, len, $same, $distance)
            }

            fn same(a: Self::Output, b: Self::Output) -> bool {
                $same(a, b)
            }
        }
    )*};
}
exact! {
    Min<T, A>, [T: Widen<A>, A: Judged]: A::same, A::distance;
    Max<T, A>, [T: Widen<A>, A: Judged]: A::same, A::distance;
    Xor<T>, [T: Bits + Judged]: T::same, T::distance;
    And<T>, [T: Bits + Judged]: T::same, T::distance;
    Or<T>, [T: Bits + Judged]: T::same, T::distance;
    Count<T>, [T: Scalar + PartialEq]: u64::same, u64::distance;
    ProductModulo<T>, [T: Integer]: u32::same, u32::distance;
    // The error is that of the index.
    ArgMin<T, A>, [T: Widen<A>, A: Number]: same_argument, distance_of_arguments;
    ArgMax<T, A>, [T: Widen<A>, A: Number]: same_argument, distance_of_arguments;
    WideSum<i64>: same_wide, distance_of_wide;
    WideSum<u64>: same_wide, distance_of_wide;
    Mean<WideSum<i64>>: same_mean, distance_of_means;
    Mean<WideSum<u64>>: same_mean, distance_of_means;
    SumOfMagnitudes<i32>: u64::same, u64::distance;
    SumOfMagnitudes<u32>: u64::same, u64::distance;
    SumOfMagnitudes<i64>: same_wide, distance_of_wide;
    SumOfMagnitudes<u64>: same_wide, distance_of_wide;
    PeakToPeak<T, A>, [T: Widen<A>, A: Distance<Distance: Judged>]:
        same_distance, distance_of_distances;
    MinMax<T, A>, [T: Widen<A>, A: Distance]: same_extremes, |_, _| f64::INFINITY;
    Any<T>, [T: Scalar + PartialEq]: |a, b| a == b, |_, _| f64::INFINITY;
    All<T>, [T: Scalar + PartialEq]: |a, b| a == b, |_, _| f64::INFINITY;
    // The reference skips them too, because an index counts all elements.
    SkipNan<PeakToPeak<T, A>>, [T: Widen<A> + Float, A: Distance<Distance: Judged>]:
        same_distance, distance_of_distances;
    MinOfNumbers<T, A>, [T: Widen<A> + Float, A: Distance + Judged]:
        same_distance, distance_of_distances;
    MaxOfNumbers<T, A>, [T: Widen<A> + Float, A: Distance + Judged]:
        same_distance, distance_of_distances;
    SkipNan<ArgMin<T, A>>, [T: Widen<A> + Float, A: Number]: same_argument, distance_of_arguments;
    SkipNan<ArgMax<T, A>>, [T: Widen<A> + Float, A: Number]: same_argument, distance_of_arguments;
    // Maps have no distance: they are the same or not.
    Compose: |a, b| a == b, |_, _| f64::INFINITY;
}

fn same_wide(a: i128, b: i128) -> bool {
    a == b
}

fn distance_of_wide(a: i128, b: i128) -> f64 {
    a.abs_diff(b) as f64
}

/// Whether two elements are bit-identical, or both `None`.
fn same_argument<A: Number>(a: Option<Indexed<A>>, b: Option<Indexed<A>>) -> bool {
    a.map(Carried::to_words) == b.map(Carried::to_words)
}

/// The distance between two indices; infinite if one element is `None`.
fn distance_of_arguments<A>(a: Option<Indexed<A>>, b: Option<Indexed<A>>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => a.index.abs_diff(b.index) as f64,
        _ => f64::INFINITY,
    }
}

/// Whether two distances are bit-identical, or both `None`.
fn same_distance<D: Judged>(a: Option<D>, b: Option<D>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same(b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// The difference of two distances; infinite if one of them is `None`.
fn distance_of_distances<D: Judged>(a: Option<D>, b: Option<D>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => a.distance(b),
        _ => f64::INFINITY,
    }
}

/// Whether both extremes are bit-identical.
fn same_extremes<A: Number>(a: Option<Extremes<A>>, b: Option<Extremes<A>>) -> bool {
    a.map(Carried::to_words) == b.map(Carried::to_words)
}

/// The difference of two means; infinite if one of them is `None`.
fn distance_of_means(a: Option<f64>, b: Option<f64>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs(),
        _ => f64::INFINITY,
    }
}

/// Compares the mean of `len` elements with their true sum, `value`. The sum behind the mean may be
/// off by `bound`. `overflows` is whether partial sums may overflow.
fn mean_within(
    value: f64,
    bound: f64,
    overflows: bool,
    len: usize,
    result: Option<f64>,
) -> Check<Option<f64>> {
    let Some(mean) = result.filter(|_| len > 0) else {
        let ok = result.is_none() == (len == 0);
        return Check {
            reference: (len > 0).then(|| value / len as f64),
            abs_err: if ok { 0.0 } else { f64::INFINITY },
            bound: 0.0,
            ok,
        };
    };
    let reference = value / len as f64;
    // Both divisions round once more.
    let bound = bound / len as f64 + f64::EPSILON * reference.abs();
    let reach = if overflows { f64::INFINITY } else { 0.0 };
    let Check { abs_err, ok, .. } = within(reference, bound, reach, mean);
    Check { reference: Some(reference), abs_err, bound, ok }
}

/// Whether two means are bit-identical.
fn same_mean(a: Option<f64>, b: Option<f64>) -> bool {
    a.map(f64::to_bits) == b.map(f64::to_bits)
}

/// The type in which a result is computed, as far as a check needs it.
pub(super) trait Rounded: Copy + Into<f64> {
    const MAX: f64;
    const EPSILON: f64;
    fn round(value: f64) -> Self;
}

impl Rounded for f32 {
    const MAX: f64 = f32::MAX as f64;
    const EPSILON: f64 = f32::EPSILON as f64;
    fn round(value: f64) -> Self {
        value as Self
    }
}

impl Rounded for f64 {
    const MAX: f64 = f64::MAX;
    const EPSILON: f64 = f64::EPSILON;
    fn round(value: f64) -> Self {
        value
    }
}

/// Whether `result` is within `bound` of `value`. NaN must be NaN, and an infinity must be the same
/// infinity. But if partial results may `reach` past the largest finite number, any result that is
/// not finite may come from one that did.
pub(super) fn within<A: Rounded>(value: f64, bound: f64, reach: f64, result: A) -> Check<A> {
    let got: f64 = result.into();
    let reference = A::round(value);
    let expected: f64 = reference.into();
    let same = got == expected || (got.is_nan() && expected.is_nan());
    let abs_err = if same { 0.0 } else { (got - value).abs() };
    let overflowed = value.is_finite() && reach > A::MAX && !got.is_finite();
    // An infinite bound guarantees nothing, so no result is wrong.
    let ok = same || abs_err <= bound || bound == f64::INFINITY || overflowed;
    Check { reference, abs_err, bound, ok }
}

#[cfg(test)]
mod tests;

//! Holding a result against the reference.

use crate::reference::{self, compensated_bound, exact_sum, product_bound, sum_bound};
use cuda_std::{bf16, f16};
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, Carried, CompensatedSum, Compose, Count, Indexed, Integer, Max, Mean, Min,
    Number, Operation, Or, Product, ProductModulo, Sum, WideSum, Widen, Xor,
};

/// What a result was compared with, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check<A> {
    /// What the reference says.
    pub reference: A,
    /// How far the result lies from it: 0 if they are the same, NaN if one of them is NaN.
    pub abs_err: f64,
    /// How far it may lie: 0 where the operation is exact, infinite where nothing can be promised.
    pub bound: f64,
    /// Whether the result is right.
    pub ok: bool,
}

/// A reduction whose results can be checked against the reference.
pub trait Checked: Operation {
    /// Holds `result`, reduced from `input` with at most `depth` roundings on any element's way,
    /// against the reference.
    fn check(
        self,
        input: &[Self::Element],
        result: Self::Output,
        depth: u64,
    ) -> Check<Self::Output>;

    /// Whether two results are the same, to the bit.
    fn same(a: Self::Output, b: Self::Output) -> bool;
}

/// Allows no difference to the reference; says how far they lie apart by `distance`.
fn exactly<O: Checked>(
    op: O,
    input: &[O::Element],
    result: O::Output,
    distance: impl Fn(O::Output, O::Output) -> f64,
) -> Check<O::Output> {
    let reference = reference::reduce(op, input);
    let ok = O::same(result, reference);
    let abs_err = if ok { 0.0 } else { distance(result, reference) };
    Check {
        reference,
        abs_err,
        bound: 0.0,
        ok,
    }
}

macro_rules! exact {
    ($same:expr, $distance:expr; $($op:ty),*) => {$(
        impl Checked for $op {
            fn check(
                self,
                input: &[Self::Element],
                result: Self::Output,
                _depth: u64,
            ) -> Check<Self::Output> {
                exactly(self, input, result, $distance)
            }

            fn same(a: Self::Output, b: Self::Output) -> bool {
                let same: fn(Self::Output, Self::Output) -> bool = $same;
                same(a, b)
            }
        }
    )*};
}
// Integers, in a type that holds the difference of any two.
exact! {
    |a, b| a == b, |a, b| (i128::from(a) - i128::from(b)).unsigned_abs() as f64;
    Sum<u32>, Sum<i32, i64>, Sum<u32, u64>, Sum<i64>, Sum<u64>,
    Product<i32, i64>, Product<u32, u64>, Product<i64>, Product<u64>,
    Min<i32>, Min<u32>, Min<i64>, Min<u64>, Max<i32>, Max<u32>, Max<i64>, Max<u64>,
    Xor<i32>, Xor<u32>, Xor<i64>, Xor<u64>, And<i32>, And<u32>, And<i64>, And<u64>,
    Or<i32>, Or<u32>, Or<i64>, Or<u64>,
    Count<f32>, Count<f64>, Count<i32>, Count<u32>, Count<i64>, Count<u64>, Count<f16>, Count<bf16>
}
exact! {
    |a, b| a == b, |a, b| a.abs_diff(b) as f64;
    WideSum<i64>, WideSum<u64>
}
// The mean of integers is their true sum divided, and rounded once.
exact! {
    |a, b| a == b, distance_of_means;
    Mean<Sum<i32, i64>>, Mean<Sum<u32, u64>>, Mean<Sum<i64>>, Mean<Sum<u64>>,
    Mean<WideSum<i64>>, Mean<WideSum<u64>>
}
// Floating point, to the bit.
exact! {
    |a, b| a.to_bits() == b.to_bits(), |a, b| f64::from((a - b).abs());
    Min<f32>, Min<f16, f32>, Min<bf16, f32>, Max<f32>, Max<f16, f32>, Max<bf16, f32>
}
exact! {
    |a, b| a.to_bits() == b.to_bits(), |a, b| (a - b).abs();
    Min<f64>, Max<f64>
}
// Maps lie nowhere: they are the same, or they are not.
exact! {
    |a, b| a == b, |_, _| f64::INFINITY;
    Compose
}

impl<T: Integer> Checked for ProductModulo<T> {
    fn check(self, input: &[T], result: u32, _depth: u64) -> Check<u32> {
        exactly(self, input, result, |a, b| a.abs_diff(b).into())
    }

    fn same(a: u32, b: u32) -> bool {
        a == b
    }
}

macro_rules! arguments {
    ($($op:ident),*) => {$(
        /// The error is that of the index.
        impl<T: Widen<A>, A: Number> Checked for $op<T, A> {
            fn check(
                self,
                input: &[T],
                result: Option<Indexed<A>>,
                _depth: u64,
            ) -> Check<Option<Indexed<A>>> {
                exactly(self, input, result, distance_of_arguments)
            }

            fn same(a: Option<Indexed<A>>, b: Option<Indexed<A>>) -> bool {
                a.map(Carried::to_halves) == b.map(Carried::to_halves)
            }
        }
    )*};
}
arguments!(ArgMin, ArgMax);

/// How far apart two elements stand; infinite if one of them is none.
fn distance_of_arguments<A>(a: Option<Indexed<A>>, b: Option<Indexed<A>>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => a.index.abs_diff(b.index) as f64,
        _ => f64::INFINITY,
    }
}

/// How far apart two means are; infinite if one of them is none.
fn distance_of_means(a: Option<f64>, b: Option<f64>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs(),
        _ => f64::INFINITY,
    }
}

/// Holds the mean of `len` elements against their true sum, `value`, of which the one that it was taken
/// from may be off by `bound`; `overflows` if partial sums may.
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
    Check {
        reference: Some(reference),
        abs_err,
        bound,
        ok,
    }
}

/// Whether two means are the same, to the bit.
fn same_mean(a: Option<f64>, b: Option<f64>) -> bool {
    a.map(f64::to_bits) == b.map(f64::to_bits)
}

/// Half the machine epsilon: the greatest relative error of one rounding.
macro_rules! unit {
    ($ty:ident) => {
        f64::from($ty::EPSILON) / 2.0
    };
}
macro_rules! rounded {
    ($($element:ty => $accumulator:ident;)*) => {$(
        impl Checked for Sum<$element, $accumulator> {
            fn check(
                self,
                input: &[$element],
                result: $accumulator,
                depth: u64,
            ) -> Check<$accumulator> {
                let exact = exact_sum(input);
                // The reference itself is rounded once, to the type of the result.
                let bound = sum_bound(exact.magnitude, depth + 1, unit!($accumulator));
                within(exact.value, bound, exact.magnitude + bound, result)
            }

            fn same(a: $accumulator, b: $accumulator) -> bool {
                a.to_bits() == b.to_bits()
            }
        }

        impl Checked for Mean<Sum<$element, $accumulator>> {
            fn check(
                self,
                input: &[$element],
                result: Option<f64>,
                depth: u64,
            ) -> Check<Option<f64>> {
                let exact = exact_sum(input);
                let bound = sum_bound(exact.magnitude, depth, unit!($accumulator));
                let overflows = exact.magnitude + bound > $accumulator::MAX.into();
                mean_within(exact.value, bound, overflows, input.len(), result)
            }

            fn same(a: Option<f64>, b: Option<f64>) -> bool {
                same_mean(a, b)
            }
        }

        impl Checked for Product<$element, $accumulator> {
            fn check(
                self,
                input: &[$element],
                result: $accumulator,
                _depth: u64,
            ) -> Check<$accumulator> {
                let (least, greatest) =
                    ($accumulator::MIN_POSITIVE.into(), $accumulator::MAX.into());
                let (value, bound) =
                    product_bound(input, 2.0 * unit!($accumulator), least, greatest);
                within(value, bound, value.abs(), result)
            }

            fn same(a: $accumulator, b: $accumulator) -> bool {
                a.to_bits() == b.to_bits()
            }
        }
    )*};
}

rounded! {
    f32 => f32; f32 => f64; f64 => f64;
    f16 => f32; f16 => f64; bf16 => f32; bf16 => f64;
}

macro_rules! compensated {
    ($($ty:ident),*) => {$(
        impl Checked for CompensatedSum<$ty> {
            fn check(self, input: &[$ty], result: $ty, depth: u64) -> Check<$ty> {
                let exact = exact_sum(input);
                let bound = compensated_bound(&exact, depth, unit!($ty));
                // A plain sum, which is part of it, must not overflow.
                let reach = exact.magnitude + sum_bound(exact.magnitude, depth, unit!($ty));
                within(exact.value, bound, reach, result)
            }

            fn same(a: $ty, b: $ty) -> bool {
                a.to_bits() == b.to_bits()
            }
        }
    )*};
}
compensated!(f32, f64);

macro_rules! compensated_means {
    ($($ty:ident),*) => {$(
        impl Checked for Mean<CompensatedSum<$ty>> {
            fn check(self, input: &[$ty], result: Option<f64>, depth: u64) -> Check<Option<f64>> {
                let exact = exact_sum(input);
                let bound = compensated_bound(&exact, depth, unit!($ty));
                let reach = exact.magnitude + sum_bound(exact.magnitude, depth, unit!($ty));
                let overflows = reach > $ty::MAX.into();
                mean_within(exact.value, bound, overflows, input.len(), result)
            }

            fn same(a: Option<f64>, b: Option<f64>) -> bool {
                same_mean(a, b)
            }
        }
    )*};
}
compensated_means!(f32, f64);

/// A number that a result is computed in, as far as a check needs to know.
pub(super) trait Rounded: Copy + Into<f64> {
    const MAX: f64;
    fn round(value: f64) -> Self;
}

impl Rounded for f32 {
    const MAX: f64 = f32::MAX as f64;
    fn round(value: f64) -> Self {
        value as Self
    }
}

impl Rounded for f64 {
    const MAX: f64 = f64::MAX;
    fn round(value: f64) -> Self {
        value
    }
}

/// Whether `result` lies within `bound` of `value`. NaN must be NaN, and an infinity that very
/// infinity; but where partial results may `reach` past the largest finite number, any result that
/// is not finite may have come of one that did.
pub(super) fn within<A: Rounded>(value: f64, bound: f64, reach: f64, result: A) -> Check<A> {
    let got: f64 = result.into();
    let reference = A::round(value);
    let expected: f64 = reference.into();
    let same = got == expected || (got.is_nan() && expected.is_nan());
    let abs_err = if same { 0.0 } else { (got - value).abs() };
    let overflowed = value.is_finite() && reach > A::MAX && !got.is_finite();
    // An infinite bound promises nothing, so that nothing can be held against the result.
    let ok = same || abs_err <= bound || bound == f64::INFINITY || overflowed;
    Check {
        reference,
        abs_err,
        bound,
        ok,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_within_its_bound_passes_and_one_beyond_it_fails() {
        let input = vec![0.1f32; 1000];
        let good = Sum::<f32>::new().check(&input, 100.0, 20);
        assert!(good.ok && good.bound > 0.0, "{good:?}");
        let bad = Sum::<f32>::new().check(&input, 100.1, 20);
        assert!(!bad.ok, "{bad:?}");
    }

    #[test]
    fn an_exact_operation_allows_no_difference() {
        assert!(Sum::<i32, i64>::new().check(&[1, 2, 3], 6, 0).ok);
        assert!(!Sum::<i32, i64>::new().check(&[1, 2, 3], 7, 0).ok);
        assert!(!Max::<f32>::new().check(&[0.0, -0.0], -0.0, 0).ok);
    }

    #[test]
    fn nan_and_infinity_are_not_mistaken_for_each_other() {
        assert!(Sum::<f64>::new().check(&[f64::NAN], f64::NAN, 1).ok);
        assert!(!Sum::<f64>::new().check(&[f64::NAN], 1.0, 1).ok);
        assert!(!Sum::<f64>::new().check(&[1.0], f64::NAN, 1).ok);
        assert!(
            Sum::<f64>::new()
                .check(&[f64::INFINITY], f64::INFINITY, 1)
                .ok
        );
        assert!(
            !Sum::<f64>::new()
                .check(&[f64::INFINITY], f64::NEG_INFINITY, 1)
                .ok
        );
        assert!(
            Sum::<f32>::new()
                .check(&[f32::MAX, f32::MAX], f32::INFINITY, 2)
                .ok
        );
    }

    #[test]
    fn a_lost_factor_of_a_product_is_noticed() {
        let input = [1.5f32, 2.0, 0.5, 3.0];
        assert!(Product::<f32>::new().check(&input, 4.5, 4).ok);
        assert!(!Product::<f32>::new().check(&input, 1.5, 4).ok);
    }
}

//! Sums of squares and of magnitudes.

use super::{Carried, Number, Operation, Real};
use core::marker::PhantomData;
use cuda_std::convert::{bf16_to_f32, f16_to_f32};
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};

/// The sum of the squares of elements of `T`, in f64. Its root is the [`Norm`](super::Norm).
///
/// The squares of f16, bf16 and f32 are exact. A square beyond the range of f64, of an f64 above
/// 10^154, makes the sum infinite.
#[derive(Clone, Copy, Debug, Default)]
pub struct SumOfSquares<T>(PhantomData<fn(T)>);

impl<T> SumOfSquares<T> {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Real> Operation for SumOfSquares<T> {
    type Element = T;
    type Accumulator = f64;
    type Output = f64;
    const COMMUTATIVE: bool = true;

    // No square is −0, so +0 changes none.
    #[inline(always)]
    fn identity(self) -> f64 {
        0.0
    }

    #[inline(always)]
    fn lift(self, element: T, _index: u64) -> f64 {
        let x = element.nearest();
        x * x
    }

    #[inline(always)]
    fn combine(self, a: f64, b: f64) -> f64 {
        a + b
    }

    #[inline(always)]
    fn settled(self, all: f64) -> f64 {
        all.canonical()
    }

    #[inline(always)]
    fn finish(self, all: f64) -> f64 {
        all.canonical()
    }
}

/// An element with a magnitude that can be summed.
pub trait Magnitude: Scalar {
    /// The type in which magnitudes are summed.
    type Sum: Carried;
    /// Whether the sum is exact.
    const EXACT: bool;
    /// The sum of no magnitudes.
    const NONE: Self::Sum;

    /// The magnitude.
    fn magnitude(self) -> Self::Sum;

    /// The sum of two sums.
    fn add(a: Self::Sum, b: Self::Sum) -> Self::Sum;

    /// The same sum, with the same bits for every NaN.
    fn canonical(sum: Self::Sum) -> Self::Sum;
}

macro_rules! magnitudes {
    ($($ty:ty => $sum:ty, $none:literal, $exact:literal, $magnitude:expr, $canonical:expr;)*) => {$(
        impl Magnitude for $ty {
            type Sum = $sum;
            const EXACT: bool = $exact;
            const NONE: $sum = $none;

            #[inline(always)]
            fn magnitude(self) -> $sum {
                let magnitude: fn($ty) -> $sum = $magnitude;
                magnitude(self)
            }

            #[inline(always)]
            fn add(a: $sum, b: $sum) -> $sum {
                a + b
            }

            #[inline(always)]
            fn canonical(sum: $sum) -> $sum {
                let canonical: fn($sum) -> $sum = $canonical;
                canonical(sum)
            }
        }
    )*};
}
magnitudes! {
    f32 => f64, 0.0, false, |x| f64::from(x.abs()), Number::canonical;
    f64 => f64, 0.0, false, f64::abs, Number::canonical;
    f16 => f64, 0.0, false, |x| f64::from(f16_to_f32(x).abs()), Number::canonical;
    bf16 => f64, 0.0, false, |x| f64::from(bf16_to_f32(x).abs()), Number::canonical;
    i32 => u64, 0, true, |x| x.unsigned_abs().into(), |x| x;
    u32 => u64, 0, true, u64::from, |x| x;
    i64 => i128, 0, true, |x| x.unsigned_abs().into(), |x| x;
    u64 => i128, 0, true, i128::from, |x| x;
}

/// The sum of the magnitudes of elements of `T`, the L1 norm: in f64 for floating point, and exact
/// for integers, in u64 or, for 64-bit ones, in i128.
#[derive(Clone, Copy, Debug, Default)]
pub struct SumOfMagnitudes<T>(PhantomData<fn(T)>);

impl<T> SumOfMagnitudes<T> {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Magnitude> Operation for SumOfMagnitudes<T> {
    type Element = T;
    type Accumulator = T::Sum;
    type Output = T::Sum;
    const COMMUTATIVE: bool = true;
    const EXACT: bool = T::EXACT;

    #[inline(always)]
    fn identity(self) -> T::Sum {
        T::NONE
    }

    #[inline(always)]
    fn lift(self, element: T, _index: u64) -> T::Sum {
        element.magnitude()
    }

    #[inline(always)]
    fn combine(self, a: T::Sum, b: T::Sum) -> T::Sum {
        T::add(a, b)
    }

    #[inline(always)]
    fn finish(self, all: T::Sum) -> T::Sum {
        T::canonical(all)
    }
}

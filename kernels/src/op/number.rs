//! The arithmetic that operations use.

use super::Carried;
use cuda_std::convert::{bf16_to_f32, f16_to_f32};
use cuda_std::float::{maximum_f32, maximum_f64, minimum_f32, minimum_f64};
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};

/// A type to accumulate in.
pub trait Number: Scalar + Carried + PartialOrd {
    /// Whether sums and products are exact: the same bits for every bracketing.
    const EXACT: bool;
    /// The identity of [`add`](Self::add). In floating point −0, because −0 + −0 = −0 but +0 + −0 =
    /// +0.
    const ZERO: Self;
    /// The identity of [`mul`](Self::mul).
    const ONE: Self;
    /// The identity of [`max`](Self::max).
    const LEAST: Self;
    /// The identity of [`min`](Self::min).
    const GREATEST: Self;

    /// The sum. Integers wrap around.
    fn add(self, other: Self) -> Self;
    /// The product. Integers wrap around.
    fn mul(self, other: Self) -> Self;
    /// The minimum: NaN if either is NaN, and −0 < +0 (IEEE 754-2019 `minimum`). Every NaN result
    /// has the same bits.
    fn min(self, other: Self) -> Self;
    /// The maximum: NaN if either is NaN, and −0 < +0 (IEEE 754-2019 `maximum`). Every NaN result
    /// has the same bits.
    fn max(self, other: Self) -> Self;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// The same number, with the same bits for every NaN.
    fn canonical(self) -> Self;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            const EXACT: bool = true;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LEAST: Self = <$ty>::MIN;
            const GREATEST: Self = <$ty>::MAX;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }

            #[inline(always)]
            fn canonical(self) -> Self {
                self
            }
        }
    )*};
}
integers!(i32, u32, i64, u64);

macro_rules! floats {
    ($($ty:ty, $min:ident, $max:ident;)*) => {$(
        impl Number for $ty {
            const EXACT: bool = false;
            const ZERO: Self = -0.0;
            const ONE: Self = 1.0;
            const LEAST: Self = <$ty>::NEG_INFINITY;
            const GREATEST: Self = <$ty>::INFINITY;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                $min(self, other)
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $max(self, other)
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                <$ty>::is_nan(self)
            }

            #[inline(always)]
            fn canonical(self) -> Self {
                if self.is_nan() { <$ty>::NAN } else { self }
            }
        }
    )*};
}
floats! {
    f32, minimum_f32, maximum_f32;
    f64, minimum_f64, maximum_f64;
}

/// An element that `A` represents without loss.
pub trait Widen<A>: Scalar {
    /// The same number as an `A`.
    fn widen(self) -> A;
}

macro_rules! widen {
    ($($from:ty => $to:ty: $convert:expr;)*) => {$(
        impl Widen<$to> for $from {
            #[inline(always)]
            fn widen(self) -> $to {
                let convert: fn($from) -> $to = $convert;
                convert(self)
            }
        }
    )*};
}
widen! {
    i32 => i32: |x| x;
    u32 => u32: |x| x;
    i64 => i64: |x| x;
    u64 => u64: |x| x;
    f32 => f32: |x| x;
    f64 => f64: |x| x;
    i32 => i64: i64::from;
    u32 => u64: u64::from;
    f32 => f64: f64::from;
    f16 => f32: f16_to_f32;
    f16 => f64: |x| f64::from(f16_to_f32(x));
    bf16 => f32: bf16_to_f32;
    bf16 => f64: |x| f64::from(bf16_to_f32(x));
}

/// An integer as bits.
pub trait Bits: Scalar + Carried {
    /// All bits 0, the identity of [`xor`](Self::xor) and [`or`](Self::or).
    const NONE: Self;
    /// All bits 1, the identity of [`and`](Self::and).
    const ALL: Self;

    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
}

macro_rules! bits {
    ($($ty:ty),*) => {$(
        impl Bits for $ty {
            const NONE: Self = 0;
            const ALL: Self = !0;

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
        }
    )*};
}
bits!(i32, u32, i64, u64);

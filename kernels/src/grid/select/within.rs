//! Comparisons with bounds, by one predicate.

use super::Predicate;
use core::convert::identity;
use cuda_std::convert::{bf16_to_f32, f16_to_f32};
use cuda_std::launch::KernelArg;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};

/// Keeps the elements from `low` to `high`, both included; or all others.
///
/// All comparisons with a number are such intervals, because each number has a next one: x < 5 is x
/// ≤ 4 for integers, and for floating point x ≤ the greatest number below 5. So one kernel without
/// branches covers them all. As in IEEE 754, a NaN is in no interval: it passes only
/// [`not_equal_to`](Self::not_equal_to). As a bound, NaN passes nothing, except that `not_equal_to`
/// NaN passes all. −0 equals +0.
// The layout is that of a kernel's parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Within<T> {
    low: T,
    high: T,
    /// 1 to keep the elements outside, otherwise 0.
    outside: u32,
}

// SAFETY: `repr(C)`, with numbers as fields.
unsafe impl<T: Comparable> KernelArg for Within<T> {}

/// A number that can be compared: f16, bf16, f32, f64 and integers of 8 to 64 bits.
pub trait Comparable: Scalar + PartialOrd {
    /// Zero. In floating point either zero, because they are equal.
    const ZERO: Self;
    /// The least value: −∞ in floating point.
    const LEAST: Self;
    /// The greatest value: ∞ in floating point.
    const GREATEST: Self;
    /// The least and the greatest finite number.
    const FINITE: [Self; 2];

    /// Whether `self` ≤ `other`.
    fn is_at_most(self, other: Self) -> bool;

    /// The next lower number, if it exists. NaN for NaN.
    fn next_below(self) -> Option<Self>;

    /// The next greater number, if it exists. NaN for NaN.
    fn next_above(self) -> Option<Self>;
}

impl<T: Comparable> Within<T> {
    /// Keeps `low` to `high`, both included; nothing if `low` is greater.
    #[must_use]
    pub const fn between(low: T, high: T) -> Self {
        Self { low, high, outside: 0 }
    }

    /// Keeps what this one does not.
    #[must_use]
    pub const fn others(self) -> Self {
        Self { outside: 1 - self.outside, ..self }
    }

    /// Keeps nothing.
    const NONE: Self = Self::between(T::GREATEST, T::LEAST);

    /// Keeps elements < `bound`.
    #[must_use]
    pub fn less_than(bound: T) -> Self {
        bound.next_below().map_or(Self::NONE, Self::at_most)
    }

    /// Keeps elements ≤ `bound`.
    #[must_use]
    pub const fn at_most(bound: T) -> Self {
        Self::between(T::LEAST, bound)
    }

    /// Keeps elements > `bound`.
    #[must_use]
    pub fn greater_than(bound: T) -> Self {
        bound.next_above().map_or(Self::NONE, Self::at_least)
    }

    /// Keeps elements ≥ `bound`.
    #[must_use]
    pub const fn at_least(bound: T) -> Self {
        Self::between(bound, T::GREATEST)
    }

    /// Keeps elements equal to `bound`.
    #[must_use]
    pub const fn equal_to(bound: T) -> Self {
        Self::between(bound, bound)
    }

    /// Keeps elements that differ from `bound`, including NaN.
    #[must_use]
    pub const fn not_equal_to(bound: T) -> Self {
        Self::equal_to(bound).others()
    }

    /// Keeps elements that differ from zero, including NaN.
    #[must_use]
    pub const fn nonzero() -> Self {
        Self::not_equal_to(T::ZERO)
    }

    /// Keeps everything but NaN: all integers.
    #[must_use]
    pub const fn not_nan() -> Self {
        Self::between(T::LEAST, T::GREATEST)
    }

    /// Keeps everything but infinities and NaN: all integers.
    #[must_use]
    pub const fn finite() -> Self {
        let [least, greatest] = T::FINITE;
        Self::between(least, greatest)
    }
}

impl<T: Comparable> Predicate for Within<T> {
    type Element = T;

    // Not `&&`: two comparisons are cheaper than a branch.
    #[inline(always)]
    fn keeps(self, element: T, _index: u64) -> bool {
        (self.low.is_at_most(element) & element.is_at_most(self.high)) != (self.outside != 0)
    }
}

macro_rules! integers {
    ($($ty:ident),*) => {$(
        impl Comparable for $ty {
            const ZERO: Self = 0;
            const LEAST: Self = Self::MIN;
            const GREATEST: Self = Self::MAX;
            const FINITE: [Self; 2] = [Self::MIN, Self::MAX];

            #[inline(always)]
            fn is_at_most(self, other: Self) -> bool {
                self <= other
            }

            fn next_below(self) -> Option<Self> {
                self.checked_sub(1)
            }

            fn next_above(self) -> Option<Self> {
                self.checked_add(1)
            }
        }
    )*};
}
integers!(i8, u8, i16, u16, i32, u32, i64, u64);

macro_rules! floats {
    ($($ty:ident: $zero:expr, $compared:expr;)*) => {$(
        impl Comparable for $ty {
            const ZERO: Self = $zero;
            const LEAST: Self = Self::NEG_INFINITY;
            const GREATEST: Self = Self::INFINITY;
            const FINITE: [Self; 2] = [Self::MIN, Self::MAX];

            #[inline(always)]
            fn is_at_most(self, other: Self) -> bool {
                ($compared)(self) <= ($compared)(other)
            }

            fn next_below(self) -> Option<Self> {
                (self != Self::NEG_INFINITY).then(|| -(-self).up())
            }

            fn next_above(self) -> Option<Self> {
                (self != Self::INFINITY).then(|| self.up())
            }
        }

        impl Up for $ty {
            fn up(self) -> Self {
                match self.to_bits() {
                    _ if self.is_nan() => self,
                    // The next number after either zero is the least positive one.
                    _ if self == $zero => Self::from_bits(1),
                    bits if self > $zero => Self::from_bits(bits + 1),
                    bits => Self::from_bits(bits - 1),
                }
            }
        }
    )*};
}
floats! {
    f32: 0.0, identity;
    f64: 0.0, identity;
    f16: f16::from_bits(0), f16_to_f32;
    bf16: bf16::from_bits(0), bf16_to_f32;
}

/// A number with a next one.
trait Up {
    /// The next greater number; not for ∞. NaN for NaN.
    fn up(self) -> Self;
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// A comparison with a bound, as an interval and as the language's own.
    type Comparison<T> = (fn(T) -> Within<T>, fn(&T, &T) -> bool);

    /// Every comparison with every bound keeps what the language's operator keeps.
    fn compares_as_the_language_does<T: Comparable + core::fmt::Debug>(numbers: &[T]) {
        let comparisons: [Comparison<T>; 6] = [
            (Within::less_than, T::lt),
            (Within::at_most, T::le),
            (Within::greater_than, T::gt),
            (Within::at_least, T::ge),
            (Within::equal_to, T::eq),
            (Within::not_equal_to, T::ne),
        ];
        for (number, (within, compare)) in comparisons.into_iter().enumerate() {
            for bound in numbers {
                for x in numbers {
                    assert_eq!(
                        within(*bound).keeps(*x, 0),
                        compare(x, bound),
                        "comparison {number} of {x:?} with {bound:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_comparison_is_an_interval() {
        compares_as_the_language_does(&[i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX - 1, i32::MAX]);
        compares_as_the_language_does(&[0, 1, 2, u64::MAX - 1, u64::MAX]);
        let tiny = f32::from_bits(1);
        compares_as_the_language_does(&[
            f32::NEG_INFINITY,
            f32::MIN,
            -1.0,
            -tiny,
            -0.0,
            0.0,
            tiny,
            1.0,
            1.0 + f32::EPSILON,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
        ]);
    }

    #[test]
    fn every_comparison_of_16_bit_floats_with_their_neighbours_is_an_interval() {
        for bits in 0..u16::MAX {
            let beside = [bits, bits + 1, bits ^ 0x8000];
            compares_as_the_language_does(&beside.map(f16::from_bits));
            compares_as_the_language_does(&beside.map(bf16::from_bits));
        }
    }

    #[test]
    fn nan_and_infinities_can_be_excluded() {
        let all = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, f64::MAX];
        let kept = |within: Within<f64>| all.map(|x| within.keeps(x, 0));
        assert_eq!(kept(Within::not_nan()), [false, true, true, true, true]);
        assert_eq!(kept(Within::finite()), [false, false, false, true, true]);
        assert_eq!(kept(Within::nonzero()), [true, true, true, false, true]);
    }
}

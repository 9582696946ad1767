//! The logarithm of a sum of exponentials.

use super::carried::{count_of_two, two_of_words, words_of_two};
use super::{Carried, Number, Operation, Words};
use core::marker::PhantomData;
use cuda_std::convert::{bf16_to_f32, f16_to_f32};
use cuda_std::math;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};

/// An element whose exponentials can be summed.
pub trait Exponent: Scalar {
    /// The type in which exponentials are computed.
    type Wide: Carried + PartialOrd;

    /// Negative infinity.
    const LEAST: Self::Wide;

    /// The same number.
    fn widen(self) -> Self::Wide;

    /// e to the power of `a − b`.
    fn exp_of_difference(a: Self::Wide, b: Self::Wide) -> f64;

    /// The nearest f64.
    fn to_f64(wide: Self::Wide) -> f64;
}

macro_rules! exponents {
    ($($ty:ty as $wide:ident: $widen:expr;)*) => {$(
        impl Exponent for $ty {
            type Wide = $wide;
            const LEAST: $wide = $wide::NEG_INFINITY;

            #[inline(always)]
            fn widen(self) -> $wide {
                let widen: fn($ty) -> $wide = $widen;
                widen(self)
            }

            #[inline(always)]
            fn exp_of_difference(a: $wide, b: $wide) -> f64 {
                math::exp(a - b).into()
            }

            #[inline(always)]
            fn to_f64(wide: $wide) -> f64 {
                wide.into()
            }
        }
    )*};
}
exponents! {
    f32 as f32: |x| x;
    f64 as f64: |x| x;
    f16 as f32: f16_to_f32;
    bf16 as f32: bf16_to_f32;
}

/// The sum of exponentials of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponentials<W> {
    /// The greatest of the numbers.
    pub greatest: W,
    /// The sum of e to the power of each number minus the greatest: from 1 to their count.
    pub sum: f64,
}

// SAFETY: more than `MOST_WORDS` words do not compile.
unsafe impl<W: Carried> Carried for Exponentials<W> {
    const WORDS: usize = count_of_two::<W, f64>();

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of_two(self.greatest, self.sum)
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        let (greatest, sum) = two_of_words(words);
        Self { greatest, sum }
    }
}

/// ln(Σ eˣ), the logarithm of the sum of the exponentials of all elements, in one read. It does not
/// overflow, because the greatest element so far is subtracted from each before e is raised to it.
///
/// The exponentials of f32, f16 and bf16 are f32, and their sum and the result are f64. The result
/// of no elements is −∞, and NaN if an element is NaN. Milakov and Gimelshein, "Online normalizer
/// calculation for softmax", 2018.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogSumExp<T>(PhantomData<fn(T)>);

impl<T> LogSumExp<T> {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Exponent> Operation for LogSumExp<T> {
    type Element = T;
    type Accumulator = Exponentials<T::Wide>;
    type Output = f64;
    const COMMUTATIVE: bool = true;
    // An exponential has some twenty instructions.
    const LONG: bool = true;

    #[inline(always)]
    fn identity(self) -> Self::Accumulator {
        Exponentials { greatest: T::LEAST, sum: 0.0 }
    }

    #[inline(always)]
    fn lift(self, element: T, _index: u64) -> Self::Accumulator {
        Exponentials { greatest: element.widen(), sum: 1.0 }
    }

    // If a number is NaN, so is its factor, and the sum stays NaN.
    #[inline(always)]
    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        let is_first = a.greatest >= b.greatest;
        let greatest = if is_first { a.greatest } else { b.greatest };
        let other = if is_first { b.greatest } else { a.greatest };
        let sum = if is_first { a.sum } else { b.sum };
        let of_other = if is_first { b.sum } else { a.sum };
        // Equal infinities have no difference.
        let factor = if greatest == other { 1.0 } else { T::exp_of_difference(other, greatest) };
        Exponentials { greatest, sum: sum + of_other * factor }
    }

    #[inline(always)]
    fn finish(self, all: Self::Accumulator) -> f64 {
        (T::to_f64(all.greatest) + math::ln(all.sum)).canonical()
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    fn of<T: Exponent>(elements: &[T]) -> f64 {
        let op = LogSumExp::<T>::new();
        let all = elements.iter().zip(0..).fold(op.identity(), |all, (&x, i)| op.take(all, x, i));
        op.finish(all)
    }

    #[test]
    fn large_numbers_do_not_overflow_and_small_ones_do_not_vanish() {
        let two = core::f64::consts::LN_2;
        assert!((of(&[1e30f32, 1e30]) - f64::from(1e30f32)).abs() < 1e15);
        assert!((of(&[1000.0f64, 1000.0]) - 1000.0 - two).abs() < 1e-12);
        assert!((of(&[-1000.0f64, -1000.0]) + 1000.0 - two).abs() < 1e-12);
        assert!((of(&[0.0f32, 1.0, 2.0]) - 2.407_605_964).abs() < 1e-6);
    }

    #[test]
    fn infinities_and_nan_have_the_results_of_the_sum() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!(of::<f64>(&[]), -inf);
        assert_eq!(of(&[-inf, -inf]), -inf);
        assert_eq!(of(&[-inf, 3.0]), 3.0);
        assert_eq!(of(&[inf, -inf, inf, 3.0]), inf);
        for elements in [[nan, 1.0, 2.0], [1.0, nan, 2.0], [inf, 2.0, nan], [-inf, nan, -inf]] {
            assert!(of(&elements).is_nan(), "{elements:?}");
        }
    }

    #[test]
    fn both_orders_have_the_same_bits() {
        let op = LogSumExp::<f32>::new();
        let parts = [-3.5f32, 0.0, -0.0, 7.25, f32::INFINITY, f32::NEG_INFINITY];
        for (a, b) in parts.iter().flat_map(|&a| parts.map(|b| (a, b))) {
            let (a, b) = (op.lift(a, 0), op.lift(b, 1));
            let [ab, ba] = [op.combine(a, b), op.combine(b, a)].map(|all| op.finish(all));
            assert_eq!(ab.to_bits(), ba.to_bits(), "{a:?} and {b:?}");
            let alone = op.combine(op.identity(), a);
            assert_eq!(op.finish(alone).to_bits(), op.finish(a).to_bits(), "{a:?}");
        }
    }
}

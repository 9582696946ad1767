//! The arithmetic of softmax.

use crate::op::Exponent;
use cuda_std::convert::{f32_to_bf16, f32_to_f16};
use cuda_std::math;
use cuda_std::{bf16, f16};

/// An element whose rows have a softmax.
pub trait Softmax: Exponent {
    /// The most warps of the block of a middle row: 32, or 16 where a thread needs more than 64
    /// registers for its elements of a run.
    const WARPS: u32;

    /// The greater number. Either, if one is NaN.
    fn greater(a: Self::Wide, b: Self::Wide) -> Self::Wide;

    /// e to the power of `x` minus the greatest element of the row.
    fn exponential(x: Self::Wide, greatest: Self::Wide) -> Self::Wide;

    /// The factor of the exponentials of a row: the reciprocal of their sum, or NaN if the greatest
    /// element is infinite or an element is NaN.
    fn factor(greatest: Self::Wide, sum: f64) -> Self::Wide;

    /// The product, rounded to an element. Every NaN gets the same bits.
    fn share(exponential: Self::Wide, factor: Self::Wide) -> Self;
}

macro_rules! elements {
    ($($ty:ident as $wide:ident, $warps:literal: $narrow:expr;)*) => {$(
        impl Softmax for $ty {
            const WARPS: u32 = $warps;

            #[inline(always)]
            fn greater(a: $wide, b: $wide) -> $wide {
                a.max(b)
            }

            #[inline(always)]
            fn exponential(x: $wide, greatest: $wide) -> $wide {
                math::exp(x - greatest)
            }

            #[inline(always)]
            fn factor(greatest: $wide, sum: f64) -> $wide {
                if greatest.is_finite() { 1.0 / sum as $wide } else { $wide::NAN }
            }

            // A product with a number is never NaN, so the choice depends on the row only.
            #[inline(always)]
            fn share(exponential: $wide, factor: $wide) -> Self {
                let narrow: fn($wide) -> $ty = $narrow;
                if factor.is_nan() { $ty::NAN } else { narrow(exponential * factor) }
            }
        }
    )*};
}
elements! {
    f32 as f32, 32: |y| y;
    f64 as f64, 32: |y| y;
    f16 as f32, 16: f32_to_f16;
    bf16 as f32, 16: f32_to_bf16;
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_nan_if_the_greatest_element_is_infinite_or_one_is_nan() {
        assert_eq!(<f32 as Softmax>::factor(3.0, 4.0), 0.25);
        assert!(<f32 as Softmax>::factor(f32::INFINITY, 1.0).is_nan());
        assert!(<f64 as Softmax>::factor(f64::NEG_INFINITY, 2.0).is_nan());
        assert!(<f16 as Softmax>::factor(1.0, f64::NAN).is_nan());
        let any = f32::from_bits(0xffc0_0001);
        assert_eq!(<f16 as Softmax>::share(any, f32::NAN).to_bits(), f16::NAN.to_bits());
        assert_eq!(<f32 as Softmax>::share(0.5, any).to_bits(), f32::NAN.to_bits());
    }

    #[test]
    fn shares_are_rounded_to_even() {
        assert_eq!(<bf16 as Softmax>::share(1.0 + 0.007_812_5 / 2.0, 1.0).to_f32(), 1.0);
        assert_eq!(<bf16 as Softmax>::share(1.0 + 0.023_437_5 / 2.0, 1.0).to_f32(), 1.015_625);
        assert_eq!(<f16 as Softmax>::share(2f32.powi(-25), 1.0).to_bits(), 0);
        assert_eq!(<f16 as Softmax>::share(3.0, 2f32.powi(-25)).to_bits(), 2);
    }
}

//! Elements as real numbers, for operations that compute in f64.

use super::Carried;
use cuda_std::convert::{bf16_to_f32, f16_to_f32};
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};

/// An element that stands for a real number.
pub trait Real: Scalar {
    /// A type that holds the element without loss.
    type Wide: Carried;

    /// The nearest f64.
    fn nearest(self) -> f64;

    /// The element as a center, or a center of 0 if it is infinite or NaN.
    fn center(self) -> Self::Wide;

    /// `self - center`, rounded once to the nearest f64.
    fn minus(self, center: Self::Wide) -> f64;

    /// `a - b`, rounded once to the nearest f64.
    fn difference(a: Self::Wide, b: Self::Wide) -> f64;

    /// The center as the nearest f64.
    fn to_f64(center: Self::Wide) -> f64;
}

macro_rules! floats {
    ($($ty:ty: $widen:expr;)*) => {$(
        impl Real for $ty {
            type Wide = f64;

            #[inline(always)]
            fn nearest(self) -> f64 {
                let widen: fn($ty) -> f64 = $widen;
                widen(self)
            }

            #[inline(always)]
            fn center(self) -> f64 {
                let wide = self.nearest();
                if wide.is_finite() { wide } else { 0.0 }
            }

            #[inline(always)]
            fn minus(self, center: f64) -> f64 {
                self.nearest() - center
            }

            #[inline(always)]
            fn difference(a: f64, b: f64) -> f64 {
                a - b
            }

            #[inline(always)]
            fn to_f64(center: f64) -> f64 {
                center
            }
        }
    )*};
}
floats! {
    f32: f64::from;
    f64: |x| x;
    f16: |x| f64::from(f16_to_f32(x));
    bf16: |x| f64::from(bf16_to_f32(x));
}

macro_rules! integers {
    ($($ty:ty => $wide:ty, $difference:expr;)*) => {$(
        impl Real for $ty {
            type Wide = $wide;

            #[inline(always)]
            fn nearest(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn center(self) -> $wide {
                self.into()
            }

            #[inline(always)]
            fn minus(self, center: $wide) -> f64 {
                Self::difference(self.into(), center)
            }

            #[inline(always)]
            fn difference(a: $wide, b: $wide) -> f64 {
                let difference: fn($wide, $wide) -> f64 = $difference;
                difference(a, b)
            }

            #[inline(always)]
            fn to_f64(center: $wide) -> f64 {
                center as f64
            }
        }
    )*};
}
integers! {
    i32 => i64, |a, b| (a - b) as f64;
    u32 => i64, |a, b| (a - b) as f64;
    // The magnitude of the difference always fits in 64 unsigned bits.
    i64 => i64, |a, b| {
        let magnitude = a.abs_diff(b) as f64;
        if a < b { -magnitude } else { magnitude }
    };
    u64 => u64, |a, b| {
        let magnitude = a.abs_diff(b) as f64;
        if a < b { -magnitude } else { magnitude }
    };
}

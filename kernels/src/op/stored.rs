//! Results as elements of arrays.

use super::Indexed;
use cuda_std::convert::{f32_to_bf16, f32_to_f16};
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};

/// A result that an array of `R` can hold, rounded to the nearest `R` where it has to be.
///
/// A statistic of too few elements is NaN. Of an extreme with its index, the index is stored; −1 if
/// there are no elements.
pub trait Stored<R: Scalar>: Copy {
    /// The element.
    fn stored(self) -> R;
}

macro_rules! stored {
    ($($from:ty as $to:ty: $store:expr;)*) => {$(
        impl Stored<$to> for $from {
            #[inline(always)]
            fn stored(self) -> $to {
                let store: fn($from) -> $to = $store;
                store(self)
            }
        }
    )*};
}
stored! {
    f32 as f32: |x| x;
    f32 as f16: f32_to_f16;
    f32 as bf16: f32_to_bf16;
    f64 as f64: |x| x;
    f64 as f32: |x| x as f32;
    f64 as f16: f16::from_f64;
    f64 as bf16: bf16::from_f64;
    i32 as i32: |x| x;
    u32 as u32: |x| x;
    i64 as i64: |x| x;
    u64 as u64: |x| x;
}

impl<R: Scalar> Stored<R> for Option<f64>
where
    f64: Stored<R>,
{
    #[inline(always)]
    fn stored(self) -> R {
        self.unwrap_or(f64::NAN).stored()
    }
}

impl<A: Copy> Stored<i64> for Option<Indexed<A>> {
    #[inline(always)]
    fn stored(self) -> i64 {
        self.map_or(-1, |extreme| extreme.index as i64)
    }
}

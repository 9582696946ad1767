//! What a word can carry beside a number: what an exchange and a reduction send between blocks.

use cuda_std::prelude::*;

/// A value of one or two halves of 32 bits.
pub trait Carried: Scalar {
    /// How many halves it has: 1 or 2.
    const HALVES: usize;

    /// Its bits, the low half first; a value of one half leaves the high one 0.
    fn to_bits(self) -> u64;

    /// The value of these bits.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! carried {
    ($($ty:ty, $halves:literal, $value:ident => $to:expr, $bits:ident => $from:expr;)*) => {$(
        impl Carried for $ty {
            const HALVES: usize = $halves;

            #[inline(always)]
            fn to_bits(self) -> u64 {
                let $value = self;
                $to
            }

            #[inline(always)]
            fn from_bits($bits: u64) -> Self {
                $from
            }
        }
    )*};
}
carried! {
    u32, 1, value => value.into(), bits => bits as u32;
    i32, 1, value => (value as u32).into(), bits => bits as i32;
    f32, 1, value => value.to_bits().into(), bits => f32::from_bits(bits as u32);
    u64, 2, value => value, bits => bits;
    i64, 2, value => value as u64, bits => bits as i64;
    f64, 2, value => value.to_bits(), bits => f64::from_bits(bits);
}

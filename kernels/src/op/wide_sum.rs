//! Sums of 64-bit integers that do not wrap around.

use super::carried::words_of;
use super::{Carried, Operation, Words};
use core::marker::PhantomData;

/// The sum of elements of `T`, i64 or u64, in 128 bits: exact for any array that fits into memory.
/// So a caller can detect that a sum overflows 64 bits, and a [mean](super::Mean) is the true one.
#[derive(Clone, Copy, Debug, Default)]
pub struct WideSum<T>(PhantomData<fn(T)>);

impl<T> WideSum<T> {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

// SAFETY: it has four words.
unsafe impl Carried for i128 {
    const WORDS: usize = 4;

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of([self as u32, (self >> 32) as u32, (self >> 64) as u32, (self >> 96) as u32])
    }

    #[inline(always)]
    fn from_words([a, b, c, d, ..]: Words) -> Self {
        let low = u64::from(b) << 32 | u64::from(a);
        let high = u64::from(d) << 32 | u64::from(c);
        (u128::from(high) << 64 | u128::from(low)) as Self
    }
}

macro_rules! sums {
    ($($ty:ty),*) => {$(
        impl Operation for WideSum<$ty> {
            type Element = $ty;
            type Accumulator = i128;
            type Output = i128;
            const COMMUTATIVE: bool = true;
            const EXACT: bool = true;

            #[inline(always)]
            fn identity(self) -> i128 {
                0
            }

            #[inline(always)]
            fn lift(self, element: $ty, _index: u64) -> i128 {
                element.into()
            }

            #[inline(always)]
            fn combine(self, a: i128, b: i128) -> i128 {
                a.wrapping_add(b)
            }

            #[inline(always)]
            fn finish(self, all: i128) -> i128 {
                all
            }
        }
    )*};
}
sums!(i64, u64);

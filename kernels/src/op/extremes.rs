//! Both extremes in one read.

use super::carried::{count_of_two, two_of_words, words_of_two};
use super::{Carried, Number, Operation, Widen, Words};
use core::marker::PhantomData;

/// The least and the greatest of some elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes<A> {
    /// The least; of no elements, [`Number::GREATEST`].
    pub least: A,
    /// The greatest; of no elements, [`Number::LEAST`].
    pub greatest: A,
}

// SAFETY: more than `MOST_WORDS` words do not compile.
unsafe impl<A: Carried> Carried for Extremes<A> {
    const WORDS: usize = count_of_two::<A, A>();

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of_two(self.least, self.greatest)
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        let (least, greatest) = two_of_words(words);
        Self { least, greatest }
    }
}

impl<A: Number> Extremes<A> {
    /// The extremes, if there is an element.
    #[must_use]
    pub fn of_some(self) -> Option<Self> {
        let is_of_none = self.least > self.greatest;
        (!is_of_none).then_some(self)
    }
}

/// A number with a distance from others.
pub trait Distance: Number {
    /// The type of distances: unsigned for integers, so that none overflows.
    type Distance: Copy;

    /// The distance from `least`, which is not greater. Every NaN has the same bits.
    fn above(self, least: Self) -> Self::Distance;
}

macro_rules! distances {
    ($($ty:ty => $distance:ty, $above:expr;)*) => {$(
        impl Distance for $ty {
            type Distance = $distance;

            #[inline(always)]
            fn above(self, least: Self) -> $distance {
                let above: fn($ty, $ty) -> $distance = $above;
                above(self, least)
            }
        }
    )*};
}
distances! {
    f32 => f32, |a, b| (a - b).canonical();
    f64 => f64, |a, b| (a - b).canonical();
    i32 => u32, i32::abs_diff;
    u32 => u32, u32::abs_diff;
    i64 => u64, i64::abs_diff;
    u64 => u64, u64::abs_diff;
}

/// The greatest element of `T` minus the least, as an `A`; `None` for an empty array. NaN if any
/// element is NaN. Unsigned for integers.
#[derive(Clone, Copy, Debug, Default)]
pub struct PeakToPeak<T, A = T>(PhantomData<fn(T) -> A>);

impl<T, A> PeakToPeak<T, A> {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Widen<A>, A: Distance> Operation for PeakToPeak<T, A> {
    type Element = T;
    type Accumulator = Extremes<A>;
    type Output = Option<A::Distance>;
    const COMMUTATIVE: bool = true;
    const EXACT: bool = true;

    #[inline(always)]
    fn identity(self) -> Extremes<A> {
        Extremes { least: A::GREATEST, greatest: A::LEAST }
    }

    #[inline(always)]
    fn lift(self, element: T, _index: u64) -> Extremes<A> {
        let x = element.widen();
        Extremes { least: x, greatest: x }
    }

    #[inline(always)]
    fn combine(self, a: Extremes<A>, b: Extremes<A>) -> Extremes<A> {
        Extremes { least: a.least.min(b.least), greatest: a.greatest.max(b.greatest) }
    }

    #[inline(always)]
    fn finish(self, all: Extremes<A>) -> Option<A::Distance> {
        all.of_some().map(|Extremes { least, greatest }| greatest.above(least))
    }
}

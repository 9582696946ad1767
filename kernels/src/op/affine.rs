//! Composition of affine maps, from which linear recurrences are computed.

use super::carried::words_of;
use super::{Carried, Operation, Words};

/// The map x → factor·x + summand on u32, with wrap-around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The multiplier.
    pub factor: u32,
    /// Added after the multiplication.
    pub summand: u32,
}

impl Affine {
    /// The map that an array element encodes. The low half is the factor.
    #[inline(always)]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self { factor: bits as u32, summand: (bits >> 32) as u32 }
    }

    /// The element that encodes this map.
    #[inline(always)]
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        (self.summand as u64) << 32 | self.factor as u64
    }

    /// Applies the map to `x`.
    #[inline(always)]
    #[must_use]
    pub const fn of(self, x: u32) -> u32 {
        self.factor.wrapping_mul(x).wrapping_add(self.summand)
    }

    /// This map followed by `next`.
    #[inline(always)]
    #[must_use]
    pub const fn then(self, next: Self) -> Self {
        Self { factor: next.factor.wrapping_mul(self.factor), summand: next.of(self.summand) }
    }
}

// SAFETY: it has two words.
unsafe impl Carried for Affine {
    const WORDS: usize = 2;

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of([self.factor, self.summand])
    }

    #[inline(always)]
    fn from_words([factor, summand, ..]: Words) -> Self {
        Self { factor, summand }
    }
}

/// The composition of the affine maps that the elements [encode](Affine::from_bits), in the order
/// of the elements. It does not commute.
///
/// For the recurrence x(i+1) = a(i)·x(i) + b(i), a reduction gives the last value and a scan gives
/// all of them (Blelloch, "Prefix Sums and Their Applications", 1990, 1.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Compose;

impl Compose {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Operation for Compose {
    type Element = u64;
    type Accumulator = Affine;
    type Output = Affine;
    const COMMUTATIVE: bool = false;
    const EXACT: bool = true;

    #[inline(always)]
    fn identity(self) -> Affine {
        Affine { factor: 1, summand: 0 }
    }

    #[inline(always)]
    fn lift(self, element: u64, _index: u64) -> Affine {
        Affine::from_bits(element)
    }

    #[inline(always)]
    fn combine(self, a: Affine, b: Affine) -> Affine {
        a.then(b)
    }

    #[inline(always)]
    fn finish(self, all: Affine) -> Affine {
        all
    }
}

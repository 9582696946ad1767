//! The operations with which reductions and scans combine elements.
//!
//! An operation is a value, of size 0 unless it has a parameter. It [lifts](Operation::lift) each
//! element to an accumulator and combines accumulators with an associative function that has an
//! identity.
//!
//! | operation | elements → accumulator | result |
//! |---|---|---|
//! | [`Sum`], [`Product`] | f32 → f32 or f64; f64 → f64; f16, bf16 → f32 or f64; i32 → i64 or i32; u32 → u64 or u32; i64; u64 | integers wrap around in the type of the accumulator |
//! | [`WideSum`] | i64, u64 → i128 | exact |
//! | [`Mean`] | those of its sum | the sum divided by the number of elements |
//! | [`CompensatedSum`] | f32, f64 → [`Compensated`] | as accurate as a sum in twice the precision |
//! | [`ProductModulo`] | i32, u32, i64, u64 → u32 | the product modulo a number up to 2^32 |
//! | [`Min`], [`Max`] | all types; f16, bf16 → f32 | NaN if any element is NaN; −0 < +0 |
//! | [`ArgMin`], [`ArgMax`] | all types → [`Indexed`] | the first minimum or maximum, and its index; a NaN is the extreme; −0 = +0 |
//! | [`PeakToPeak`], [`MinMax`] | as for [`Min`] → [`Extremes`] | the maximum minus the minimum; both of them |
//! | [`SumOfSquares`], [`Norm`] | all types → f64 | and its root |
//! | [`SumOfMagnitudes`] | floating point → f64; 32-bit integers → u64; i64, u64 → i128 | exact for integers |
//! | [`LogSumExp`] | floating point → [`Exponentials`] | the logarithm of the sum of exponentials |
//! | [`Variance`], [`Deviation`] | all types → [`Moments`] | in one read, and its root |
//! | [`Describe`] | f32, f64 and integers → [`Statistics`] | a [`Description`]: count, number of NaN, minimum, maximum, mean, deviation and sum |
//! | [`Xor`], [`And`], [`Or`] | i32, u32, i64, u64 | bitwise |
//! | [`Count`] | all types → u64 | the number of elements that differ from zero (NaN does, −0 does not) |
//! | [`Any`], [`All`] | those of [`Count`] | whether any or all elements differ from zero |
//! | [`SkipNan`] | those of its operation | of the elements that are not NaN |
//! | a pair `(A, B)` | those of both | both results, in one read |
//! | [`Compose`] | u64 → [`Affine`] | the composition of affine maps: does not commute |
//! | [`Recurrence`] | u64 → [`Affine`] | these maps applied to a number |
//! | [`InSegments`] | those of its operation → [`Segment`] | each segment of the array separately: for scans |
//! | [`Mapped`] | any, by a [`Map`] to those of its operation | of the values of a function, as of x and its index, or of two arrays with [`Zipped`] |
//! | [`Dot`] | floating point → f64; i32 → i64; u32 → u64 | the sum of x·y of two arrays |

mod affine;
mod argument;
mod carried;
mod compensated;
mod describe;
mod dot;
mod extremes;
mod log_sum_exp;
mod mapped;
mod mean;
mod modulo;
mod moments;
mod number;
mod operations;
mod pair;
mod real;
mod recurrence;
mod segments;
mod skip_nan;
mod squares;
mod stored;
mod then;
mod wide_sum;

pub use affine::{Affine, Compose};
pub use argument::{ArgMax, ArgMin, Indexed};
pub use carried::{Carried, MOST_WORDS, Words, same_words, words_of};
pub(crate) use carried::{for_each_word, from_each_word, map_words};
pub use compensated::{Compensated, CompensatedSum};
pub use describe::{Describable, Describe, Description, Statistics};
pub use dot::{Dot, Factor, Times};
pub use extremes::{Distance, Extremes, PeakToPeak};
pub use log_sum_exp::{Exponent, Exponentials, LogSumExp};
pub use mapped::{Map, Mapped, Zipped};
pub use mean::{Mean, Total};
#[cfg(not(target_arch = "nvptx64"))]
pub use modulo::ModulusError;
pub use modulo::{Integer, ProductModulo};
pub use moments::{Moments, Variance};
pub use number::{Bits, Number, Widen};
pub use operations::{And, Count, Max, Min, Or, Product, Sum, Xor};
pub use real::Real;
pub use recurrence::Recurrence;
pub use segments::{InSegments, Segment, Segments};
pub use skip_nan::{
    Float, Greatest, Least, MaxOfNumbers, MeanOf, MeanOfNumbers, MinOfNumbers, SkipNan,
};
pub use squares::{Magnitude, SumOfMagnitudes, SumOfSquares};
pub use stored::Stored;
pub use then::{All, Any, AreAll, AreAny, Both, Deviation, Finish, MinMax, Norm, Root, Then};
pub use wide_sum::WideSum;

use cuda_std::memory::Scalar;

/// An associative operation with an identity, on elements of one type.
///
/// It is associative for exact numbers. Floating-point sums round, so each caller documents the
/// order in which it combines.
pub trait Operation: Copy + Send + Sync + 'static {
    /// The element type of the array.
    type Element: Scalar;
    /// The type in which elements are combined.
    type Accumulator: Carried;
    /// The type of the result.
    type Output: Copy;

    /// Whether `combine(a, b)` equals `combine(b, a)`. If not, callers keep the order of the
    /// elements, which needs more steps. Callers that reject such operations document it.
    const COMMUTATIVE: bool;

    /// Whether every bracketing gives the same bits, as for integers but not for floating-point
    /// sums. Callers then need not use one tree. If in doubt, `false`.
    const EXACT: bool = false;

    /// Whether [`take`](Self::take) and [`lift`](Self::lift) are long: some twenty instructions or
    /// more. Kernels then keep their loads together. It changes no result.
    const LONG: bool = false;

    /// Whether the result depends on the number of elements, which only
    /// [`finish_of`](Self::finish_of) gets. Only reductions support this, not scans.
    const NEEDS_LEN: bool = false;

    /// The identity: `combine(identity(), a)` and `combine(a, identity())` lead to the same result
    /// as `a`, to the bit.
    fn identity(self) -> Self::Accumulator;

    /// The accumulator of one element, at index `index` of the array.
    fn lift(self, element: Self::Element, index: u64) -> Self::Accumulator;

    /// Combines two accumulators. `a` is of earlier elements, unless the operation commutes: then
    /// the order is free and the elements of both may be interleaved.
    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;

    /// Accumulates one more element, after those of `all`: `combine(all, lift(element, index))`, or
    /// the same bits in fewer instructions.
    #[inline(always)]
    fn take(self, all: Self::Accumulator, element: Self::Element, index: u64) -> Self::Accumulator {
        self.combine(all, self.lift(element, index))
    }

    /// Accumulates the element only if `is_in`: [`take`](Self::take), or `all`, or the same bits in
    /// fewer instructions.
    #[inline(always)]
    fn take_if(
        self,
        is_in: bool,
        all: Self::Accumulator,
        element: Self::Element,
        index: u64,
    ) -> Self::Accumulator {
        let taken = self.take(all, element, index);
        if is_in { taken } else { all }
    }

    /// For exclusive scans: limits `before`, the combined value of elements right before element
    /// `index`, to the part that counts there. That is all of it, unless a segment starts at
    /// `index`: then the result makes nothing before that element count.
    #[inline(always)]
    fn before(self, before: Self::Accumulator, _index: u64) -> Self::Accumulator {
        before
    }

    /// The combination of all elements as a reduction writes it. It leads to the same result, and is
    /// the result if that has the type of an accumulator.
    #[inline(always)]
    fn settled(self, all: Self::Accumulator) -> Self::Accumulator {
        all
    }

    /// Turns the combination of all elements into the result. Every NaN gets the same bits here,
    /// because the NaN that arithmetic produces depends on the processor.
    fn finish(self, all: Self::Accumulator) -> Self::Output;

    /// The result of a reduction of `len` elements, on the host: [`finish`](Self::finish), unless
    /// the operation [needs the length](Self::NEEDS_LEN).
    fn finish_of(self, all: Self::Accumulator, _len: u64) -> Self::Output {
        self.finish(all)
    }
}

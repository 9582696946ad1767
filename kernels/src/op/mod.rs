//! Operations: what a reduction combines elements by.
//!
//! An operation is a value, of no bytes unless it has a parameter. It [lifts](Operation::lift) the
//! elements to the type it accumulates in, and combines them there by an associative function with an
//! identity.
//!
//! | operation | elements → accumulator | result |
//! |---|---|---|
//! | [`Sum`], [`Product`] | f32 → f32 or f64; f64 → f64; f16, bf16 → f32 or f64; i32 → i64 or i32; u32 → u64 or u32; i64; u64 | integers wrap around in the type that they are accumulated in |
//! | [`WideSum`] | i64, u64 → i128 | exact |
//! | [`Mean`] | as the sum in it | the sum divided by the number of elements |
//! | [`CompensatedSum`] | f32, f64 → [`Compensated`] | as accurate as a sum in twice the precision |
//! | [`ProductModulo`] | i32, u32, i64, u64 → u32 | the residue of the product, by a modulus up to 2^32 |
//! | [`Min`], [`Max`] | all types; f16, bf16 → f32 | NaN if any element is NaN; −0 < +0 |
//! | [`ArgMin`], [`ArgMax`] | all types → [`Indexed`] | the extreme that comes first, and its index; a NaN is the extreme; −0 = +0 |
//! | [`Xor`], [`And`], [`Or`] | i32, u32, i64, u64 | bitwise |
//! | [`Count`] | all types → u64 | elements that differ from zero (NaN does, −0 does not) |
//! | [`Compose`] | u64 → [`Affine`] | one affine map after the other: does not commute |
//! | [`Recurrence`] | u64 → [`Affine`] | what these maps make of a number |
//! | [`InSegments`] | as the operation in it → [`Segment`] | each segment of the array by itself: for scans |

mod affine;
mod argument;
mod carried;
mod compensated;
mod mean;
mod modulo;
mod number;
mod operations;
mod recurrence;
mod segments;
mod wide_sum;

pub use affine::{Affine, Compose};
pub use argument::{ArgMax, ArgMin, Indexed};
pub use carried::{Carried, Words};
pub(crate) use carried::{for_each_word, from_each_word, map_words};
pub use compensated::{Compensated, CompensatedSum};
pub use mean::{Mean, Total};
#[cfg(not(target_arch = "nvptx64"))]
pub use modulo::ModulusError;
pub use modulo::{Integer, ProductModulo};
pub use number::{Bits, Number, Widen};
pub use operations::{And, Count, Max, Min, Or, Product, Sum, Xor};
pub use recurrence::Recurrence;
pub use segments::{InSegments, Segment, Segments};
pub use wide_sum::WideSum;

use cuda_std::memory::Scalar;

/// An associative operation with an identity, over elements of one type.
///
/// Associative means: for exact numbers. Floating-point sums round, and each user says in which
/// order it combines.
pub trait Operation: Copy + Send + Sync + 'static {
    /// What the array holds.
    type Element: Scalar;
    /// What is accumulated.
    type Accumulator: Carried;
    /// The type of the result.
    type Output: Copy;

    /// Whether `combine(a, b)` equals `combine(b, a)`. Where it does not, elements are combined in
    /// their order, which takes more steps, and by some users not at all: they say so.
    const COMMUTATIVE: bool;

    /// Whether the result has the same bits however the elements are bracketed: so it is for integers,
    /// and not for floating-point sums. Those who combine exact ones need keep to no tree. If in doubt,
    /// `false`.
    const EXACT: bool = false;

    /// Whether the result depends on the number of elements, which [`finish_of`](Self::finish_of) is told.
    /// Then only reductions give it, not scans.
    const NEEDS_LEN: bool = false;

    /// The identity: `combine(identity(), a)` and `combine(a, identity())` are `a`, in that whatever
    /// is made of it has the same bits.
    fn identity(self) -> Self::Accumulator;

    /// The accumulator that one element makes, which is element number `index` of the array.
    fn lift(self, element: Self::Element, index: u64) -> Self::Accumulator;

    /// Combines two accumulators, the one of earlier elements first. Only if the operation commutes
    /// may the first one be of later elements, or may they be mingled.
    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;

    /// Takes one more element into `all`, whose elements come before it: `combine(all, lift(element,
    /// index))`, or the same bits by fewer instructions.
    #[inline(always)]
    fn take(self, all: Self::Accumulator, element: Self::Element, index: u64) -> Self::Accumulator {
        self.combine(all, self.lift(element, index))
    }

    /// What counts as lying before element `index` of the array, where `before` is what some elements
    /// right before it combine to. All of it, unless a scan begins anew with that element: then what
    /// makes those before it count no more, and nothing else.
    #[inline(always)]
    fn before(self, before: Self::Accumulator, _index: u64) -> Self::Accumulator {
        before
    }

    /// The result, of what all elements combine to. Here a floating-point operation gives every NaN
    /// the same bits: which ones arithmetic leaves depends on the processor.
    fn finish(self, all: Self::Accumulator) -> Self::Output;

    /// The result of a reduction of `len` elements, on the host: [`finish`](Self::finish), unless the
    /// operation [needs the length](Self::NEEDS_LEN).
    fn finish_of(self, all: Self::Accumulator, _len: u64) -> Self::Output {
        self.finish(all)
    }
}

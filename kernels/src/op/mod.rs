//! Operations: what a reduction combines elements by.
//!
//! An operation is a type. Its elements are [lifted](Operation::lift) to the type it accumulates
//! in, and combined there by an associative function with an identity.
//!
//! | operation | elements → accumulator | result |
//! |---|---|---|
//! | [`Sum`], [`Product`] | f32 → f32 or f64; f64 → f64; f16, bf16 → f32 or f64; i32 → i64; u32 → u64; i64; u64 | integers wrap around at 64 bits |
//! | [`Min`], [`Max`] | all types; f16, bf16 → f32 | NaN if any element is NaN; −0 < +0 |
//! | [`Xor`], [`And`], [`Or`] | i32, u32, i64, u64 | bitwise |
//! | [`Count`] | all types → u64 | elements that differ from zero (NaN does, −0 does not) |

mod number;
mod operations;

pub use number::{Bits, Number, Widen};
pub use operations::{And, Count, Max, Min, Or, Product, Sum, Xor};

use cuda_std::memory::Scalar;

/// An associative operation with an identity, over elements of one type.
///
/// Associative means: for exact numbers. Floating-point sums round, and each user says in which
/// order it combines.
pub trait Operation: Copy + Send + Sync + 'static {
    /// What the array holds.
    type Element: Scalar;
    /// What is accumulated, and the type of the result.
    type Accumulator: Scalar;

    /// Whether `combine(a, b)` equals `combine(b, a)`. A user that reorders elements refuses an
    /// operation where it does not.
    const COMMUTATIVE: bool;

    /// The identity: `combine(identity(), a)` is `a`, to the bit.
    fn identity() -> Self::Accumulator;

    /// The accumulator that one element makes.
    fn lift(element: Self::Element) -> Self::Accumulator;

    /// Combines two accumulators, the one of earlier elements first.
    fn combine(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;

    /// The result, of what all elements combine to. Here a floating-point operation gives every NaN
    /// the same bits: which ones arithmetic leaves depends on the processor.
    #[inline(always)]
    fn finish(all: Self::Accumulator) -> Self::Accumulator {
        all
    }
}

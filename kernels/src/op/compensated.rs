//! Sums that also track their rounding errors.

use super::carried::{count_of_two, two_of_words, words_of_two};
use super::{Carried, Number, Operation, Words};
use core::marker::PhantomData;
use core::ops::Sub;

/// A rounded sum, and separately the sum of its rounding errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compensated<A> {
    /// The result of plain addition in the same order.
    pub sum: A,
    /// The sum of the rounding errors. Infinite or NaN, and meaningless, if an addition overflows.
    pub error: A,
}

// SAFETY: more than `MOST_WORDS` words do not compile.
unsafe impl<A: Carried> Carried for Compensated<A> {
    const WORDS: usize = count_of_two::<A, A>();

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of_two(self.sum, self.error)
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        let (sum, error) = two_of_words(words);
        Self { sum, error }
    }
}

/// The sum of elements of `T`, f32 or f64, about as accurate as if computed in twice the precision
/// and then rounded.
///
/// Each addition is a TwoSum, which gives its error exactly (Knuth, TAOCP 2, 4.2.2, theorem B).
/// Plain additions sum up the errors, and the end adds them to the sum. This is algorithm Sum2 of
/// Ogita, Rump and Oishi ("Accurate Sum and Dot Product", SIAM J. Sci. Comput. 26, 2005), along a
/// tree. Let no element pass through more than d additions, γ(d) = d·u / (1 − d·u), and u half the
/// machine epsilon. Then the result is within u·|s| + (1 + u)·γ(d)·γ(2d)·Σ|x| of the true sum s. At
/// each level of the tree the exact errors are at most u times the sums, γ(d)·Σ|x| in all, and each
/// error passes through at most 2d roundings.
///
/// NaN, infinities and additions that overflow give the result of [`Sum`](super::Sum) in the same
/// order. If only the sum plus its errors overflows, this is infinite and `Sum` gives the greatest
/// finite number: the true sum rounds to infinity.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompensatedSum<T>(PhantomData<fn(T)>);

impl<T> CompensatedSum<T> {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// The rounded sum and its error, exact unless something overflows.
#[inline(always)]
fn two_sum<A: Number + Sub<Output = A>>(a: A, b: A) -> (A, A) {
    let sum = a.add(b);
    let of_b = sum - a;
    (sum, (a - (sum - of_b)).add(b - of_b))
}

impl<T: Number + Sub<Output = T>> Operation for CompensatedSum<T> {
    type Element = T;
    type Accumulator = Compensated<T>;
    type Output = T;
    const COMMUTATIVE: bool = true;

    #[inline(always)]
    fn identity(self) -> Compensated<T> {
        // An error is never −0, so +0 (`default`) is the identity for errors.
        let error = T::default();
        Compensated { sum: T::ZERO, error }
    }

    #[inline(always)]
    fn lift(self, element: T, _index: u64) -> Compensated<T> {
        let error = T::default();
        Compensated { sum: element, error }
    }

    #[inline(always)]
    fn combine(self, a: Compensated<T>, b: Compensated<T>) -> Compensated<T> {
        let (sum, error) = two_sum(a.sum, b.sum);
        let error = a.error.add(b.error).add(error);
        Compensated { sum, error }
    }

    #[inline(always)]
    fn take(self, all: Compensated<T>, element: T, _index: u64) -> Compensated<T> {
        let (sum, error) = two_sum(all.sum, element);
        let error = all.error.add(error);
        Compensated { sum, error }
    }

    #[inline(always)]
    fn finish(self, all: Compensated<T>) -> T {
        // After an overflow `sum` is the result of a plain sum, and `error` is infinite or NaN.
        // Adding an error of 0 would turn a sum of −0 into +0.
        let is_finite = T::LEAST < all.error && all.error < T::GREATEST;
        if is_finite && all.error != T::default() {
            all.sum.add(all.error).canonical()
        } else {
            all.sum.canonical()
        }
    }
}

//! Other results from the accumulators of an operation, by the kernels of that operation.

use super::{
    Count, Distance, Extremes, Float, Moments, Operation, PeakToPeak, Real, SkipNan, SumOfSquares,
    Variance, Widen,
};
use cuda_std::math;
use cuda_std::memory::Scalar;

/// A result of a reduction from the combination of all elements by `O`.
pub trait Finish<O: Operation>: Copy + Default + Send + Sync + 'static {
    /// The type of the result.
    type Output: Copy;

    /// The result of `len` elements that `op` has combined to `all`.
    fn finish(self, op: O, all: O::Accumulator, len: u64) -> Self::Output;
}

/// Combines by `O`, and makes another result of it. For reductions, by the kernels of `O`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Then<O, F> {
    op: O,
    finish: F,
}

impl<O: Default, F: Default> Then<O, F> {
    /// The operation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<O: Copy, F: Default> Then<O, F> {
    /// Another result of `op`.
    #[must_use]
    pub fn of(op: O) -> Self {
        Self { op, finish: F::default() }
    }

    /// The operation that combines.
    #[must_use]
    pub fn op(self) -> O {
        self.op
    }
}

impl<O: Operation, F: Finish<O>> Operation for Then<O, F> {
    type Element = O::Element;
    type Accumulator = O::Accumulator;
    type Output = F::Output;
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    const EXACT: bool = O::EXACT;
    const LONG: bool = O::LONG;
    const NEEDS_LEN: bool = true;

    #[inline(always)]
    fn identity(self) -> O::Accumulator {
        self.op.identity()
    }

    #[inline(always)]
    fn lift(self, element: O::Element, index: u64) -> O::Accumulator {
        self.op.lift(element, index)
    }

    #[inline(always)]
    fn combine(self, a: O::Accumulator, b: O::Accumulator) -> O::Accumulator {
        self.op.combine(a, b)
    }

    #[inline(always)]
    fn take(self, all: O::Accumulator, element: O::Element, index: u64) -> O::Accumulator {
        self.op.take(all, element, index)
    }

    /// The result for no elements: only [`finish_of`](Operation::finish_of) gets their number.
    fn finish(self, all: O::Accumulator) -> F::Output {
        self.finish_of(all, 0)
    }

    fn finish_of(self, all: O::Accumulator, len: u64) -> F::Output {
        self.finish.finish(self.op, all, len)
    }
}

/// The square root of the result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Root;

/// The Euclidean norm: the root of the [`SumOfSquares`].
pub type Norm<T> = Then<SumOfSquares<T>, Root>;

impl<T: Real> Finish<SumOfSquares<T>> for Root {
    type Output = f64;

    fn finish(self, op: SumOfSquares<T>, all: f64, _len: u64) -> f64 {
        math::Float::sqrt(op.finish(all))
    }
}

/// The standard deviation: the root of the [`Variance`].
pub type Deviation<T> = Then<Variance<T>, Root>;

impl<T> Deviation<T> {
    /// The deviation with the divisor n − `ddof`.
    #[inline(always)]
    #[must_use]
    pub const fn with_ddof(ddof: u64) -> Self {
        Self { op: Variance::with_ddof(ddof), finish: Root }
    }

    /// The number that is subtracted from n.
    #[must_use]
    pub const fn ddof(self) -> u64 {
        self.op.ddof()
    }
}

impl<T: Real> Finish<Variance<T>> for Root {
    type Output = Option<f64>;

    fn finish(self, op: Variance<T>, all: Moments<T::Wide>, _len: u64) -> Option<f64> {
        op.finish(all).map(math::Float::sqrt)
    }
}

impl<T: Real + Float> Finish<SkipNan<Variance<T>>> for Root {
    type Output = Option<f64>;

    fn finish(self, op: SkipNan<Variance<T>>, all: Moments<T::Wide>, _len: u64) -> Option<f64> {
        op.finish(all).map(math::Float::sqrt)
    }
}

/// Whether some elements differ from zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct AreAny;

/// Whether any element differs from zero: NaN does, −0 does not. False for an empty array.
pub type Any<T> = Then<Count<T>, AreAny>;

impl<T: Scalar + PartialEq> Finish<Count<T>> for AreAny {
    type Output = bool;

    fn finish(self, _op: Count<T>, all: u64, _len: u64) -> bool {
        all > 0
    }
}

/// Whether all elements differ from zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct AreAll;

/// Whether all elements differ from zero: NaN does, −0 does not. True for an empty array.
pub type All<T> = Then<Count<T>, AreAll>;

impl<T: Scalar + PartialEq> Finish<Count<T>> for AreAll {
    type Output = bool;

    fn finish(self, _op: Count<T>, all: u64, len: u64) -> bool {
        all == len
    }
}

/// Both extremes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Both;

/// The minimum and the maximum in one read; `None` for an empty array. Both are NaN if any element
/// is NaN, and −0 < +0.
pub type MinMax<T, A = T> = Then<PeakToPeak<T, A>, Both>;

impl<T: Widen<A>, A: Distance> Finish<PeakToPeak<T, A>> for Both {
    type Output = Option<Extremes<A>>;

    fn finish(self, _op: PeakToPeak<T, A>, all: Extremes<A>, _len: u64) -> Option<Extremes<A>> {
        all.of_some()
    }
}

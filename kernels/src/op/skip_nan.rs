//! Operations that ignore NaN elements.

use super::{
    Distance, Extremes, Finish, Moments, Operation, PeakToPeak, Real, Then, Variance, Widen,
};
use cuda_std::convert::{bf16_to_f32, f16_to_f32};
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};

/// An element type that has NaN.
pub trait Float: Scalar {
    /// Whether the element is NaN.
    fn is_nan(self) -> bool;
}

macro_rules! floats {
    ($($ty:ty: $is_nan:expr;)*) => {$(
        impl Float for $ty {
            #[inline(always)]
            fn is_nan(self) -> bool {
                let is_nan: fn($ty) -> bool = $is_nan;
                is_nan(self)
            }
        }
    )*};
}
floats! {
    f32: f32::is_nan;
    f64: f64::is_nan;
    f16: |x| f16_to_f32(x).is_nan();
    bf16: |x| bf16_to_f32(x).is_nan();
}

/// `O` of the elements that are not NaN, with the indices that they have among all.
///
/// The order in which elements are combined is that of the whole array, so floating-point bits
/// depend on where the NaN elements are. `O` must not [need the length](Operation::NEEDS_LEN), which
/// includes the NaN elements: for a mean use [`MeanOfNumbers`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SkipNan<O>(O);

impl<O> SkipNan<O> {
    /// `op` of the elements that are not NaN.
    #[inline(always)]
    #[must_use]
    pub const fn of(op: O) -> Self {
        Self(op)
    }
}

impl<O: Default> SkipNan<O> {
    /// The operation.
    #[inline(always)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<O: Copy> SkipNan<O> {
    /// The operation on the elements that are not NaN.
    #[must_use]
    pub const fn op(self) -> O {
        self.0
    }
}

impl<O: Operation<Element: Float>> Operation for SkipNan<O> {
    type Element = O::Element;
    type Accumulator = O::Accumulator;
    type Output = O::Output;
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    const EXACT: bool = O::EXACT;
    const LONG: bool = O::LONG;

    #[inline(always)]
    fn identity(self) -> O::Accumulator {
        const { assert!(!O::NEEDS_LEN, "the length includes the NaN elements") };
        self.0.identity()
    }

    #[inline(always)]
    fn lift(self, element: O::Element, index: u64) -> O::Accumulator {
        if element.is_nan() { self.0.identity() } else { self.0.lift(element, index) }
    }

    #[inline(always)]
    fn combine(self, a: O::Accumulator, b: O::Accumulator) -> O::Accumulator {
        self.0.combine(a, b)
    }

    #[inline(always)]
    fn take(self, all: O::Accumulator, element: O::Element, index: u64) -> O::Accumulator {
        self.0.take_if(!element.is_nan(), all, element, index)
    }

    #[inline(always)]
    fn finish(self, all: O::Accumulator) -> O::Output {
        self.0.finish(all)
    }
}

/// The mean of the elements.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeanOf;

/// The mean of the elements that are not NaN, in f64; `None` if there are none.
pub type MeanOfNumbers<T> = Then<SkipNan<Variance<T>>, MeanOf>;

impl<T: Real + Float> Finish<SkipNan<Variance<T>>> for MeanOf {
    type Output = Option<f64>;

    fn finish(self, _op: SkipNan<Variance<T>>, all: Moments<T::Wide>, _len: u64) -> Option<f64> {
        all.mean::<T>()
    }
}

/// The least element.
#[derive(Clone, Copy, Debug, Default)]
pub struct Least;

/// The greatest element.
#[derive(Clone, Copy, Debug, Default)]
pub struct Greatest;

/// The minimum of the elements that are not NaN; `None` if there are none.
pub type MinOfNumbers<T, A = T> = Then<SkipNan<PeakToPeak<T, A>>, Least>;

/// The maximum of the elements that are not NaN; `None` if there are none.
pub type MaxOfNumbers<T, A = T> = Then<SkipNan<PeakToPeak<T, A>>, Greatest>;

macro_rules! extremes {
    ($($finish:ident: $which:ident;)*) => {$(
        impl<T: Widen<A> + Float, A: Distance> Finish<SkipNan<PeakToPeak<T, A>>> for $finish {
            type Output = Option<A>;

            fn finish(
                self,
                _op: SkipNan<PeakToPeak<T, A>>,
                all: Extremes<A>,
                _len: u64,
            ) -> Option<A> {
                all.of_some().map(|both| both.$which)
            }
        }
    )*};
}
extremes! { Least: least; Greatest: greatest; }

//! Several statistics in one read.

use super::{
    Carried, Distance, Extremes, Moments, Operation, PeakToPeak, Real, Sum, Total, Variance,
    WideSum, Widen, Words,
};
use core::fmt::Debug;

/// An element type that can be [described](Describe).
pub trait Describable: Real + Distance + Widen<Self> {
    /// The type of the sum: f64 for floating point, an integer that holds any sum for integers.
    type Total: Total + Default + PartialEq + Debug;
    /// The operation that adds up elements.
    type Sum: Operation<Element = Self, Output = Self::Total> + Default;

    /// The mean of `count` elements, which is not 0.
    fn mean(moments: Moments<Self::Wide>, sum: Self::Total, count: u64) -> f64;
}

macro_rules! describable {
    ($($ty:ty => $sum:ty, $total:ty, $mean:expr;)*) => {$(
        impl Describable for $ty {
            type Total = $total;
            type Sum = $sum;

            fn mean(moments: Moments<Self::Wide>, sum: $total, count: u64) -> f64 {
                let mean: fn(Option<f64>, $total, u64) -> f64 = $mean;
                mean(moments.mean::<Self>(), sum, count)
            }
        }
    )*};
}
describable! {
    f32 => Sum<f32, f64>, f64, of_floats;
    f64 => Sum<f64>, f64, of_floats;
    i32 => Sum<i32, i64>, i64, |_, sum, count| sum.divided_by(count);
    u32 => Sum<u32, u64>, u64, |_, sum, count| sum.divided_by(count);
    i64 => WideSum<i64>, i128, |_, sum, count| sum.divided_by(count);
    u64 => WideSum<u64>, i128, |_, sum, count| sum.divided_by(count);
}

/// The mean about a center, which loses fewer digits. Differences from a center may overflow where
/// the sum does not.
fn of_floats(about_center: Option<f64>, sum: f64, count: u64) -> f64 {
    about_center.filter(|mean| mean.is_finite()).unwrap_or_else(|| sum.divided_by(count))
}

/// Statistics of an array, all of the elements that are not NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description<T: Describable> {
    /// Number of elements that are not NaN.
    pub count: u64,
    /// Number of elements that are NaN.
    pub nan: u64,
    /// The minimum; `None` if `count` is 0. −0 < +0.
    pub min: Option<T>,
    /// The maximum; `None` if `count` is 0. −0 < +0.
    pub max: Option<T>,
    /// The mean; `None` if `count` is 0. For integers the true mean, rounded once.
    pub mean: Option<f64>,
    /// The standard deviation, with the divisor `count` − ddof; `None` if that is not positive. NaN
    /// if an element is infinite.
    pub deviation: Option<f64>,
    /// The sum; 0 if `count` is 0. Exact for integers, in f64 for floating point.
    pub sum: T::Total,
}

/// The operations that are combined.
type All<T> = (Variance<T>, (PeakToPeak<T>, <T as Describable>::Sum));

/// The accumulator of [`Describe`].
#[derive(Clone, Copy)]
pub struct Statistics<T: Describable>(<All<T> as Operation>::Accumulator);

// SAFETY: more than `MOST_WORDS` words do not compile.
unsafe impl<T: Describable> Carried for Statistics<T> {
    const WORDS: usize = <<All<T> as Operation>::Accumulator as Carried>::WORDS;

    #[inline(always)]
    fn to_words(self) -> Words {
        self.0.to_words()
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        Self(Carried::from_words(words))
    }
}

/// The count, minimum, maximum, mean, standard deviation and sum of the elements of `T` that are
/// not NaN, and the number of those that are, in one read.
///
/// The numbers are those of the [`Variance`] and the [`PeakToPeak`] of these elements, and of their
/// [`Sum`] in f64 or, for integers, in a type that holds any. So their error bounds hold.
#[derive(Clone, Copy, Debug)]
pub struct Describe<T> {
    variance: Variance<T>,
}

impl<T> Describe<T> {
    /// The operation, with a standard deviation with the divisor n.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self::with_ddof(0)
    }

    /// The operation, with a standard deviation with the divisor n − `ddof`.
    #[inline(always)]
    #[must_use]
    pub const fn with_ddof(ddof: u64) -> Self {
        Self { variance: Variance::with_ddof(ddof) }
    }

    /// The number that is subtracted from n.
    #[must_use]
    pub const fn ddof(self) -> u64 {
        self.variance.ddof()
    }
}

impl<T> Default for Describe<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Describable> Describe<T> {
    #[inline(always)]
    fn all(self) -> All<T> {
        (self.variance, (PeakToPeak::new(), T::Sum::default()))
    }
}

impl<T: Describable> Operation for Describe<T> {
    type Element = T;
    type Accumulator = Statistics<T>;
    type Output = Description<T>;
    const COMMUTATIVE: bool = true;
    const LONG: bool = true;
    const NEEDS_LEN: bool = true;

    #[inline(always)]
    fn identity(self) -> Self::Accumulator {
        Statistics(self.all().identity())
    }

    #[inline(always)]
    fn lift(self, element: T, index: u64) -> Self::Accumulator {
        self.take(self.identity(), element, index)
    }

    #[inline(always)]
    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        Statistics(self.all().combine(a.0, b.0))
    }

    #[inline(always)]
    fn take(self, all: Self::Accumulator, element: T, index: u64) -> Self::Accumulator {
        self.take_if(true, all, element, index)
    }

    #[inline(always)]
    fn take_if(
        self,
        is_in: bool,
        all: Self::Accumulator,
        element: T,
        index: u64,
    ) -> Self::Accumulator {
        Statistics(self.all().take_if(is_in & !element.is_nan(), all.0, element, index))
    }

    /// The result without NaN elements: only [`finish_of`](Operation::finish_of) gets their number.
    fn finish(self, all: Self::Accumulator) -> Description<T> {
        self.finish_of(all, all.0.0.count())
    }

    fn finish_of(self, all: Self::Accumulator, len: u64) -> Description<T> {
        let (moments, (Extremes { least, greatest }, sum)) = all.0;
        let count = moments.count();
        let of_some = |x: T| (count > 0).then_some(x);
        let sum = T::Sum::default().finish(sum);
        Description {
            count,
            nan: len - count,
            min: of_some(least),
            max: of_some(greatest),
            mean: (count > 0).then(|| T::mean(moments, sum, count)),
            deviation: moments.variance(self.ddof()).map(cuda_std::math::Float::sqrt),
            // The sum of no floating-point numbers is −0.
            sum: if count > 0 { sum } else { T::Total::default() },
        }
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// The description of `host` from two chains of elements, with the divisor n − 1.
    fn described<T: Describable>(host: &[T]) -> Description<T> {
        let op = Describe::<T>::with_ddof(1);
        let chain = |part: &[T]| part.iter().fold(op.identity(), |all, &x| op.take(all, x, 0));
        let lifted =
            |part: &[T]| part.iter().fold(op.identity(), |all, &x| op.combine(all, op.lift(x, 0)));
        let (first, second) = host.split_at(host.len() / 2);
        let all = op.combine(chain(first), lifted(second));
        let all = Statistics::from_words(all.to_words());
        op.finish_of(all, host.len() as u64)
    }

    #[test]
    fn a_description_has_the_statistics_computed_by_hand() {
        let found = described(&[f32::NAN, 4.0, 7.0, -f32::NAN, 13.0, 16.0, f32::NAN]);
        let expected = Description {
            count: 4,
            nan: 3,
            min: Some(4.0),
            max: Some(16.0),
            mean: Some(10.0),
            deviation: Some(30f64.sqrt()),
            sum: 40.0,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn sums_and_means_of_integers_are_exact() {
        let found = described(&[i64::MAX, i64::MAX, i64::MIN]);
        assert_eq!(found.sum, i128::from(i64::MAX) - 1);
        assert_eq!(found.mean, Some((i128::from(i64::MAX) - 1).divided_by(3)));
        assert_eq!((found.min, found.max), (Some(i64::MIN), Some(i64::MAX)));
        assert_eq!(described(&[u32::MAX; 4]).sum, 4 * u64::from(u32::MAX));
        assert_eq!(described(&[u32::MAX; 4]).deviation, Some(0.0));
    }

    #[test]
    fn nothing_and_only_nan_have_no_extremes_and_no_mean() {
        for host in [&[][..], &[f64::NAN], &[f64::NAN; 9]] {
            let found = described(host);
            assert_eq!((found.count, found.nan), (0, host.len() as u64));
            assert_eq!(
                (found.min, found.max, found.mean, found.deviation),
                (None, None, None, None)
            );
            assert_eq!(found.sum.to_bits(), 0, "+0");
        }
        assert_eq!(described::<u64>(&[]).sum, 0);
    }

    #[test]
    fn one_element_has_a_deviation_only_with_ddof_0() {
        let found = described(&[2.5f64]);
        assert_eq!((found.min, found.max, found.mean), (Some(2.5), Some(2.5), Some(2.5)));
        assert_eq!((found.sum, found.deviation), (2.5, None));
        let op = Describe::<f64>::new();
        assert_eq!(op.finish(op.lift(2.5, 0)).deviation, Some(0.0));
    }

    #[test]
    fn zeros_of_either_sign_are_ordered_and_kept() {
        let found = described(&[0.0f32, -0.0, 0.0]);
        assert_eq!(found.min.map(f32::to_bits), Some((-0.0f32).to_bits()));
        assert_eq!(found.max.map(f32::to_bits), Some(0));
        assert_eq!(described(&[-0.0f64; 3]).sum.to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn an_infinite_element_is_an_extreme_and_makes_the_deviation_nan() {
        let found = described(&[1.0f64, f64::INFINITY, 2.0]);
        assert_eq!((found.min, found.max), (Some(1.0), Some(f64::INFINITY)));
        assert_eq!((found.mean, found.sum), (Some(f64::INFINITY), f64::INFINITY));
        assert_eq!(found.deviation.map(f64::to_bits), Some(f64::NAN.to_bits()));
        let both = described(&[f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(both.mean.map(f64::to_bits), Some(f64::NAN.to_bits()));
        assert_eq!(both.sum.to_bits(), f64::NAN.to_bits());
        let all = described(&[f64::INFINITY; 3]);
        assert_eq!((all.min, all.max), (Some(f64::INFINITY), Some(f64::INFINITY)));
    }

    #[test]
    fn a_mean_is_finite_although_differences_overflow() {
        let found = described(&[f64::MAX, -f64::MAX]);
        assert_eq!((found.mean, found.sum), (Some(0.0), 0.0));
    }
}

//! The variance in one read: sums of the differences from one of the elements.

use super::carried::{two_of_words, words_of, words_of_two};
use super::{Carried, Number, Operation, Real, Words};
use core::marker::PhantomData;
/// The number of elements, and the sums of their differences from a center and of the squares of
/// these. The center is one of the elements: the first that was combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments<W> {
    count: u64,
    center: W,
    /// The sum of the differences from the center.
    sum: f64,
    /// The sum of the squares of the differences.
    squares: f64,
}

// SAFETY: more than `MOST_WORDS` words do not compile.
unsafe impl<W: Carried> Carried for Moments<W> {
    const WORDS: usize = 6 + W::WORDS;

    #[inline(always)]
    fn to_words(self) -> Words {
        let [count, sum, squares] = [self.count, self.sum.to_bits(), self.squares.to_bits()];
        let words = Six([count, sum, squares]);
        words_of_two(words, self.center)
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        let (Six([count, sum, squares]), center) = two_of_words(words);
        let [sum, squares] = [sum, squares].map(f64::from_bits);
        Self { count, center, sum, squares }
    }
}

/// Six words.
#[derive(Clone, Copy)]
struct Six([u64; 3]);

// SAFETY: it has six words.
unsafe impl Carried for Six {
    const WORDS: usize = 6;

    #[inline(always)]
    fn to_words(self) -> Words {
        let Self([a, b, c]) = self;
        let high = |x: u64| (x >> 32) as u32;
        words_of([a as u32, high(a), b as u32, high(b), c as u32, high(c)])
    }

    #[inline(always)]
    fn from_words([a, b, c, d, e, f, ..]: Words) -> Self {
        let wide = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        Self([wide(a, b), wide(c, d), wide(e, f)])
    }
}

impl<W: Copy> Moments<W> {
    /// The number of elements.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean of elements of `T`; `None` if there are none. Every NaN has the same bits.
    #[must_use]
    pub fn mean<T: Real<Wide = W>>(&self) -> Option<f64> {
        let mean = T::to_f64(self.center) + self.sum / self.count as f64;
        (self.count > 0).then(|| mean.canonical())
    }

    /// The sum of the squares of the differences from the mean.
    fn squares_about_mean(&self) -> f64 {
        self.squares - self.sum * (self.sum / self.count as f64)
    }

    /// The variance with the divisor `count - ddof`; `None` if that is not positive.
    ///
    /// Never negative, and NaN if an element is infinite or NaN.
    #[must_use]
    pub fn variance(&self, ddof: u64) -> Option<f64> {
        let divisor = self.count.checked_sub(ddof).filter(|&divisor| divisor > 0)?;
        let variance = self.squares_about_mean() / divisor as f64;
        // Rounding can make it slightly negative. A comparison with NaN is false.
        Some(if variance < 0.0 { 0.0 } else { variance.canonical() })
    }
}

/// The variance of elements of `T` with the divisor n − `ddof`, in one read; `None` unless there
/// are more than `ddof` elements.
///
/// The sums of x − c and of its square are added along the tree in f64, where the center c is an
/// element: for each chain of additions the first one. Two chains are combined by moving the center
/// of the second to that of the first, without a division. Let u be 2^−53, d the depth of the tree,
/// V the true variance with the divisor n, and D the largest squared distance of a center from the
/// mean. Then the error of the result is at most 16·(d + 4)·u·(V + D), and D is usually a few V: no
/// digits are lost if the mean is large (Chan, Golub and LeVeque, "Algorithms for Computing the
/// Sample Variance", The American Statistician 37, 1983: shifted data).
///
/// An infinite or NaN element makes it NaN. Squares beyond the range of f64 make it infinite or
/// NaN.
#[derive(Clone, Copy, Debug)]
pub struct Variance<T> {
    ddof: u64,
    element: PhantomData<fn(T)>,
}

impl<T> Variance<T> {
    /// The variance with the divisor n.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self::with_ddof(0)
    }

    /// The variance with the divisor n − `ddof`.
    #[inline(always)]
    #[must_use]
    pub const fn with_ddof(ddof: u64) -> Self {
        Self { ddof, element: PhantomData }
    }

    /// The number that is subtracted from n.
    #[must_use]
    pub const fn ddof(self) -> u64 {
        self.ddof
    }
}

impl<T> Default for Variance<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> Operation for Variance<T> {
    type Element = T;
    type Accumulator = Moments<T::Wide>;
    type Output = Option<f64>;
    const COMMUTATIVE: bool = true;
    const LONG: bool = true;

    #[inline(always)]
    fn identity(self) -> Self::Accumulator {
        Moments { count: 0, center: T::default().center(), sum: 0.0, squares: 0.0 }
    }

    #[inline(always)]
    fn lift(self, element: T, _index: u64) -> Self::Accumulator {
        let center = element.center();
        let apart = element.minus(center);
        Moments { count: 1, center, sum: apart, squares: apart * apart }
    }

    #[inline(always)]
    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        let (apart, of_b) = (T::difference(b.center, a.center), b.count as f64);
        let moved = of_b * apart;
        // Number by number: a choice between two structures would put them into local memory.
        let combined = |of_a: f64, of_b: f64, both: f64| match (a.count, b.count) {
            (0, _) => of_b,
            (_, 0) => of_a,
            _ => both,
        };
        let sum = a.sum + (b.sum + moved);
        let squares = a.squares + (b.squares + apart * (b.sum + (b.sum + moved)));
        Moments {
            count: a.count + b.count,
            center: if a.count == 0 { b.center } else { a.center },
            sum: combined(a.sum, b.sum, sum),
            squares: combined(a.squares, b.squares, squares),
        }
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
        _index: u64,
    ) -> Self::Accumulator {
        let center = if all.count != 0 || !is_in { all.center } else { element.center() };
        // A sum is never −0, so that +0 does not change it.
        let apart = if is_in { element.minus(center) } else { 0.0 };
        Moments {
            // The compiler knows that this is not 0, and so that the next element has a center.
            count: all.count.saturating_add(u64::from(is_in)),
            center,
            sum: all.sum + apart,
            squares: all.squares + apart * apart,
        }
    }

    fn finish(self, all: Self::Accumulator) -> Option<f64> {
        all.variance(self.ddof)
    }
}

//! The allowed error of a floating-point result.
//!
//! The true value is computed with errors far below those of the checked result. The tolerance is
//! the error bound for the order of the checked sum, never a constant.

use super::in_chunks::{Folded, InChunks};
use crate::parallel::CHUNK;
use gridsync_kernels::op::Widen;

/// A sum as a pair of numbers: `high` is the nearest f64, and `low` is the remainder.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct FloatSum {
    high: f64,
    low: f64,
    magnitude: f64,
    /// The result of plain addition, for infinities and NaN.
    plain: f64,
    /// Whether any value was infinite or NaN.
    special: bool,
}

/// The true value and its magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// The true value, rounded to f64.
    pub value: f64,
    /// The sum of the absolute values; 0 if one of them is infinite or NaN, because then the value
    /// is determined without any rounding.
    pub magnitude: f64,
}

/// The sum of `input` with about twice the precision of f64, in any order (Ogita, Rump, Oishi:
/// "Accurate Sum and Dot Product", 2005).
pub fn exact_sum<T: Widen<f64>>(input: &[T]) -> Exact {
    let mut sum = ExactSum::default();
    sum.next(input);
    sum.exact()
}

/// The [`exact_sum`] of elements that are passed part by part. The bits do not depend on the parts.
#[derive(Clone, Default)]
pub struct ExactSum(InChunks<FloatSum>);

impl ExactSum {
    /// Adds the next elements, on all cores.
    pub fn next<T: Widen<f64>>(&mut self, input: &[T]) {
        self.0.next(input);
    }

    /// The sum so far.
    #[must_use]
    pub fn exact(&self) -> Exact {
        self.0.all().exact()
    }
}

/// The prefix sums, computed sequentially on one core with the precision of [`exact_sum`].
#[derive(Clone, Copy, Default)]
pub struct RunningSum(FloatSum);

impl RunningSum {
    /// Adds the next element. Returns the sum including it.
    pub fn next<T: Widen<f64>>(&mut self, x: T) -> Exact {
        self.0 = self.0.take(x.widen());
        self.0.exact()
    }

    /// The sum of the elements since `before`, a copy of this one. Neither of the two is rounded to
    /// f64 first, so a large sum of earlier elements cancels. The magnitude is that of both.
    #[must_use]
    pub fn since(&self, before: &Self) -> Exact {
        let (all, before) = (self.0, before.0);
        let (high, error) = two_sum(all.high, -before.high);
        let sum = high + (all.low - before.low + error);
        Exact {
            value: if sum.is_finite() { sum } else { all.plain - before.plain },
            magnitude: all.exact().magnitude + before.exact().magnitude,
        }
    }
}

impl Folded for FloatSum {
    fn take(self, x: f64) -> Self {
        let (high, error) = two_sum(self.high, x);
        Self {
            high,
            low: self.low + error,
            magnitude: self.magnitude + x.abs(),
            plain: self.plain + x,
            special: self.special || !x.is_finite(),
        }
    }

    fn merge(self, other: Self) -> Self {
        let (high, error) = two_sum(self.high, other.high);
        Self {
            high,
            low: self.low + other.low + error,
            magnitude: self.magnitude + other.magnitude,
            plain: self.plain + other.plain,
            special: self.special || other.special,
        }
    }
}

impl FloatSum {
    fn exact(self) -> Exact {
        let sum = self.high + self.low;
        Exact {
            value: if sum.is_finite() { sum } else { self.plain },
            magnitude: if self.special { 0.0 } else { self.magnitude },
        }
    }
}

/// The rounded sum and its exact error (Knuth, TAOCP 2, 4.2.2).
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let virtual_b = sum - a;
    (sum, (a - (sum - virtual_b)) + (b - virtual_b))
}

/// The largest error of a sum of values whose magnitudes add up to `magnitude`, if no value goes
/// through more than `depth` additions, each rounded by at most `unit` (half the machine epsilon):
/// γ·Σ|x| with γ = depth·u / (1 − depth·u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., 4.2).
#[must_use]
pub fn sum_bound(magnitude: f64, depth: u64, unit: f64) -> f64 {
    let error = depth as f64 * unit;
    if error >= 1.0 { f64::INFINITY } else { error / (1.0 - error) * magnitude }
}

/// The largest error of a compensated sum in which no value goes through more than `depth`
/// additions: the bound of [`CompensatedSum`](gridsync_kernels::op::CompensatedSum).
#[must_use]
pub fn compensated_sum_bound(exact: &Exact, depth: u64, unit: f64) -> f64 {
    let squared = sum_bound(sum_bound(exact.magnitude, depth, unit), 2 * depth, unit);
    unit * exact.value.abs() + (1.0 + unit) * squared
}

/// The largest distance between the true sum, as computed by [`exact_sum`], and a compensated one:
/// [`compensated_sum_bound`], plus the error of `exact` itself, which is summed in the same way in
/// f64.
#[must_use]
pub fn compensated_bound(exact: &Exact, depth: u64, unit: f64) -> f64 {
    // As many additions as a chunk has elements, and some chunks.
    let chunks = 1 << 18;
    compensated_sum_bound(exact, depth, unit)
        + compensated_sum_bound(exact, CHUNK as u64 + chunks, f64::EPSILON / 2.0)
}

/// The true product of elements that are passed part by part. The bits do not depend on the parts.
#[derive(Clone, Default)]
pub struct ExactProduct(InChunks<Factors>);

impl ExactProduct {
    /// Adds the next elements, on all cores.
    pub fn next<T: Widen<f64>>(&mut self, input: &[T]) {
        self.0.next(input);
    }

    /// The product so far, and the largest error of a product computed in any order with `unit`
    /// roundoff, where partial products keep their precision between `least` and `greatest`.
    ///
    /// If the product of the factors above 1, or of those below, could leave that range, a partial
    /// product may overflow or underflow in one order and not in another: then nothing can be
    /// guaranteed, and the bound is infinite. Otherwise a zero makes the product an exact zero, an
    /// infinity makes it an infinity, and both together, or a NaN, make it NaN, in any order.
    #[must_use]
    pub fn bound(&self, unit: f64, least: f64, greatest: f64) -> (f64, f64) {
        self.0.all().bound(unit, least, greatest)
    }
}

/// The prefix products, computed sequentially on one core.
#[derive(Clone, Default)]
pub struct RunningProduct(Factors);

impl RunningProduct {
    /// Adds the next element. Returns the product including it, and its largest error, as in
    /// [`ExactProduct::bound`].
    pub fn next<T: Widen<f64>>(
        &mut self,
        x: T,
        unit: f64,
        least: f64,
        greatest: f64,
    ) -> (f64, f64) {
        self.0 = self.0.take(x.widen());
        self.0.bound(unit, least, greatest)
    }
}

/// A product, and the range of its partial products.
#[derive(Clone, Copy, Debug)]
struct Factors {
    product: f64,
    count: f64,
    /// The binary logarithm of the product of all factors above 1.
    up: f64,
    /// The same for all factors below 1.
    down: f64,
}

impl Default for Factors {
    fn default() -> Self {
        Self { product: 1.0, count: 0.0, up: 0.0, down: 0.0 }
    }
}

impl Folded for Factors {
    fn take(self, x: f64) -> Self {
        let log = x.abs().log2();
        // A factor that is zero, infinite or NaN determines the result regardless of its size.
        let log = if log.is_finite() { log } else { 0.0 };
        Self {
            product: self.product * x,
            count: self.count + 1.0,
            up: self.up + log.max(0.0),
            down: self.down + log.min(0.0),
        }
    }

    fn merge(self, other: Self) -> Self {
        Self {
            product: self.product * other.product,
            count: self.count + other.count,
            up: self.up + other.up,
            down: self.down + other.down,
        }
    }
}

impl Factors {
    fn bound(self, unit: f64, least: f64, greatest: f64) -> (f64, f64) {
        let error = self.count * unit;
        let in_range = self.up < greatest.log2() && self.down > least.log2() && error < 1.0;
        let bound = match in_range {
            true if self.product.is_finite() => error / (1.0 - error) * self.product.abs(),
            true => 0.0,
            false => f64::INFINITY,
        };
        (self.product, bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_exact_where_plain_addition_cancels() {
        let mut input = vec![1e100f64, 1.0, -1e100];
        input.extend(std::iter::repeat_n(1e-20, 200_000));
        let exact = exact_sum(&input);
        assert!((exact.value - (1.0 + 200_000.0 * 1e-20)).abs() < 1e-15);
        assert_eq!(exact.magnitude, 2e100);
    }

    #[test]
    fn infinities_and_nan_are_preserved() {
        assert_eq!(exact_sum(&[1.0f64, f64::INFINITY]).value, f64::INFINITY);
        assert!(exact_sum(&[f64::NEG_INFINITY, f64::INFINITY]).value.is_nan());
        assert!(exact_sum(&[f64::NAN, 1.0]).value.is_nan());
    }

    #[test]
    fn parts_of_any_length_are_bit_identical_to_the_whole() {
        let len = 3 * CHUNK + 77;
        let of = |i: usize| (i as f64 * 0.7).sin() * 10f64.powi((i % 40) as i32 - 20);
        let input: Vec<f64> = (0..len).map(of).collect();
        let near_one: Vec<f64> = input.iter().map(|x| 1.0 + x * 1e-26).collect();
        let mut product = ExactProduct::default();
        product.next(&near_one);
        let bound = |product: &ExactProduct| product.bound(1e-16, 1e-300, 1e300);
        let bits = |(a, b): (f64, f64)| (a.to_bits(), b.to_bits());
        let whole = (exact_sum(&input), bits(bound(&product)));
        for part in [1000, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 78, len] {
            let (mut sum, mut product) = (ExactSum::default(), ExactProduct::default());
            input.chunks(part).for_each(|part| sum.next(part));
            near_one.chunks(part).for_each(|part| product.next(part));
            assert_eq!((sum.exact(), bits(bound(&product))), whole, "parts of {part}");
        }
    }

    #[test]
    fn the_bound_of_a_sum_grows_with_its_depth() {
        let unit = f64::from(f32::EPSILON) / 2.0;
        assert!(sum_bound(1.0, 10, unit) < sum_bound(1.0, 20, unit));
        assert_eq!(sum_bound(1.0, 1 << 24, unit), f64::INFINITY);
        assert_eq!(sum_bound(0.0, 10, unit), 0.0);
    }

    #[test]
    fn a_product_that_may_overflow_has_no_bound() {
        let unit = f64::from(f32::EPSILON) / 2.0;
        let range = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        let bound = |input: &[f32]| {
            let mut product = ExactProduct::default();
            product.next(input);
            product.bound(unit, range.0, range.1)
        };
        assert_eq!(bound(&[1e30, 1e30, 1e-30, 1e-30]).1, f64::INFINITY);
        assert_eq!(bound(&[1.5, 0.0, -2.0]), (-0.0, 0.0));
        assert_eq!(bound(&[1.5, f32::INFINITY, -2.0]), (f64::NEG_INFINITY, 0.0));
        assert!(bound(&[0.0, f32::INFINITY]).0.is_nan());
        let (value, error) = bound(&[1.5, 2.0, 0.5]);
        assert_eq!(value, 1.5);
        assert!(error > 0.0 && error < 1e-6);
    }
}

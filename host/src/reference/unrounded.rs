//! Sums without rounding.

use super::accuracy::two_sum;

/// A sum of any f64 without rounding, stored as a few numbers that do not overlap (Shewchuk,
/// "Adaptive Precision Floating-Point Arithmetic", 1997, theorem 10).
///
/// ```
/// use gridsync::reference::Unrounded;
///
/// let sum: Unrounded = [1e300, 1.0, -1e300, 1e-300].into_iter().collect();
/// assert_eq!(sum.rounded(), 1.0);
/// assert_eq!(sum.distance(1.0), 1e-300);
/// ```
///
/// All sums must stay finite: beyond the range of f64 the result is unspecified.
// Among the crates, xsum 0.1.6 loses carries and rounds negative sums wrongly, and accurate 0.4.1
// writes out of bounds if a sum is 0.
#[derive(Clone, Debug, Default)]
pub struct Unrounded {
    /// In increasing order; their sum is the sum.
    parts: Vec<f64>,
}

impl Unrounded {
    /// Adds `value`.
    pub fn add(&mut self, value: f64) {
        let (mut carried, mut kept) = (value, 0);
        for at in 0..self.parts.len() {
            let (high, low) = two_sum(carried, self.parts[at]);
            if low != 0.0 {
                self.parts[kept] = low;
                kept += 1;
            }
            carried = high;
        }
        self.parts.truncate(kept);
        if carried != 0.0 {
            self.parts.push(carried);
        }
    }

    /// The sum, rounded once, to even if it is halfway.
    #[must_use]
    pub fn rounded(&self) -> f64 {
        let mut parts = self.parts.iter().rev().copied();
        let mut high = parts.next().unwrap_or_default();
        for part in parts.by_ref() {
            let (sum, low) = two_sum(high, part);
            high = sum;
            if low == 0.0 {
                continue;
            }
            // `low` was rounded away. If it is half of the last digit, the next part decides.
            let is_beyond_half = parts.next().is_some_and(|below| (below > 0.0) == (low > 0.0));
            let away = high + 2.0 * low;
            return if is_beyond_half && away - high == 2.0 * low { away } else { high };
        }
        high
    }

    /// The distance of `value` from the sum, rounded once.
    #[must_use]
    pub fn distance(&self, value: f64) -> f64 {
        let mut difference = self.clone();
        difference.add(-value);
        difference.rounded().abs()
    }
}

impl FromIterator<f64> for Unrounded {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2^-`places`.
    fn bit(places: i32) -> f64 {
        f64::from(-places).exp2()
    }

    fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
        values.into_iter().collect::<Unrounded>().rounded()
    }

    #[test]
    fn nothing_is_lost_between_largest_and_smallest_numbers() {
        assert_eq!(sum([1e300, 5e-324, 1.0, -1e300, -1.0]), 5e-324);
        assert_eq!(sum([]), 0.0);
        assert_eq!(sum([1.5, -1.5]), 0.0);
        assert_eq!(sum([f64::MAX, -f64::MAX, 2.0]), 2.0);
    }

    #[test]
    fn ties_round_to_even_and_lower_bits_break_them() {
        let (one, next, ulp) = (1.0, 1.0 + bit(52), bit(52));
        assert_eq!(sum([one, bit(53)]), one);
        assert_eq!(sum([one, bit(53), bit(1000)]), next);
        assert_eq!(sum([one, bit(53), -bit(1000)]), one);
        assert_eq!(sum([next, bit(53)]), next + ulp);
        assert_eq!(sum([next, bit(53), -bit(1000)]), next);
        assert_eq!(sum([-one, -bit(53), -bit(1000)]), -next);
    }

    #[test]
    fn a_distance_is_that_of_the_unrounded_sum() {
        let sum: Unrounded = (0..5000).map(|_| 1.0).chain([bit(60)]).collect();
        assert_eq!(sum.rounded(), 5000.0);
        assert_eq!(sum.distance(5000.0), bit(60));
        assert_eq!(sum.distance(4999.0), 1.0);
        assert_eq!(sum.distance(5000.0 + bit(40)), bit(40) - bit(60));
    }

    proptest! {
        #[test]
        fn whole_numbers_sum_like_integers(
            digits in prop::collection::vec((-(1i64 << 53)..=1 << 53, 0u32..53, 0u32..60), 0..60),
        ) {
            // Also the difference from the rounded sum, which cancels most.
            let whole = digits.iter().map(|&(x, short, up)| i128::from(x >> short) << up);
            let mut whole: Vec<i128> = whole.collect();
            for _ in 0..2 {
                let exact: i128 = whole.iter().sum();
                let rounded = sum(whole.iter().map(|&x| x as f64));
                prop_assert_eq!(rounded, exact as f64);
                whole.push(-(rounded as i128));
            }
        }
    }
}

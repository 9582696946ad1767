//! The mean: the sum divided by the number of elements.

use super::Operation;

/// The mean of the elements that `O` sums, or `None` for an empty array.
///
/// The sum is divided in f64. For integers this is the true mean, rounded once, if the sum does not
/// wrap around; [`WideSum`](super::WideSum) never does. Only reductions have a mean, not scans,
/// because it needs the number of elements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean<O>(O);

impl<O> Mean<O> {
    /// The mean of the elements that `sum` sums.
    #[must_use]
    pub const fn new(sum: O) -> Self {
        Self(sum)
    }

    /// The sum operation.
    #[cfg(not(target_arch = "nvptx64"))]
    #[must_use]
    pub fn sum(self) -> O {
        self.0
    }
}

impl<O: Operation<Output: Total>> Operation for Mean<O> {
    type Element = O::Element;
    type Accumulator = O::Accumulator;
    type Output = Option<f64>;
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    const EXACT: bool = O::EXACT;
    const NEEDS_LEN: bool = true;

    #[inline(always)]
    fn identity(self) -> O::Accumulator {
        self.0.identity()
    }

    #[inline(always)]
    fn lift(self, element: O::Element, index: u64) -> O::Accumulator {
        self.0.lift(element, index)
    }

    #[inline(always)]
    fn combine(self, a: O::Accumulator, b: O::Accumulator) -> O::Accumulator {
        self.0.combine(a, b)
    }

    #[inline(always)]
    fn take(self, all: O::Accumulator, element: O::Element, index: u64) -> O::Accumulator {
        self.0.take(all, element, index)
    }

    /// Always `None`: only [`finish_of`](Operation::finish_of) gets the number of elements.
    fn finish(self, _all: O::Accumulator) -> Option<f64> {
        None
    }

    fn finish_of(self, all: O::Accumulator, len: u64) -> Option<f64> {
        (len > 0).then(|| self.0.finish(all).divided_by(len))
    }
}

/// A sum that can be divided by the number of elements.
pub trait Total: Copy {
    /// The sum divided by `len`, which is not 0. An integer sum is rounded once, to the nearest
    /// f64. A floating-point sum is divided in f64.
    fn divided_by(self, len: u64) -> f64;
}

macro_rules! totals {
    ($($ty:ty: $divide:expr;)*) => {$(
        impl Total for $ty {
            fn divided_by(self, len: u64) -> f64 {
                let divide: fn($ty, u64) -> f64 = $divide;
                divide(self, len)
            }
        }
    )*};
}
totals! {
    f32: |sum, len| f64::from(sum) / len as f64;
    f64: |sum, len| sum / len as f64;
    i32: |sum, len| f64::from(sum) / len as f64;
    u32: |sum, len| f64::from(sum) / len as f64;
    i64: |sum, len| quotient(sum.into(), len);
    u64: |sum, len| quotient(sum.into(), len);
    i128: quotient;
}

/// `sum / len`, rounded once.
fn quotient(sum: i128, len: u64) -> f64 {
    if sum == 0 {
        return 0.0;
    }
    // At least 64 bits, more than an f64 holds. A remainder sets the last bit, which makes the
    // conversion round in the right direction.
    let magnitude = sum.unsigned_abs();
    let shift = magnitude.leading_zeros();
    let (whole, has_rest) = divided(magnitude << shift, len);
    // The highest 64 bits, of which the last one stands for those below.
    let unused = whole.leading_zeros();
    let whole = whole << unused;
    let bits = (whole >> 64) as u64 | u64::from(has_rest | (whole as u64 != 0));
    // A power of two, so the multiplication does not round.
    let scale = f64::from_bits(u64::from(1023 + 64 - shift - unused) << 52);
    let mean = bits as f64 * scale;
    if sum < 0 { -mean } else { mean }
}

/// `a / b`, and whether there is a remainder.
#[cfg(not(target_arch = "nvptx64"))]
fn divided(a: u128, b: u64) -> (u128, bool) {
    (a / u128::from(b), !a.is_multiple_of(u128::from(b)))
}

#[cfg(target_arch = "nvptx64")]
use divided_by_bits as divided;

/// `a / b`, and whether there is a remainder, bit by bit: a GPU has no division of 128 bits.
#[cfg(any(test, target_arch = "nvptx64"))]
fn divided_by_bits(a: u128, b: u64) -> (u128, bool) {
    let (mut quotient, mut rest) = (0, 0);
    for i in (0..u128::BITS).rev() {
        rest = rest << 1 | (a >> i & 1);
        let fits = rest >= u128::from(b);
        quotient = quotient << 1 | u128::from(fits);
        rest -= if fits { u128::from(b) } else { 0 };
    }
    (quotient, rest != 0)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_is_rounded_once_to_the_nearest() {
        let half_above = (1i128 << 54) + 2; // 2^54 + 2 is halfway between two f64.
        assert_eq!(quotient(half_above, 1), (1u64 << 54) as f64, "ties to even");
        assert_eq!(quotient(3 * half_above + 1, 3), ((1u64 << 54) + 4) as f64);
        assert_eq!(quotient(-(3 * half_above + 1), 3), -((1u64 << 54) as f64) - 4.0);
        assert_eq!(quotient(10, 4), 2.5);
        assert_eq!(quotient(-1, 3), -1.0 / 3.0);
        assert_eq!(quotient(0, 7), 0.0);
        assert_eq!(quotient(1, u64::MAX), 2f64.powi(-64));
        assert_eq!(quotient(i128::from(u64::MAX), 1), 2f64.powi(64));
        assert_eq!(quotient(i128::from(u64::MAX) << 40, 1 << 40), 2f64.powi(64));
    }

    #[test]
    fn a_quotient_is_the_nearest_f64() {
        // An f64 is the nearest to a/b if a/b is between the midpoints to its two neighbours.
        let mut state = 1u64;
        let mut drawn = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            state ^ state >> 33
        };
        for _ in 0..100_000 {
            // Small enough that the products below do not overflow.
            let (sum, len) = (i128::from(drawn() >> 4), (drawn() >> 44) + 1);
            let mean = quotient(sum, len);
            let (wide, by) = (sum.unsigned_abs() << 64, len);
            assert_eq!(divided_by_bits(wide, by), divided(wide, by), "{wide} / {by}");
            let twice = |x: f64, y: f64| {
                // Compares (x + y) / 2 with sum / len, scaled to make all of them integers.
                let scale = 2f64.powi(40);
                let halfway = ((x * scale) as i128 + (y * scale) as i128) * i128::from(len);
                halfway.cmp(&(2 * (sum << 40)))
            };
            assert!(twice(mean, mean.next_up()).is_ge(), "{sum} / {len}: {mean}");
            assert!(twice(mean, mean.next_down()).is_le(), "{sum} / {len}: {mean}");
        }
    }
}

//! Finite numbers with so many bits that a result is rounded only once.
//!
//! Sums, quotients and roots may have more bits than fit. Then the lowest bit that is kept is set if
//! any bit below it is (rounding to odd). It is far below the last bit of every format, so rounding
//! the number gives what rounding the exact result would give, in every direction.

use ptx::decode::Rounding;

use super::round::Format;

/// `whole` times two to the power of `exponent`. Zero has a sign too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    negative: bool,
    whole: u128,
    exponent: i32,
}

impl Exact {
    /// A finite float, with at most 53 bits.
    pub(crate) fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
        let whole = if exponent == 0 { mantissa } else { mantissa | 1 << 52 };
        let negative = value.is_sign_negative();
        Self { negative, whole: whole.into(), exponent: exponent.max(1) - 1075 }
    }

    /// The integer.
    pub(crate) fn of_integer(value: i128) -> Self {
        Self { negative: value < 0, whole: value.unsigned_abs(), exponent: 0 }
    }

    pub(crate) fn negated(self) -> Self {
        Self { negative: !self.negative, ..self }
    }

    /// The product of two floats, which has at most 106 bits.
    pub(crate) fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            whole: self.whole * other.whole,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum of two numbers of at most 106 bits. A zero of terms with different signs is negative
    /// only if the sum is rounded down (IEEE 754, 6.3).
    pub(crate) fn plus(self, other: Self, rounding: Rounding) -> Self {
        let zero = Self { negative: rounding == Rounding::Down, whole: 0, exponent: 0 };
        let (large, small) =
            if self.highest() >= other.highest() { (self, other) } else { (other, self) };
        if large.whole == 0 {
            return if large.negative == small.negative { large } else { zero };
        }
        // The highest bit of the larger one is bit 125, which leaves room for a carry. Bits of the
        // smaller one are lost only if it is so much smaller that the sum keeps 124 bits.
        let up = large.whole.leading_zeros() - 2;
        let (exponent, first) = (large.exponent - up as i32, large.whole << up);
        let second = match small.exponent.saturating_sub(exponent) {
            _ if small.whole == 0 => 0,
            up @ 0.. => small.whole << up,
            down => odd(small.whole, down.unsigned_abs()),
        };
        if large.negative == small.negative {
            return Self { negative: large.negative, whole: first + second, exponent };
        }
        let whole = first.abs_diff(second);
        if whole == 0 {
            return zero;
        }
        Self { negative: large.negative != (first < second), whole, exponent }
    }

    /// The quotient of two floats; the second is not 0.
    pub(crate) fn over(self, other: Self) -> Self {
        let up = self.whole.leading_zeros().min(127);
        let whole = self.whole << up;
        let (quotient, rest) = (whole / other.whole, whole % other.whole);
        Self {
            negative: self.negative != other.negative,
            whole: quotient | u128::from(rest != 0),
            exponent: self.exponent - up as i32 - other.exponent,
        }
    }

    /// The square root of a float that is not below 0.
    pub(crate) fn root(self) -> Self {
        let up = self.whole.leading_zeros().min(126);
        // The exponent has to be even.
        let up = up - ((self.exponent - up as i32) & 1) as u32;
        let whole = self.whole << up;
        let root = whole.isqrt();
        Self {
            negative: self.negative,
            whole: root | u128::from(root * root != whole),
            exponent: (self.exponent - up as i32) / 2,
        }
    }

    /// The bits of the nearest number of a format in a direction.
    pub(crate) fn round(self, format: Format, rounding: Rounding) -> u64 {
        format.round_product(self.negative, self.whole, self.exponent, rounding)
    }

    /// The exponent of the highest bit.
    fn highest(self) -> i32 {
        if self.whole == 0 {
            return i32::MIN;
        }
        self.exponent + self.whole.ilog2() as i32
    }
}

/// A number without its lowest bits, rounded to odd.
fn odd(whole: u128, bits: u32) -> u128 {
    if bits > 127 {
        return u128::from(whole != 0);
    }
    whole >> bits | u128::from(whole & ((1 << bits) - 1) != 0)
}

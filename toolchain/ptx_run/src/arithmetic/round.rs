//! Rounding to a format of floats, in any direction.

use ptx::Type;
use ptx::decode::Rounding;

use super::exact::Exact;

/// A format of IEEE 754.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the mantissa without the leading one.
    mantissa: u32,
    /// Bits of the exponent.
    exponent: u32,
}

impl Format {
    /// The format of a type of single floats.
    pub(crate) fn of(ty: Type) -> Option<Self> {
        Some(match ty {
            Type::F16 => Self { mantissa: 10, exponent: 5 },
            Type::Bf16 => Self { mantissa: 7, exponent: 8 },
            // In the upper bits of a register: see `convert`.
            Type::Tf32 => Self { mantissa: 10, exponent: 8 },
            Type::F32 => Self { mantissa: 23, exponent: 8 },
            Type::F64 => Self { mantissa: 52, exponent: 11 },
            _ => return None,
        })
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The bits of infinity.
    pub(crate) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    /// The bit of the sign.
    pub(crate) fn sign(self) -> u64 {
        1 << (self.mantissa + self.exponent)
    }

    /// The bits of the NaN that operations return. For f64 the payload is open.
    pub(crate) fn nan(self) -> u64 {
        if self.is_double() { f64::NAN.to_bits() } else { self.sign() - 1 }
    }

    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    /// Zero with the sign of a float, if that is subnormal.
    pub(crate) fn flushed(self, bits: u64) -> u64 {
        if bits & self.infinity() == 0 { bits & self.sign() } else { bits }
    }

    /// Whether it is that of f64.
    pub(crate) fn is_double(self) -> bool {
        self.mantissa == 52
    }

    /// Whether it is that of f32 or f64.
    pub(crate) fn is_wide(self) -> bool {
        self.mantissa >= 23
    }

    /// The bits of 1.
    pub(crate) fn one(self) -> u64 {
        (self.bias() as u64) << self.mantissa
    }

    fn signed(self, magnitude: u64, negative: bool) -> u64 {
        magnitude | u64::from(negative) << (self.mantissa + self.exponent)
    }

    /// The value of a float with these bits. Exact, except for the payload of NaN.
    pub(crate) fn value(self, bits: u64) -> f64 {
        if self.is_double() {
            return f64::from_bits(bits);
        }
        if self.exponent == 8 {
            // It is the upper part of an f32.
            return f32::from_bits((bits << (23 - self.mantissa)) as u32).into();
        }
        let mantissa = bits & ((1 << self.mantissa) - 1);
        let exponent = (bits & self.infinity()) >> self.mantissa;
        let negative = bits >> (self.mantissa + self.exponent) & 1 == 1;
        let magnitude = if bits & self.infinity() == self.infinity() {
            if mantissa == 0 { f64::INFINITY } else { f64::NAN }
        } else {
            let whole = if exponent == 0 { mantissa } else { mantissa | 1 << self.mantissa };
            let power = exponent.max(1) as i32 - self.bias() - self.mantissa as i32;
            // A few bits times a power of two in the range of f64: both are exact.
            whole as f64 * f64::from_bits(((1023 + power) as u64) << 52)
        };
        if negative { -magnitude } else { magnitude }
    }

    /// The bits of a float, rounded to this format.
    pub(crate) fn round(self, value: f64, rounding: Rounding) -> u64 {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            // All other formats have one NaN, without a sign.
            return if self.is_double() { value.to_bits() } else { self.nan() };
        }
        if value.is_infinite() {
            return self.signed(self.infinity(), negative);
        }
        if self.mantissa == 23 && rounding == Rounding::Nearest {
            return (value as f32).to_bits().into();
        }
        Exact::of(value).round(self, rounding)
    }

    /// The bits of `whole` times two to the power of `exponent`, rounded.
    pub(crate) fn round_product(
        self,
        negative: bool,
        whole: u128,
        exponent: i32,
        rounding: Rounding,
    ) -> u64 {
        if whole == 0 {
            return self.signed(0, negative);
        }
        let highest = 127 - whole.leading_zeros() as i32 + exponent;
        let power = highest.max(1 - self.bias());
        // The weight of the last bit of the result, against that of `whole`.
        let shift = power - self.mantissa as i32 - exponent;
        let (kept, rest, half) = match shift {
            ..=0 => (whole << -shift, 0, 1),
            1..=127 => (whole >> shift, whole & ((1 << shift) - 1), 1 << (shift - 1)),
            // Less than half of the smallest number.
            _ => (0, 1, 2),
        };
        let up = match rounding {
            Rounding::Zero => false,
            Rounding::Down => negative && rest != 0,
            Rounding::Up => !negative && rest != 0,
            Rounding::NearestAway => rest >= half,
            _ => rest > half || rest == half && kept & 1 == 1,
        };
        let kept = kept as u64 + u64::from(up);
        // A number without a leading one has the lowest exponent, and a carry raises the exponent.
        let biased = (power + self.bias()) as u64;
        let magnitude = (biased << self.mantissa) + kept - (1 << self.mantissa);
        if magnitude < self.infinity() {
            return self.signed(magnitude, negative);
        }
        let finite = match rounding {
            Rounding::Zero => true,
            Rounding::Down => !negative,
            Rounding::Up => negative,
            _ => false,
        };
        self.signed(self.infinity() - u64::from(finite), negative)
    }
}

//! Inputs that are the same on every machine, and hard to process correctly.

use cuda_std::{bf16, f16};

/// An element type of test inputs.
pub trait Sample: Copy + Send + Sync + 'static {
    /// The value made from 64 random bits.
    fn from_random(bits: u64) -> Self;

    /// A factor: a product of `len` factors neither vanishes nor overflows.
    fn factor(bits: u64, len: usize) -> Self;

    /// A word with few bits set: in `len` words, some bits are set once or twice.
    fn few_ones(bits: u64, len: usize) -> Self;

    /// The same with all bits inverted.
    fn few_zeros(bits: u64, len: usize) -> Self;
}

/// The kind of input that suits an operation: losing or repeating almost any element changes the
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Any values.
    Values,
    /// Factors, for products.
    Factors,
    /// Words with few bits set, for or.
    FewOnes,
    /// Words with few bits clear, for and.
    FewZeros,
}

/// Element `i` of the sequence `seed`: SplitMix64 as a counter-based generator (Steele, Lea, Flood:
/// "Fast Splittable Pseudorandom Number Generators", 2014).
#[must_use]
pub fn random(seed: u64, i: u64) -> u64 {
    let mut z =
        (seed ^ 0x5DEE_CE66).wrapping_add(i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `len` values of the sequence `seed`, for an operation that needs this input.
#[must_use]
pub fn sample<T: Sample>(input: Input, len: usize, seed: u64) -> Vec<T> {
    let bits = (0..len as u64).map(|i| random(seed, i));
    match input {
        Input::Values => bits.map(T::from_random).collect(),
        Input::Factors => bits.map(|bits| T::factor(bits, len)).collect(),
        Input::FewOnes => bits.map(|bits| T::few_ones(bits, len)).collect(),
        Input::FewZeros => bits.map(|bits| T::few_zeros(bits, len)).collect(),
    }
}

/// Whether this element is one of about `expected` of `len`, by random bits.
fn is_one_of(bits: u64, expected: u64, len: usize) -> bool {
    (bits >> 8) % (len as u64).max(1) < expected
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Sample for $ty {
            // Every 16th is zero, for counting.
            fn from_random(bits: u64) -> Self {
                if bits >> 60 == 0 { 0 } else { bits as Self }
            }

            // The factor is odd: a product of odd numbers keeps all its bits, modulo a power of
            // two.
            fn factor(bits: u64, _len: usize) -> Self {
                bits as Self | 1
            }

            fn few_ones(bits: u64, len: usize) -> Self {
                let ones = u64::from(<$ty>::BITS);
                if is_one_of(bits, ones, len) { 1 << (bits % ones) } else { 0 }
            }

            fn few_zeros(bits: u64, len: usize) -> Self {
                !Self::few_ones(bits, len)
            }
        }
    )*};
}
integers!(i8, u8, i16, u16, i32, u32, i64, u64);

/// A number of either sign whose magnitude ranges over four decimal orders, so that sums cancel and
/// round. Every 16th is zero, of either sign.
fn float(bits: u64) -> f64 {
    let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
    if bits >> 60 == 0 {
        return 0.0 * sign;
    }
    let mantissa = 1.0 + (bits >> 11 & 0xFFFF_FFFF) as f64 / 4_294_967_296.0;
    let exponent = (bits >> 44 & 15) as i32 - 7;
    sign * mantissa * f64::from(exponent).exp2()
}

/// A factor of either sign, nearly always 1 and otherwise 1 ± 2^-7, which all types can represent.
/// The others are so rare that the partial products of `len` factors stay within 2^±32 in any
/// order.
fn float_factor(bits: u64, len: usize) -> f64 {
    let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
    let step = if bits & 2 == 0 { 1.0 / 128.0 } else { -1.0 / 128.0 };
    // log2(1 − 2^-7) = −0.0113, so 2000 of them make 2^-23.
    if is_one_of(bits, 2000, len) { sign * (1.0 + step) } else { sign }
}

macro_rules! floats {
    ($($ty:ty: $from_f64:expr;)*) => {$(
        impl Sample for $ty {
            fn from_random(bits: u64) -> Self {
                let from_f64: fn(f64) -> Self = $from_f64;
                from_f64(float(bits))
            }

            fn factor(bits: u64, len: usize) -> Self {
                let from_f64: fn(f64) -> Self = $from_f64;
                from_f64(float_factor(bits, len))
            }

            // No bitwise operation accepts floats, so any values do.
            fn few_ones(bits: u64, _len: usize) -> Self {
                Self::from_random(bits)
            }

            fn few_zeros(bits: u64, _len: usize) -> Self {
                Self::from_random(bits)
            }
        }
    )*};
}
floats! {
    f32: |x| x as f32;
    f64: |x| x;
    f16: f16::from_f64;
    bf16: bf16::from_f64;
}

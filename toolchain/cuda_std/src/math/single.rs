//! Functions of `f32` that are implemented here with operations that are fast on GPUs: fused
//! multiply-adds, no `f64` on the usual path, no local memory, and branches only where nearly all
//! lanes agree. Only `tan` and `tanh` divide. The functions of `libm` need two to ten times as many
//! instructions, and its sine has a stack frame.
//!
//! Every operation is rounded exactly, on the host and on the device, so both give the same bits.
//! The polynomials are minimax approximations, found with the Remez algorithm in 40 digits and
//! rounded to `f32`. The table in [`math`](super) lists the error bounds.

use super::Float;
use core::f32::consts::{FRAC_2_PI, LN_2, LOG2_E};

/// ln 2 − `LN_2`.
const LN_2_REST: f32 = -1.904_654_2e-9;
/// log₂ e − `LOG2_E`.
const LOG2_E_REST: f32 = 1.925_963e-8;
/// π/2 in three parts.
const FRAC_PI_2: [f32; 3] = [1.570_796_4, -4.371_139e-8, -1.715_124_5e-15];

/// 1.5 · 2²³. Adding a number of up to 2²² rounds it to the nearest integer, which is then in the
/// low bits: one addition rounds and converts.
const TO_INTEGER: f32 = 12_582_912.0;

/// The nearest integer to `x` · `factor`, as a number and as an `i32`, for products of up to 2²².
#[inline(always)]
fn nearest(x: f32, factor: f32) -> (f32, i32) {
    let shifted = Float::mul_add(x, factor, TO_INTEGER);
    let integer = shifted.to_bits().wrapping_sub(TO_INTEGER.to_bits());
    (shifted - TO_INTEGER, integer.cast_signed())
}

/// The polynomial with these coefficients, highest power first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let sum = |sum, coefficient| Float::mul_add(sum, x, coefficient);
    coefficients.into_iter().fold(0.0, sum)
}

/// e^`r` · 2^`power`, for `r` up to ½ · ln 2 and powers from −252 to 254. The power of two is split
/// into two factors, because `f32` cannot represent 2^−150 and 2^128.
#[inline(always)]
fn exp_times_power(r: f32, power: i32) -> f32 {
    let p = polynomial(
        r,
        [1.381_387_8e-3, 8.369_063e-3, 4.166_842_3e-2, 1.666_651_8e-1, 4.999_999_4e-1],
    );
    let half = power >> 1;
    let power_of_two = |n: i32| f32::from_bits(((n + 127) << 23).cast_unsigned());
    (Float::mul_add(r * r, p, r) + 1.0) * power_of_two(half) * power_of_two(power - half)
}

/// `x`, clamped to the bounds. NaN stays NaN.
#[inline(always)]
fn within(x: f32, least: f32, greatest: f32) -> f32 {
    let x = if x < least { least } else { x };
    if x > greatest { greatest } else { x }
}

#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Beyond these bounds the result is 0 or infinite.
    let x = within(x, -105.0, 90.0);
    let (n, power) = nearest(x, LOG2_E);
    let r = Float::mul_add(n, -LN_2_REST, Float::mul_add(n, -LN_2, x));
    exp_times_power(r, power)
}

#[inline(always)]
pub(super) fn exp2(x: f32) -> f32 {
    let x = within(x, -151.0, 129.0);
    let (n, power) = nearest(x, 1.0);
    exp_times_power((x - n) * LN_2, power)
}

/// For a positive finite `x`, the `f` and `e` with `x` = (1 + f) · 2^e, and 1 + f from √½ to √2.
#[inline(always)]
fn fraction_and_exponent(x: f32) -> (f32, f32) {
    const SQRT_HALF: u32 = core::f32::consts::FRAC_1_SQRT_2.to_bits();
    let subnormal = x < f32::MIN_POSITIVE;
    let (x, shift) = if subnormal { (x * 8_388_608.0, -23) } else { (x, 0) };
    let above = x.to_bits().wrapping_sub(SQRT_HALF);
    let fraction = f32::from_bits((above & 0x007f_ffff) + SQRT_HALF) - 1.0;
    (fraction, ((above.cast_signed() >> 23) + shift) as f32)
}

/// `result` if `x` is positive and finite, else the logarithm of 0, of a negative number, of
/// infinity or of NaN.
#[inline(always)]
fn logarithm(x: f32, result: f32) -> f32 {
    if x > 0.0 && x < f32::INFINITY {
        result
    } else if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 {
        f32::NAN
    } else {
        x
    }
}

#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    let (f, e) = fraction_and_exponent(x);
    let p = polynomial(
        f,
        [
            -7.635_660_5e-2,
            1.276_332_9e-1,
            -1.316_058_2e-1,
            1.420_155_3e-1,
            -1.662_329_9e-1,
            2.000_123_4e-1,
            -2.500_082_3e-1,
            3.333_333e-1,
            -0.5,
        ],
    );
    let of_fraction = Float::mul_add(f * f, p, f);
    logarithm(x, Float::mul_add(e, LN_2, Float::mul_add(e, LN_2_REST, of_fraction)))
}

#[inline(always)]
pub(super) fn log2(x: f32) -> f32 {
    let (f, e) = fraction_and_exponent(x);
    let p = polynomial(
        f,
        [
            -1.096_641_9e-1,
            1.890_781_8e-1,
            -1.926_750_1e-1,
            2.042_184_8e-1,
            -2.393_643_9e-1,
            2.885_808_3e-1,
            -3.607_083e-1,
            4.808_981_4e-1,
            -7.213_472e-1,
        ],
    );
    let small = Float::mul_add(f * f, p, f * LOG2_E_REST);
    logarithm(x, e + Float::mul_add(f, LOG2_E, small))
}

/// `x` minus the nearest multiple of π/2, and which multiple that is, modulo 4.
#[inline(always)]
fn reduce(x: f32) -> (f32, i32) {
    if x.abs() < 131_072.0 {
        let (n, quadrant) = nearest(x, FRAC_2_PI);
        let r = FRAC_PI_2.into_iter().fold(x, |r, part| Float::mul_add(n, -part, r));
        (r, quadrant)
    } else {
        reduce_large(x)
    }
}

/// [`reduce`] for any number, with the algorithm of Payne and Hanek: only the bits below 4 of the
/// product of `x` and 2/π matter, so only some bits of 2/π do.
#[inline(never)]
fn reduce_large(x: f32) -> (f32, i32) {
    /// 2/π in words of 32 bits. The first bit is 2³¹.
    static FRAC_2_PI: [u32; 8] = [
        0,
        0xa2f9_836e,
        0x4e44_1529,
        0xfc27_57d1,
        0xf534_ddc0,
        0xdb62_9599,
        0x3c43_9041,
        0xfe51_63ab,
    ];
    if !x.is_finite() {
        return (f32::NAN, 0);
    }
    let exponent = (x.to_bits() >> 23) & 0xff;
    let mantissa = (x.to_bits() & 0x007f_ffff) | 0x0080_0000;
    // x is mantissa · 2^(exponent − 150). The first bit of 2/π that matters is the one that gives 2
    // in the product with that power. It is this far from 2³¹.
    let start = exponent - 120;
    let word = |i: u32| u128::from(FRAC_2_PI[(start / 32 + i) as usize]);
    let words = word(0) << 96 | word(1) << 64 | word(2) << 32 | word(3);
    let window = (words << (start % 32)) >> 32;
    // In units of 2^−62, modulo 4: the higher bits are dropped.
    let product = ((window * u128::from(mantissa)) >> 32) as u64;
    let quadrant = product.wrapping_add(1 << 61) >> 62;
    let rest = product.wrapping_sub(quadrant << 62).cast_signed();
    // In f64, to round only once: f32 would round the integer and the product.
    let unit = core::f64::consts::FRAC_PI_2 / (1u64 << 62) as f64;
    let r = (rest as f64 * unit) as f32;
    if x < 0.0 { (-r, -(quadrant as i32)) } else { (r, quadrant as i32) }
}

/// Sine and cosine of an `r` up to π/4.
#[inline(always)]
fn sin_cos_of_reduced(r: f32) -> (f32, f32) {
    let square = r * r;
    let p = polynomial(square, [3.291_807_6e-6, -1.989_767_3e-4, 8.333_483e-3, -1.666_666_7e-1]);
    let q = polynomial(square, [2.452_621_8e-5, -1.388_819_8e-3, 4.166_666_4e-2, -0.5, 1.0]);
    (Float::mul_add(r * square, p, r), q)
}

#[inline(always)]
pub(super) fn sin_cos(x: f32) -> (f32, f32) {
    let (r, quadrant) = reduce(x);
    let (sin, cos) = sin_cos_of_reduced(r);
    let (sin, cos) = if quadrant & 1 == 0 { (sin, cos) } else { (cos, -sin) };
    let (sin, cos) = if quadrant & 2 == 0 { (sin, cos) } else { (-sin, -cos) };
    // The sums above turn −0 into +0.
    (if x == 0.0 { x } else { sin }, cos)
}

#[inline(always)]
pub(super) fn sin(x: f32) -> f32 {
    sin_cos(x).0
}

#[inline(always)]
pub(super) fn cos(x: f32) -> f32 {
    sin_cos(x).1
}

#[inline(always)]
pub(super) fn tan(x: f32) -> f32 {
    let (sin, cos) = sin_cos(x);
    sin / cos
}

#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let result = if size < 0.6 {
        let square = x * x;
        let p = polynomial(
            square,
            [
                3.388_809_5e-3,
                -9.461_094e-3,
                2.217_765e-2,
                -5.402_231e-2,
                1.333_365e-1,
                -3.333_333_4e-1,
            ],
        );
        Float::mul_add(size * square, p, size)
    } else {
        1.0 - 2.0 / (exp(2.0 * size) + 1.0)
    };
    result.copysign(x)
}

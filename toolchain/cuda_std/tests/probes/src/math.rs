//! Numeric functions. Those of a single instruction have a claim. In the others, `accurate_…`, all
//! arithmetic is rounded exactly.

use crate::gives;
use cuda_std::math::{self, approx};

gives! {
    sqrt_f32(x: f32) -> f32 { math::sqrt(x) }
    sqrt_f64(x: f64) -> f64 { math::sqrt(x) }
    sqrt_as_a_method(x: f32) -> f32 { x.sqrt() }
    rsqrt_f32(x: f32) -> f32 { math::rsqrt(x) }
    rsqrt_f64(x: f64) -> f64 { math::rsqrt(x) }
    mul_add_f32(x: f32, a: f32, b: f32) -> f32 { math::mul_add(x, a, b) }
    mul_add_f64(x: f64, a: f64, b: f64) -> f64 { math::mul_add(x, a, b) }
    product_and_sum(x: f32, a: f32, b: f32) -> f32 { x * a + b }
    quotient_f32(x: f32, y: f32) -> f32 { x / y }
    quotient_f64(x: f64, y: f64) -> f64 { x / y }
    floor_f32(x: f32) -> f32 { x.floor() }
    floor_f64(x: f64) -> f64 { x.floor() }
    ceil_f32(x: f32) -> f32 { x.ceil() }
    ceil_f64(x: f64) -> f64 { x.ceil() }
    trunc_f32(x: f32) -> f32 { x.trunc() }
    trunc_f64(x: f64) -> f64 { x.trunc() }
    round_ties_even_f32(x: f32) -> f32 { x.round_ties_even() }
    round_ties_even_f64(x: f64) -> f64 { x.round_ties_even() }

    approx_sqrt(x: f32) -> f32 { approx::sqrt(x) }
    approx_rsqrt(x: f32) -> f32 { approx::rsqrt(x) }
    approx_recip(x: f32) -> f32 { approx::recip(x) }
    approx_div(x: f32, y: f32) -> f32 { approx::div(x, y) }
    approx_exp(x: f32) -> f32 { approx::exp(x) }
    approx_exp2(x: f32) -> f32 { approx::exp2(x) }
    approx_ln(x: f32) -> f32 { approx::ln(x) }
    approx_log2(x: f32) -> f32 { approx::log2(x) }
    approx_sin(x: f32) -> f32 { approx::sin(x) }
    approx_cos(x: f32) -> f32 { approx::cos(x) }
    approx_tanh(x: f32) -> f32 { approx::tanh(x) }
}

/// A probe per type, for a function of one number.
macro_rules! accurate {
    ($($of_f32:ident $of_f64:ident $function:ident;)*) => {
        gives! {$(
            $of_f32(x: f32) -> f32 { math::$function(x) }
            $of_f64(x: f64) -> f64 { math::$function(x) }
        )*}
    };
}
accurate! {
    accurate_exp_f32 accurate_exp_f64 exp;
    accurate_exp2_f32 accurate_exp2_f64 exp2;
    accurate_exp_m1_f32 accurate_exp_m1_f64 exp_m1;
    accurate_ln_f32 accurate_ln_f64 ln;
    accurate_log2_f32 accurate_log2_f64 log2;
    accurate_log10_f32 accurate_log10_f64 log10;
    accurate_ln_1p_f32 accurate_ln_1p_f64 ln_1p;
    accurate_sin_f32 accurate_sin_f64 sin;
    accurate_cos_f32 accurate_cos_f64 cos;
    accurate_tan_f32 accurate_tan_f64 tan;
    accurate_asin_f32 accurate_asin_f64 asin;
    accurate_acos_f32 accurate_acos_f64 acos;
    accurate_atan_f32 accurate_atan_f64 atan;
    accurate_sinh_f32 accurate_sinh_f64 sinh;
    accurate_cosh_f32 accurate_cosh_f64 cosh;
    accurate_tanh_f32 accurate_tanh_f64 tanh;
    accurate_asinh_f32 accurate_asinh_f64 asinh;
    accurate_acosh_f32 accurate_acosh_f64 acosh;
    accurate_atanh_f32 accurate_atanh_f64 atanh;
    accurate_cbrt_f32 accurate_cbrt_f64 cbrt;
}

gives! {
    accurate_round_f32(x: f32) -> f32 { x.round() }
    accurate_round_f64(x: f64) -> f64 { x.round() }
    accurate_fract_f32(x: f32) -> f32 { x.fract() }
    accurate_fract_f64(x: f64) -> f64 { x.fract() }
    accurate_powf_f32(x: f32, y: f32) -> f32 { math::powf(x, y) }
    accurate_powf_f64(x: f64, y: f64) -> f64 { math::powf(x, y) }
    accurate_atan2_f32(x: f32, y: f32) -> f32 { math::atan2(x, y) }
    accurate_atan2_f64(x: f64, y: f64) -> f64 { math::atan2(x, y) }
    accurate_hypot_f32(x: f32, y: f32) -> f32 { math::hypot(x, y) }
    accurate_hypot_f64(x: f64, y: f64) -> f64 { math::hypot(x, y) }
}

//! Approximations for `f32`: one or two instructions each, on the special function units.
//!
//! The bounds are from the PTX ISA, version 9.1, section 9.7.3, "Floating Point Instructions",
//! under the name of the instruction. Subnormal numbers are accepted and returned. The emulator and
//! the CPU return the result of the accurate function, which is within the same bounds. So the last
//! bits may differ from the device's, and so may anything that kernels compute from them. On an
//! H200 all were within their bounds, except `ex2.approx` and `cos.approx` by a hair (measured, see
//! bench/runs).

macro_rules! approximations {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*): $asm:literal, $host:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name($($arg: f32),*) -> f32 {
            #[cfg(target_arch = "nvptx64")]
            {
                let result: f32;
                // SAFETY: arithmetic on registers.
                unsafe {
                    core::arch::asm!($asm, out(reg32) result, $(in(reg32) $arg),*,
                                     options(pure, nomem, nostack, preserves_flags));
                }
                result
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                $host
            }
        }
    )*};
}

approximations! {
    /// The square root: `sqrt.approx`. Relative error at most 2⁻²³.
    sqrt(x): "sqrt.approx.f32 {}, {};", super::sqrt(x);
    /// 1 / √`x`: `rsqrt.approx`. Relative error at most 2^−22.9.
    rsqrt(x): "rsqrt.approx.f32 {}, {};", super::rsqrt(x);
    /// 1 / `x`: `rcp.approx`. At most 1 unit in the last place.
    recip(x): "rcp.approx.f32 {}, {};", x.recip();
    /// `a` / `b`: `div.full`. At most 2 units in the last place, for every `b`.
    div(a, b): "div.full.f32 {}, {}, {};", a / b;
    /// 2 to the power `x`: `ex2.approx`. At most 2 units in the last place.
    exp2(x): "ex2.approx.f32 {}, {};", super::exp2(x);
    /// The logarithm to base 2: `lg2.approx`. Absolute error at most 2⁻²² between ½ and 2, relative
    /// error at most 2⁻²² elsewhere.
    log2(x): "lg2.approx.f32 {}, {};", super::log2(x);
    /// The sine of `x` radians: `sin.approx`. Absolute error at most 2^−20.5 from −2π to 2π and
    /// 2^−14.7 from −100π to 100π, with no bound beyond.
    sin(x): "sin.approx.f32 {}, {};", super::sin(x);
    /// The cosine of `x` radians: `cos.approx`. Absolute error at most 2^−20.5 from −2π to 2π and
    /// 2^−14.7 from −100π to 100π, with no bound beyond.
    cos(x): "cos.approx.f32 {}, {};", super::cos(x);
    /// The hyperbolic tangent: `tanh.approx`. Relative error at most 2⁻¹¹.
    tanh(x): "tanh.approx.f32 {}, {};", super::tanh(x);
}

/// e to the power `x`: [`exp2`] of `x` · log₂ e. The product is rounded, so the relative error
/// grows with `x`: at most 2⁻²² + |`x`| · 2⁻²³.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    exp2(x * core::f32::consts::LOG2_E)
}

/// The natural logarithm: [`log2`] times ln 2. Absolute error at most 2⁻²² between ½ and 2,
/// relative error at most 2⁻²¹ elsewhere.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    log2(x) * core::f32::consts::LN_2
}

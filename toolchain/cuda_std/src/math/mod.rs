//! Functions of real numbers, for `f32` and `f64`, with stated accuracy.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// Replaces each number with the density of the normal distribution there.
//! #[kernel]
//! unsafe fn density(data: Global<f32>, deviation: f32) {
//!     let i = thread::index();
//!     if i < data.len() {
//!         let z = data.read(i) / deviation;
//!         data.write(i, math::exp(-0.5 * z * z) * math::rsqrt(core::f32::consts::TAU) / deviation);
//!     }
//! }
//! ```
//!
//! There are three kinds of functions:
//!
//! * **Exact**: the methods of [`Float`], such as [`sqrt`], [`mul_add`] and [`Float::floor`], and
//!   the operators `+ − · /`. The result is the number nearest to the true one. They can also be
//!   called as methods: `x.sqrt()`.
//! * **Accurate**: all other functions of this module. The table lists their maximum errors.
//! * **Approximate**: [`approx`], one or two instructions each, only for `f32`.
//!
//! Exact and accurate functions give the same bits on every GPU, in the emulator and on the CPU,
//! because they consist of operations that are rounded exactly. PTX has no instructions for the
//! accurate functions. The fast ones for `f32` are implemented here. The others come from the crate
//! `libm`, the same code that Rust uses for targets without a C library. NVIDIA's libdevice is not
//! needed. NaN is the exception: both sides return it for the same arguments, but a GPU has one NaN
//! and a CPU has many. An H200 gave the host's bits for [`sqrt`] and all accurate functions;
//! [`sin_cos`] was not tested (measured, see bench/runs).
//!
//! `core` has no `exp` or `sin`, and those of `std` differ in the last bits. So in `#[kernel]` and
//! `#[device]`, `x.exp()` on a number does not compile for either target, and the error names the
//! function to call. A function without either attribute is not checked. Neither is a call inside
//! another macro, such as `assert!`, or on a `&f32`. There `x.exp()` compiles on the host, and the
//! device build fails because `f32` has no such method. `x.sqrt()` works there too, on both, with
//! the [prelude](crate::prelude) or [`Float`] in scope.
//!
//! # Maximum errors
//!
//! In units in the last place of the true result, subnormal results included:
//!
//! | | `f32` | `f64` | | `f32` | `f64` |
//! |---|---|---|---|---|---|
//! | [`exp`] | 1.1 * | 0.9 | [`asin`] | 0.8 | 1.0 |
//! | [`exp2`] | 1.1 * | 0.6 | [`acos`] | 0.9 | 0.9 |
//! | [`exp_m1`] | 0.9 | 0.8 | [`atan`] | 0.9 | 0.8 |
//! | [`ln`] | 1.0 * | 0.7 | [`atan2`] | 1.6 | 1.6 |
//! | [`log2`] | 1.0 * | 0.7 | [`sinh`] | 1.9 | 1.6 |
//! | [`log10`] | 0.9 | 0.6 | [`cosh`] | 1.4 | 1.3 |
//! | [`ln_1p`] | 0.9 | 0.7 | [`tanh`] | 1.4 * | 1.9 |
//! | [`sin`], [`cos`], [`sin_cos`] | 1.5 * | 0.8 | [`asinh`] | 1.8 | 1.6 |
//! | [`tan`] | 3.5 * | 0.9 | [`acosh`] | 2.0 | 1.5 |
//! | [`powf`] | 0.9 | 0.9 | [`atanh`] | 1.7 | 1.7 |
//! | [`rsqrt`] | 1.5 | 1.5 | [`cbrt`] | 0.51 | 0.51 |
//! | [`hypot`] | 0.9 | 1.0 | | | |
//!
//! Functions marked * are implemented here, [`rsqrt`] is two exact operations, and the others are
//! `libm`'s. The bounds are the largest errors found, rounded up. Functions of `f32` were tested
//! with every 17th number and with 2.5 · 10⁸ pairs, against the standard library's function of
//! `f64`. Functions of `f64` were tested with 2 · 10⁵ random numbers or pairs each, against 256-bit
//! numbers. The tests in `tests/math` of this crate check them, and on request test all numbers of
//! `f32`.
//!
//! # Cost
//!
//! On sm_90, with ptxas 13, [`exp`] of an `f32` compiles to 21 instructions, [`ln`] to 36 and
//! [`sin`] to 94, without a stack frame. Functions of `libm` compile to 200 to 1900. Those for
//! `f64` that reduce an angle have a stack frame of 608 bytes, used only for angles of 2²⁰ · π/2
//! and more.

pub mod approx;
mod float;
mod single;
mod std_only;

pub use float::Float;
#[doc(hidden)]
pub use std_only::{__Anything, __Number};

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) $(-> $result:ty)?;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Float>($($arg: T),*) -> functions!(@result $($result)?) {
            functions!(@call $name $($arg)*)
        }
    )*};
    (@result) => { T };
    (@result $result:ty) => { $result };
    (@call $name:ident $first:ident $($rest:ident)*) => { $first.$name($($rest),*) };
}

functions! {
    /// The square root, rounded exactly: `sqrt.rn`. NaN for numbers below 0; −0 for −0.
    sqrt(x);
    /// `a` · `b` + `c`, rounded once: `fma.rn`.
    mul_add(a, b, c);
    /// 1 / √`x`, from two exact operations, `sqrt.rn` and `rcp.rn`. Infinite for 0, with its sign.
    rsqrt(x);
    /// e to the power `x`.
    exp(x);
    /// 2 to the power `x`.
    exp2(x);
    /// e to the power `x`, minus 1. Accurate near 0 too.
    exp_m1(x);
    /// The natural logarithm. As for all logarithms: NaN for numbers below 0, −∞ for 0.
    ln(x);
    /// The logarithm to base 2. Exact for powers of 2.
    log2(x);
    /// The logarithm to base 10.
    log10(x);
    /// The natural logarithm of 1 + `x`. Accurate near 0 too.
    ln_1p(x);
    /// The sine of `x` radians, for any number, however large. NaN for infinity.
    sin(x);
    /// The cosine of `x` radians, for any number, however large. NaN for infinity.
    cos(x);
    /// Sine and cosine, for little more than the cost of one.
    sin_cos(x) -> (T, T);
    /// The tangent of `x` radians, for any number, however large. NaN for infinity.
    tan(x);
    /// The angle in radians, from −π/2 to π/2, whose sine is `x`.
    asin(x);
    /// The angle in radians, from 0 to π, whose cosine is `x`.
    acos(x);
    /// The angle in radians, from −π/2 to π/2, whose tangent is `x`.
    atan(x);
    /// The angle in radians, from −π to π, from the direction of x to the point (`x`, `y`).
    atan2(y, x);
    /// The hyperbolic sine.
    sinh(x);
    /// The hyperbolic cosine.
    cosh(x);
    /// The hyperbolic tangent.
    tanh(x);
    /// The inverse of the hyperbolic sine.
    asinh(x);
    /// The inverse of the hyperbolic cosine. NaN for numbers below 1.
    acosh(x);
    /// The inverse of the hyperbolic tangent.
    atanh(x);
    /// The cube root.
    cbrt(x);
    /// `x` to the power `y`. Give an integer power as a floating-point number.
    powf(x, y);
    /// √(`x`² + `y`²), without overflow in between.
    hypot(x, y);
}

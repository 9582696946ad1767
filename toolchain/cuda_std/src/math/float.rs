//! The argument types of the functions in [`math`](super), and each function for each type.

use super::single;

/// A real number of a kernel: `f32` or `f64`.
///
/// Its methods are rounded exactly, to the nearest representable result, so a GPU, the emulator and
/// the CPU give the same bits. `std` has methods with the same names and meaning for `f32` and
/// `f64`, but `core`, and so the device, lacks them. With this trait in scope, as with the
/// [prelude](crate::prelude), `x.sqrt()` in a kernel compiles for both. On the host it calls the
/// method of `std`.
pub trait Float: Transcendental {
    /// The square root: `sqrt.rn`. NaN for numbers below 0; −0 for −0.
    fn sqrt(self) -> Self;

    /// `self · a + b`, rounded once: `fma.rn`.
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// The largest integer not above the number: `cvt.rmi`.
    fn floor(self) -> Self;

    /// The smallest integer not below the number: `cvt.rpi`.
    fn ceil(self) -> Self;

    /// The integer part: `cvt.rzi`.
    fn trunc(self) -> Self;

    /// The nearest integer; ties go to the even one: `cvt.rni`.
    fn round_ties_even(self) -> Self;

    /// The nearest integer; ties go away from 0. PTX has no instruction for it, so it needs about
    /// six. [`round_ties_even`](Self::round_ties_even) is faster.
    fn round(self) -> Self;

    /// The fractional part, with the sign of the number: `self − self.trunc()`.
    fn fract(self) -> Self;
}

/// The functions that are not rounded exactly. Not for direct use: on the host `std` has methods
/// with the same names that differ in the last bits.
#[doc(hidden)]
pub trait Transcendental: Copy + 'static {
    fn rsqrt(self) -> Self;
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn sin_cos(self) -> (Self, Self);
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
    fn cbrt(self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn atan2(self, x: Self) -> Self;
    fn hypot(self, y: Self) -> Self;
}

macro_rules! exact {
    ($ty:ident: $($name:ident($($arg:ident),*))*) => {
        impl Float for $ty {$(
            #[inline(always)]
            fn $name(self $(, $arg: Self)*) -> Self {
                #[cfg(target_arch = "nvptx64")]
                {
                    core::$ty::math::$name(self $(, $arg)*)
                }
                // The method of `std`, which takes precedence over a trait's.
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    <$ty>::$name(self $(, $arg)*)
                }
            }
        )*}
    };
}
exact!(f32: sqrt() mul_add(a, b) floor() ceil() trunc() round_ties_even() round() fract());
exact!(f64: sqrt() mul_add(a, b) floor() ceil() trunc() round_ties_even() round() fract());

#[inline(always)]
fn rsqrt<T: Float + core::ops::Div<Output = T> + From<u8>>(x: T) -> T {
    T::from(1) / Float::sqrt(x)
}

/// NaN below −1, where `libm` returns a number for some arguments.
#[inline(always)]
fn acosh_f32(x: f32) -> f32 {
    if x < 1.0 { f32::NAN } else { libm::acoshf(x) }
}

/// NaN below −1, where `libm` returns a number for some arguments.
#[inline(always)]
fn acosh_f64(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

macro_rules! transcendental {
    ($ty:ident: $($name:ident($($arg:ident),*) $(-> $result:ty)? = $function:path;)*) => {
        impl Transcendental for $ty {$(
            #[inline(always)]
            fn $name(self $(, $arg: Self)*) -> transcendental!(@result $($result)?) {
                $function(self $(, $arg)*)
            }
        )*}
    };
    (@result) => { Self };
    (@result $result:ty) => { $result };
}
transcendental! { f32:
    rsqrt() = rsqrt;
    exp() = single::exp;
    exp2() = single::exp2;
    exp_m1() = libm::expm1f;
    ln() = single::ln;
    log2() = single::log2;
    log10() = libm::log10f;
    ln_1p() = libm::log1pf;
    sin() = single::sin;
    cos() = single::cos;
    sin_cos() -> (Self, Self) = single::sin_cos;
    tan() = single::tan;
    asin() = libm::asinf;
    acos() = libm::acosf;
    atan() = libm::atanf;
    sinh() = libm::sinhf;
    cosh() = libm::coshf;
    tanh() = single::tanh;
    asinh() = libm::asinhf;
    acosh() = acosh_f32;
    atanh() = libm::atanhf;
    cbrt() = libm::cbrtf;
    powf(exponent) = libm::powf;
    atan2(x) = libm::atan2f;
    hypot(y) = libm::hypotf;
}
transcendental! { f64:
    rsqrt() = rsqrt;
    exp() = libm::exp;
    exp2() = libm::exp2;
    exp_m1() = libm::expm1;
    ln() = libm::log;
    log2() = libm::log2;
    log10() = libm::log10;
    ln_1p() = libm::log1p;
    sin() = libm::sin;
    cos() = libm::cos;
    sin_cos() -> (Self, Self) = libm::sincos;
    tan() = libm::tan;
    asin() = libm::asin;
    acos() = libm::acos;
    atan() = libm::atan;
    sinh() = libm::sinh;
    cosh() = libm::cosh;
    tanh() = libm::tanh;
    asinh() = libm::asinh;
    acosh() = acosh_f64;
    atanh() = libm::atanh;
    cbrt() = libm::cbrt;
    powf(exponent) = libm::pow;
    atan2(x) = libm::atan2;
    hypot(y) = libm::hypot;
}

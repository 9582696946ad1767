//! Arithmetic of `f32` and `f64`, rounded to the nearest, by that of the machine.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Rounding};

use super::Compute;

/// The NaN that operations on `f32` return (PTX ISA, "Floating Point Instructions").
const NAN: u32 = 0x7fff_ffff;

/// A closure for `f32` and one for `f64`, as functions of registers.
macro_rules! floats {
    ($ty:expr, $arity:ident, |$($name:ident),*| $body:expr) => {
        match $ty {
            Type::F32 => Some(Compute::$arity(|$($name),*| {
                $(let $name = f32::from_bits($name as u32);)*
                let result: f32 = $body;
                u64::from(if result.is_nan() { NAN } else { result.to_bits() })
            })),
            Type::F64 => Some(Compute::$arity(|$($name),*| {
                $(let $name = f64::from_bits($name);)*
                let result: f64 = $body;
                result.to_bits()
            })),
            _ => None,
        }
    };
}

/// The computation, if it is one of floats that is supported.
pub(crate) fn compute(it: &Arithmetic) -> Option<Compute> {
    let ty = it.ty;
    let nearest = matches!(it.rounding, None | Some(Rounding::Nearest));
    let modified = it.saturate || it.relu || it.absolute || it.xor_sign;
    let is_extreme = matches!(it.function, Function::Min | Function::Max);
    let is_sign = matches!(it.function, Function::Neg | Function::Abs);
    let misplaced = it.nan && !is_extreme || it.rounding.is_some() && (is_extreme || is_sign);
    if !nearest || modified || misplaced {
        return None;
    }
    if it.flush {
        return flushed(it);
    }
    match it.function {
        Function::Add => floats!(ty, Two, |a, b| a + b),
        Function::Sub => floats!(ty, Two, |a, b| a - b),
        Function::Mul => floats!(ty, Two, |a, b| a * b),
        Function::Fma | Function::Mad => floats!(ty, Three, |a, b, c| a.mul_add(b, c)),
        // Without rounding they would be approximations.
        Function::Div if it.rounding.is_some() => floats!(ty, Two, |a, b| a / b),
        Function::Reciprocal if it.rounding.is_some() => floats!(ty, One, |a| 1.0 / a),
        Function::SquareRoot if it.rounding.is_some() => floats!(ty, One, |a| a.sqrt()),
        Function::Min if it.nan => floats!(ty, Two, |a, b| strict(a, b, a.min_number(b))),
        Function::Max if it.nan => floats!(ty, Two, |a, b| strict(a, b, a.max_number(b))),
        Function::Min => floats!(ty, Two, |a, b| a.min_number(b)),
        Function::Max => floats!(ty, Two, |a, b| a.max_number(b)),
        Function::Neg => sign(ty, |a| a ^ 1 << 31, |a| a ^ 1 << 63),
        Function::Abs => sign(ty, |a| a & !(1 << 31), |a| a & !(1 << 63)),
        _ => None,
    }
}

/// The most frequent computations of `f32` with `.ftz`.
fn flushed(it: &Arithmetic) -> Option<Compute> {
    fn flush(bits: u32) -> u32 {
        if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
    }
    fn of(bits: u64) -> f32 {
        f32::from_bits(flush(bits as u32))
    }
    fn result(value: f32) -> u64 {
        u64::from(if value.is_nan() { NAN } else { flush(value.to_bits()) })
    }
    Some(match (it.function, it.ty) {
        (Function::Add, Type::F32) => Compute::Two(|a, b| result(of(a) + of(b))),
        (Function::Sub, Type::F32) => Compute::Two(|a, b| result(of(a) - of(b))),
        (Function::Mul, Type::F32) => Compute::Two(|a, b| result(of(a) * of(b))),
        (Function::Fma, Type::F32) if it.rounding.is_some() => {
            Compute::Three(|a, b, c| result(of(a).mul_add(of(b), of(c))))
        }
        _ => return None,
    })
}

fn sign(ty: Type, single: super::Unary, double: super::Unary) -> Option<Compute> {
    match ty {
        Type::F32 => Some(Compute::One(single)),
        Type::F64 => Some(Compute::One(double)),
        _ => None,
    }
}

/// The smaller or larger of two floats. A number wins over NaN, and -0 is smaller than 0.
trait Extremes: Sized {
    fn min_number(self, other: Self) -> Self;
    fn max_number(self, other: Self) -> Self;
}

macro_rules! extremes {
    ($($float:ty),*) => {$(
        impl Extremes for $float {
            fn min_number(self, other: Self) -> Self {
                match (self.is_nan(), other.is_nan()) {
                    (true, _) => other,
                    (_, true) => self,
                    _ => if self.total_cmp(&other).is_le() { self } else { other },
                }
            }

            fn max_number(self, other: Self) -> Self {
                match (self.is_nan(), other.is_nan()) {
                    (true, _) => other,
                    (_, true) => self,
                    _ => if self.total_cmp(&other).is_ge() { self } else { other },
                }
            }
        }
    )*};
}
extremes!(f32, f64);

/// `.NaN`: NaN if one of both is.
fn strict<F: PartialEq + Copy>(a: F, b: F, result: F) -> F {
    // Only NaN differs from itself.
    #[expect(clippy::eq_op, reason = "it is how a generic float is tested for NaN")]
    if a != a {
        a
    } else if b != b {
        b
    } else {
        result
    }
}

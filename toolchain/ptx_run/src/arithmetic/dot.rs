//! Scalar products of parts of registers, and products of 24 bits.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Variant};

use super::{Compute, Ternary, extended, lane, low_bits};

/// `dp4a`, `dp2a`, `mul24` or `mad24`, if the computation is one of them.
pub(crate) fn compute(it: &Arithmetic) -> Option<Compute> {
    let high = match it.variant {
        Some(Variant::High) => true,
        Some(Variant::Low) => false,
        _ => return (it.function == Function::Dot4).then(|| four(it))?.map(Compute::Three),
    };
    match it.function {
        Function::Dot2 => two(it, high).map(Compute::Three),
        Function::Mul24 if it.second.is_none() && !it.saturate => product(it.ty, high),
        Function::Mad24 if it.second.is_none() => sum(it, high).map(Compute::Three),
        _ => None,
    }
}

/// A part of a register as a number.
fn part(value: u64, index: u32, width: u32, signed: bool) -> i64 {
    let bits = lane(value, index, width);
    if signed { extended(bits, width) } else { bits.cast_signed() }
}

/// The sum of `c` and the products of the parts of `a` with the bytes of `b` from `first`. It wraps.
fn dot<const A: bool, const B: bool>(a: u64, b: u64, c: u64, width: u32, first: u32) -> u64 {
    let products = (0..32 / width)
        .map(|index| part(a, index, width, A) * part(b, first + index, 8, B))
        .sum::<i64>();
    low_bits(c.wrapping_add(products.cast_unsigned()), 32)
}

/// Chooses a function by the signs of both types.
macro_rules! signs {
    ($it:expr, $width:expr, $first:expr) => {
        match ($it.ty, $it.second) {
            (Type::U32, Some(Type::U32)) => {
                Some((|a, b, c| dot::<false, false>(a, b, c, $width, $first)) as Ternary)
            }
            (Type::U32, Some(Type::S32)) => {
                Some(|a, b, c| dot::<false, true>(a, b, c, $width, $first))
            }
            (Type::S32, Some(Type::U32)) => {
                Some(|a, b, c| dot::<true, false>(a, b, c, $width, $first))
            }
            (Type::S32, Some(Type::S32)) => {
                Some(|a, b, c| dot::<true, true>(a, b, c, $width, $first))
            }
            _ => None,
        }
    };
}

fn four(it: &Arithmetic) -> Option<Ternary> {
    if it.variant.is_none() { signs!(it, 8, 0) } else { None }
}

fn two(it: &Arithmetic, high: bool) -> Option<Ternary> {
    if high { signs!(it, 16, 2) } else { signs!(it, 16, 0) }
}

/// 32 bits of the product of the lowest 24 bits of both: the upper or lower ones of 48.
fn of_24(a: u64, b: u64, signed: bool, high: bool) -> i64 {
    let product = part(a, 0, 24, signed) * part(b, 0, 24, signed);
    let bits = low_bits((product >> if high { 16 } else { 0 }).cast_unsigned(), 32);
    if signed { extended(bits, 32) } else { bits.cast_signed() }
}

fn product(ty: Type, high: bool) -> Option<Compute> {
    Some(Compute::Two(match (ty, high) {
        (Type::U32, false) => |a, b| low_bits(of_24(a, b, false, false).cast_unsigned(), 32),
        (Type::U32, true) => |a, b| low_bits(of_24(a, b, false, true).cast_unsigned(), 32),
        (Type::S32, false) => |a, b| low_bits(of_24(a, b, true, false).cast_unsigned(), 32),
        (Type::S32, true) => |a, b| low_bits(of_24(a, b, true, true).cast_unsigned(), 32),
        _ => return None,
    }))
}

fn sum(it: &Arithmetic, high: bool) -> Option<Ternary> {
    fn wrapping(product: i64, c: u64) -> u64 {
        low_bits(c.wrapping_add(product.cast_unsigned()), 32)
    }
    Some(match (it.ty, high, it.saturate) {
        (Type::U32, false, false) => |a, b, c| wrapping(of_24(a, b, false, false), c),
        (Type::U32, true, false) => |a, b, c| wrapping(of_24(a, b, false, true), c),
        (Type::S32, false, false) => |a, b, c| wrapping(of_24(a, b, true, false), c),
        (Type::S32, true, false) => |a, b, c| wrapping(of_24(a, b, true, true), c),
        (Type::S32, true, true) => |a, b, c| {
            let sum = of_24(a, b, true, true) + extended(c, 32);
            let bounded = sum.clamp(i32::MIN.into(), i32::MAX.into());
            low_bits(bounded.cast_unsigned(), 32)
        },
        _ => return None,
    })
}

//! Arithmetic of integers.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Variant};

use super::{Binary, Compute, Ternary, Unary, extended, integers, low_bits};

/// The computation, if it is one of integers that is supported.
pub(crate) fn compute(it: &Arithmetic) -> Option<Compute> {
    use Compute::{One, Three, Two};
    let ty = it.ty;
    match it.function {
        Function::Add => integers!(ty, Binary, |a, b; _w| a.wrapping_add(b)).map(Two),
        Function::Sub => integers!(ty, Binary, |a, b; _w| a.wrapping_sub(b)).map(Two),
        Function::Min => integers!(ty, Binary, |a, b; _w| a.min(b)).map(Two),
        Function::Max => integers!(ty, Binary, |a, b; _w| a.max(b)).map(Two),
        // Division by zero has no defined result.
        Function::Div => integers!(ty, Binary, |a, b; _w| {
            if b == 0 { !0 } else { a.wrapping_div(b) }
        })
        .map(Two),
        Function::Rem => integers!(ty, Binary, |a, b; _w| {
            if b == 0 { !0 } else { a.wrapping_rem(b) }
        })
        .map(Two),
        Function::Neg if ty.is_signed() => {
            integers!(ty, Unary, |a; _w| a.wrapping_mul(!0)).map(One)
        }
        Function::Abs => absolute(ty).map(One),
        Function::Sad => integers!(ty, Ternary, |a, b, c; _w| {
            a.max(b).wrapping_sub(a.min(b)).wrapping_add(c)
        })
        .map(Three),
        Function::Mul => product(ty, it.variant?),
        Function::Mad => product_and_sum(ty, it.variant?).map(Three),
        _ => None,
    }
}

/// Computations whose results are bounded to their type.
pub(super) fn saturating(it: &Arithmetic) -> Option<Compute> {
    match (it.function, it.ty) {
        (Function::Add, Type::S32) => {
            Some(Compute::Two(|a, b| u64::from((a as i32).saturating_add(b as i32) as u32)))
        }
        (Function::Sub, Type::S32) => {
            Some(Compute::Two(|a, b| u64::from((a as i32).saturating_sub(b as i32) as u32)))
        }
        _ => None,
    }
}

fn absolute(ty: Type) -> Option<Unary> {
    Some(match ty {
        Type::S16 => |a| u64::from((a as i16).wrapping_abs() as u16),
        Type::S32 => |a| u64::from((a as i32).wrapping_abs() as u32),
        Type::S64 => |a| (a as i64).wrapping_abs() as u64,
        _ => return None,
    })
}

/// `mul`: the lower or upper half of a product, or all of it.
fn product(ty: Type, variant: Variant) -> Option<Compute> {
    let function: Option<Binary> = match variant {
        Variant::Low => integers!(ty, Binary, |a, b; _w| a.wrapping_mul(b)),
        Variant::High => integers!(ty, Binary, |a, b; width| {
            (i128::from(a).wrapping_mul(i128::from(b)) >> width) as _
        }),
        Variant::Wide => wide(ty),
        _ => None,
    };
    function.map(Compute::Two)
}

fn wide(ty: Type) -> Option<Binary> {
    Some(match ty {
        Type::U16 => |a, b| u64::from(a as u16) * u64::from(b as u16),
        Type::S16 => |a, b| low_bits((extended(a, 16) * extended(b, 16)).cast_unsigned(), 32),
        Type::U32 => |a, b| u64::from(a as u32) * u64::from(b as u32),
        Type::S32 => |a, b| (extended(a, 32) * extended(b, 32)).cast_unsigned(),
        _ => return None,
    })
}

/// `mad`: the same, plus a number as wide as the result.
fn product_and_sum(ty: Type, variant: Variant) -> Option<Ternary> {
    match variant {
        Variant::Low => integers!(ty, Ternary, |a, b, c; _w| a.wrapping_mul(b).wrapping_add(c)),
        Variant::High => integers!(ty, Ternary, |a, b, c; width| {
            c.wrapping_add((i128::from(a).wrapping_mul(i128::from(b)) >> width) as _)
        }),
        Variant::Wide => Some(match ty {
            Type::U16 => {
                |a, b, c| low_bits((u64::from(a as u16) * u64::from(b as u16)).wrapping_add(c), 32)
            }
            Type::S16 => |a, b, c| {
                let product = extended(a, 16) * extended(b, 16);
                low_bits(product.cast_unsigned().wrapping_add(c), 32)
            },
            Type::U32 => |a, b, c| (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c),
            Type::S32 => {
                |a, b, c| (extended(a, 32) * extended(b, 32)).cast_unsigned().wrapping_add(c)
            }
            _ => return None,
        }),
        _ => None,
    }
}

//! The functions of atomics.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Update};

use super::{Binary, Compute, bits, float, integer};

/// The new value of an atomic from the old one and the operand. `None` for an unsupported one, and
/// for a comparison, which has two operands.
pub(crate) fn update(update: Update, ty: Type) -> Option<Binary> {
    let function = match update {
        Update::Add => Function::Add,
        Update::Min => Function::Min,
        Update::Max => Function::Max,
        Update::And => Function::And,
        Update::Or => Function::Or,
        Update::Xor => Function::Xor,
        Update::Exchange => return Some(|_, new| new),
        Update::Increment => return Some(|old, limit| if old >= limit { 0 } else { old + 1 }),
        Update::Decrement => {
            return Some(|old, limit| if old == 0 || old > limit { limit } else { old - 1 });
        }
        Update::CompareAndSwap => return None,
    };
    of(function, ty)
}

/// A function of two values, such as `redux` and atomics have.
pub(crate) fn of(function: Function, ty: Type) -> Option<Binary> {
    let plain = Arithmetic {
        function,
        ty,
        second: None,
        rounding: None,
        variant: None,
        flush: false,
        saturate: false,
        relu: false,
        nan: false,
        absolute: false,
        xor_sign: false,
        sets_carry: false,
    };
    match compute(&plain)? {
        Compute::Two(function) => Some(function),
        _ => None,
    }
}

/// A computation of any type, if it is supported with all its modifiers.
pub(crate) fn compute(it: &Arithmetic) -> Option<Compute> {
    let is_integer = !it.ty.is_float();
    let of_floats = it.flush || it.relu || it.nan || it.absolute || it.xor_sign;
    if is_integer && (of_floats || it.rounding.is_some()) || !takes_variant(it) {
        return None;
    }
    if it.saturate {
        return integer::saturating(it);
    }
    float::compute(it).or_else(|| integer::compute(it)).or_else(|| bits::compute(it))
}

/// Whether a computation has no variant, or its function chooses one.
fn takes_variant(it: &Arithmetic) -> bool {
    use Function::{FunnelShift, Mad, Mul, Permute};
    it.variant.is_none() || matches!(it.function, FunnelShift | Mad | Mul | Permute)
}

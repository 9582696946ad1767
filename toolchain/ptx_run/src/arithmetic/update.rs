//! The functions of atomics.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Update};

use super::general::General;
use super::{Compute, Join, bits, choose, dot, float, integer};

/// The new value of an atomic from the old one and the operand. `None` for an unsupported one, and
/// for a comparison, which has two operands.
pub(crate) fn update(update: Update, ty: Type) -> Option<Join> {
    let function = match update {
        Update::Add => Function::Add,
        Update::Min => Function::Min,
        Update::Max => Function::Max,
        Update::And => Function::And,
        Update::Or => Function::Or,
        Update::Xor => Function::Xor,
        Update::Exchange => return Some(Join::Plain(|_, new| new)),
        Update::Increment if ty == Type::U32 => {
            return Some(Join::Plain(|old, limit| if old >= limit { 0 } else { old + 1 }));
        }
        Update::Decrement if ty == Type::U32 => {
            return Some(Join::Plain(
                |old, limit| {
                    if old == 0 || old > limit { limit } else { old - 1 }
                },
            ));
        }
        Update::Increment | Update::Decrement | Update::CompareAndSwap => return None,
    };
    join(&plain(function, ty))
}

/// A computation without modifiers.
fn plain(function: Function, ty: Type) -> Arithmetic {
    Arithmetic {
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
    }
}

/// A computation of two values, such as `redux` and atomics have, if it is supported.
pub(crate) fn join(it: &Arithmetic) -> Option<Join> {
    match compute(it) {
        Some(Compute::Two(function) | Compute::Masking(function)) => Some(Join::Plain(function)),
        _ => General::of(it, 2).map(Join::Float),
    }
}

/// A computation as a plain function, if there is one for it with all its modifiers.
pub(crate) fn compute(it: &Arithmetic) -> Option<Compute> {
    let plain = !has_modifiers_of_floats(it);
    if plain
        && !it.saturate
        && !it.sets_carry
        && let Some(choice) = choose::compute(it)
    {
        return Some(choice);
    }
    if !it.ty.is_float() && (!plain || it.flush) {
        return None;
    }
    if !it.sets_carry
        && let Some(product) = dot::compute(it)
    {
        return Some(product);
    }
    if !takes_variant(it) || it.second.is_some() || it.sets_carry {
        return None;
    }
    if it.saturate {
        return integer::saturating(it);
    }
    float::compute(it).or_else(|| integer::compute(it)).or_else(|| bits::compute(it))
}

/// Whether a computation has a modifier that only floats have.
pub(crate) fn is_of_floats(it: &Arithmetic) -> bool {
    it.flush || has_modifiers_of_floats(it)
}

/// The same, without `.ftz`.
fn has_modifiers_of_floats(it: &Arithmetic) -> bool {
    it.relu || it.nan || it.absolute || it.xor_sign || it.rounding.is_some()
}

/// Whether a computation has no variant, or its function chooses one.
fn takes_variant(it: &Arithmetic) -> bool {
    use Function::{FunnelShift, Mad, Mul, Permute};
    it.variant.is_none() || matches!(it.function, FunnelShift | Mad | Mul | Permute)
}

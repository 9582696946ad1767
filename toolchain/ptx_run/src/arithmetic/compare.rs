//! Comparisons.

use ptx::Type;
use ptx::decode::{Comparison, Function, Relation};

use super::low_bits;
use super::round::Format;

/// A comparison of two registers.
pub(crate) type Compare = fn(u64, u64) -> bool;

macro_rules! by_relation {
    ($relation:expr, $convert:expr) => {
        by_relation!(@ $relation, $convert; Equal ==, NotEqual !=, Less <, LessOrEqual <=,
            Greater >, GreaterOrEqual >=)
    };
    (@ $relation:expr, $convert:expr; $($name:ident $sign:tt),*) => {
        match $relation {
            $(Relation::$name => {
                let compare: Compare = |a, b| $convert(a) $sign $convert(b);
                Some(compare)
            })*
            _ => None,
        }
    };
}

/// The same for floats, also true for NaN if `unordered`.
macro_rules! floats {
    ($it:expr, $convert:expr) => {
        floats!(@ $it, $convert; Equal ==, Less <, LessOrEqual <=, Greater >, GreaterOrEqual >=)
    };
    (@ $it:expr, $convert:expr; $($name:ident $sign:tt),*) => {{
        let of: Compare = match ($it.relation, $it.unordered) {
            $((Relation::$name, false) => |a, b| $convert(a) $sign $convert(b),
            (Relation::$name, true) => |a, b| {
                let (a, b) = ($convert(a), $convert(b));
                a $sign b || a.is_nan() || b.is_nan()
            },)*
            (Relation::NotEqual, false) => |a, b| {
                let (a, b) = ($convert(a), $convert(b));
                a.partial_cmp(&b).is_some_and(|order| order.is_ne())
            },
            (Relation::NotEqual, true) => |a, b| $convert(a) != $convert(b),
            (Relation::Numbers, _) => |a, b| !$convert(a).is_nan() && !$convert(b).is_nan(),
            (Relation::NotNumbers, _) => |a, b| $convert(a).is_nan() || $convert(b).is_nan(),
        };
        Some(of)
    }};
}

/// The function of a comparison, if it is supported.
pub(crate) fn compare(it: &Comparison) -> Option<Compare> {
    if it.flush && !matches!(it.ty, Type::F16 | Type::F16x2 | Type::F32) {
        return None;
    }
    match it.ty {
        Type::F32 if it.flush => floats!(it, |a: u64| value(Type::F32, a, true)),
        Type::F32 => floats!(it, |a: u64| f32::from_bits(a as u32)),
        Type::F16 | Type::F16x2 if it.flush => floats!(it, |a: u64| value(Type::F16, a, true)),
        Type::F16 | Type::F16x2 => floats!(it, |a: u64| value(Type::F16, a, false)),
        Type::Bf16 | Type::Bf16x2 => floats!(it, |a: u64| value(Type::Bf16, a, false)),
        Type::F64 => floats!(it, f64::from_bits),
        Type::S16 => by_relation!(it.relation, |a: u64| a as i16),
        Type::S32 => by_relation!(it.relation, |a: u64| a as i32),
        Type::S64 => by_relation!(it.relation, |a: u64| a as i64),
        Type::U16 | Type::B16 => by_relation!(it.relation, |a: u64| a as u16),
        Type::U32 | Type::B32 => by_relation!(it.relation, |a: u64| a as u32),
        Type::U64 | Type::B64 => by_relation!(it.relation, |a: u64| a),
        _ => None,
    }
}

/// The value of a float in the lowest bits. A subnormal one may be flushed to zero.
fn value(ty: Type, bits: u64, flush: bool) -> f64 {
    let bits = low_bits(bits, ty.bytes() * 8);
    match Format::of(ty) {
        Some(format) => format.value(if flush { format.flushed(bits) } else { bits }),
        None => f64::NAN,
    }
}

/// A combination of two predicates.
pub(crate) type Combine = fn(bool, bool) -> bool;

/// How the result is combined with a predicate.
pub(crate) fn combination(function: Function) -> Combine {
    match function {
        Function::And => |a, b| a & b,
        Function::Or => |a, b| a | b,
        _ => |a, b| a ^ b,
    }
}

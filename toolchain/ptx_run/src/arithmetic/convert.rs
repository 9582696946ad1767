//! Conversions between integers and floats.

use ptx::Type;
use ptx::decode::{Convert, Rounding};

use super::exact::Exact;
use super::round::Format;
use super::{extended, low_bits};

/// A number between two types.
enum Number {
    Integer(i128),
    Float(f64),
}

/// Whether a conversion is supported.
pub(crate) fn is_supported(it: &Convert) -> bool {
    let known = |ty: Type| Format::of(ty).is_some() || is_integer(ty);
    let short = it.from != Type::Tf32 && (it.to != Type::Tf32 || it.from == Type::F32);
    let exact = !matches!(it.rounding, Some(Rounding::Approximate | Rounding::Full));
    let packed = matches!(it.to, Type::F16x2 | Type::Bf16x2) && it.from == Type::F32;
    let has_single = it.to == Type::F32 || it.from == Type::F32;
    let to_short = Format::of(half_of(it.to).unwrap_or(it.to)).is_some_and(|it| !it.is_wide());
    let fits = (has_single || !it.flush) && (to_short || !it.relu);
    (known(it.to) && known(it.from) || packed) && exact && fits && short
}

/// The type of one element of a pair of floats.
pub(crate) fn half_of(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    }
}

pub(crate) fn is_integer(ty: Type) -> bool {
    use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
    matches!(ty, S8 | S16 | S32 | S64 | U8 | U16 | U32 | U64)
}

/// The value converted to a supported type `to`, as a register with the bits of that type.
pub(crate) fn convert(it: &Convert, to: Type, bits: u64) -> u64 {
    let width = it.from.bytes() * 8;
    let flush = |ty: Type, format: Format, bits: u64| {
        if it.flush && ty == Type::F32 { format.flushed(bits) } else { bits }
    };
    let number = match Format::of(it.from) {
        Some(format) => Number::Float(format.value(flush(it.from, format, low_bits(bits, width)))),
        None if it.from.is_signed() => Number::Integer(extended(bits, width).into()),
        None => Number::Integer(low_bits(bits, width).into()),
    };
    let rounding = it.rounding.unwrap_or(Rounding::Nearest);
    let number = match number {
        Number::Float(value) if it.to_integer => Number::Float(whole(value, rounding)),
        number => number,
    };
    match (Format::of(to), number) {
        (Some(format), Number::Integer(value)) => {
            let value = if it.saturate { value.clamp(0, 1) } else { value };
            Exact::of_integer(value).round(format, rounding)
        }
        (Some(format), Number::Float(value)) => {
            let value = if it.saturate { to_unit(value) } else { value };
            // A negative number, and -0.
            let cut = it.relu && value.is_sign_negative() && !value.is_nan();
            let value = if cut { 0.0 } else { value };
            let bits = flush(to, format, format.round(value, rounding));
            // The lowest bits of a register that a `tf32` does not have are 0.
            if to == Type::Tf32 { bits << 13 } else { bits }
        }
        // A conversion bounds the value, and makes 0 of NaN.
        (None, Number::Float(value)) => bounded(whole(value, rounding) as i128, to),
        (None, Number::Integer(value)) if it.saturate => bounded(value, to),
        (None, Number::Integer(value)) => low_bits(value as u64, to.bytes() * 8),
    }
}

/// A float bounded to 0..=1. NaN becomes 0, and so does -0.
fn to_unit(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// The integer at or near a float.
fn whole(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
        _ => value.round_ties_even(),
    }
}

/// The number of an integer type that is nearest.
fn bounded(value: i128, ty: Type) -> u64 {
    let width = ty.bytes() * 8;
    let (low, high) = if ty.is_signed() {
        (-1 << (width - 1), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    };
    low_bits(value.clamp(low, high) as u64, width)
}

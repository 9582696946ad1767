//! Operations on bits.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Variant};

use super::{Compute, Quaternary, Ternary, extended, low_bits};

/// The computation, if it is one on bits that is supported.
pub(crate) fn compute(it: &Arithmetic) -> Option<Compute> {
    use Compute::{Four, Masking, One, Three, Two};
    let (ty, is_64) = (it.ty, it.ty.bytes() == 8);
    if ty.is_float() {
        return None;
    }
    Some(match it.function {
        Function::And if ty == Type::Pred => Masking(|a, b| a & b & 1),
        Function::Or if ty == Type::Pred => Masking(|a, b| (a | b) & 1),
        Function::And => Masking(|a, b| a & b),
        Function::Or => Masking(|a, b| a | b),
        Function::Xor => Two(|a, b| a ^ b),
        Function::Not => One(match ty {
            Type::Pred => |a| a ^ 1,
            Type::B16 => |a| u64::from(!(a as u16)),
            Type::B32 => |a| u64::from(!(a as u32)),
            _ => |a| !a,
        }),
        Function::LogicalNot => One(|a| u64::from(a == 0)),
        Function::ShiftLeft => Two(match ty.bytes() {
            2 => |a, b| low_bits(a.checked_shl(b as u32).unwrap_or(0), 16),
            4 => |a, b| low_bits(a.checked_shl(b as u32).unwrap_or(0), 32),
            _ => |a, b| a.checked_shl(b as u32).unwrap_or(0),
        }),
        Function::ShiftRight => Two(match ty {
            Type::S16 => |a, b| low_bits((extended(a, 16) >> (b as u32).min(63)) as u64, 16),
            Type::S32 => |a, b| low_bits((extended(a, 32) >> (b as u32).min(63)) as u64, 32),
            Type::S64 => |a, b| ((a as i64) >> (b as u32).min(63)) as u64,
            _ => |a, b| a.checked_shr(b as u32).unwrap_or(0),
        }),
        Function::FunnelShift if ty == Type::B32 => Three(funnel(it.variant?)?),
        Function::CountOnes => One(|a| a.count_ones().into()),
        Function::LeadingZeros if is_64 => One(|a| a.leading_zeros().into()),
        Function::LeadingZeros => One(|a| (a as u32).leading_zeros().into()),
        Function::Reverse if is_64 => One(u64::reverse_bits),
        Function::Reverse => One(|a| (a as u32).reverse_bits().into()),
        Function::ExtractBits => Three(match ty {
            Type::U32 => |a, b, c| extract(a, b, c, 32, false),
            Type::S32 => |a, b, c| extract(a, b, c, 32, true),
            Type::U64 => |a, b, c| extract(a, b, c, 64, false),
            Type::S64 => |a, b, c| extract(a, b, c, 64, true),
            _ => return None,
        }),
        Function::InsertBits => Four(insert_for(is_64)),
        Function::Permute => Three(permute_by(it.variant)?),
        Function::Logic3 => Four(|a, b, c, table| low_bits(logic(a, b, c, table), 32)),
        _ => return None,
    })
}

/// `shf`: 32 bits of `b` and `a`, shifted.
fn funnel(variant: Variant) -> Option<Ternary> {
    fn left(a: u64, b: u64, by: u32) -> u64 {
        ((b << 32 | a) << by) >> 32
    }
    fn right(a: u64, b: u64, by: u32) -> u64 {
        low_bits((b << 32 | a) >> by, 32)
    }
    Some(match variant {
        Variant::Left { clamps: true } => |a, b, c| left(a, b, (c as u32).min(32)),
        Variant::Left { clamps: false } => |a, b, c| left(a, b, c as u32 & 31),
        Variant::Right { clamps: true } => |a, b, c| right(a, b, (c as u32).min(32)),
        Variant::Right { clamps: false } => |a, b, c| right(a, b, c as u32 & 31),
        _ => return None,
    })
}

/// `bfe`: the field of `a` at a position with a length. Bits beyond are copies of its sign, or 0.
fn extract(a: u64, position: u64, length: u64, width: u32, signed: bool) -> u64 {
    let (position, length) = (position as u32 & 255, length as u32 & 255);
    let a = if signed { extended(a, width) } else { a.cast_signed() };
    if length == 0 {
        return 0;
    }
    let field = if signed {
        a >> position.min(width - 1)
    } else {
        a.cast_unsigned().checked_shr(position).unwrap_or(0).cast_signed()
    };
    let length = length.min(width);
    if signed {
        low_bits(extended(field.cast_unsigned(), length).cast_unsigned(), width)
    } else {
        low_bits(field.cast_unsigned(), length)
    }
}

/// `bfi`: `b` with a field from `a`.
fn insert_for(is_64: bool) -> Quaternary {
    fn insert(a: u64, b: u64, position: u64, length: u64, width: u32) -> u64 {
        let (position, length) = (position as u32 & 255, length as u32 & 255);
        let field = low_bits(low_bits(u64::MAX, length).checked_shl(position).unwrap_or(0), width);
        b & !field | a.checked_shl(position).unwrap_or(0) & field
    }
    if is_64 { |a, b, c, d| insert(a, b, c, d, 64) } else { |a, b, c, d| insert(a, b, c, d, 32) }
}

/// `prmt`: the bytes of `b` and `a` that a mode and a selector name.
fn permute_by(variant: Option<Variant>) -> Option<Ternary> {
    fn permute(a: u64, b: u64, of: impl Fn(u64) -> u64) -> u64 {
        let bytes = b << 32 | a;
        (0..4).map(|place| (bytes >> (of(place) * 8) & 255) << (place * 8)).sum()
    }
    Some(match variant {
        None => |a, b, c| {
            let bytes = b << 32 | a;
            let byte = |place: u64| {
                let selector = c >> (place * 4);
                let byte = bytes >> ((selector & 7) * 8) & 255;
                if selector & 8 == 0 { byte } else { 255 * (byte >> 7) }
            };
            (0..4).map(|place| byte(place) << (place * 8)).sum()
        },
        Some(Variant::Forward4) => |a, b, c| permute(a, b, |place| (c & 3) + place),
        Some(Variant::Backward4) => {
            |a, b, c| permute(a, b, |place| (c & 3).wrapping_sub(place) & 7)
        }
        Some(Variant::Replicate8) => |a, b, c| permute(a, b, |_| c & 3),
        Some(Variant::Replicate16) => |a, b, c| permute(a, b, |place| (c & 1) * 2 + place % 2),
        Some(Variant::EdgeLeft) => |a, b, c| permute(a, b, |place| place.max(c & 3)),
        Some(Variant::EdgeRight) => |a, b, c| permute(a, b, |place| place.min(c & 3)),
        _ => return None,
    })
}

/// `lop3`: each bit of the result is the bit of the table that the bits of a, b and c select.
fn logic(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let select = |value: u64, bit: bool| if bit { value } else { !value };
    (0..8)
        .filter(|index| table >> index & 1 == 1)
        .map(|index: u32| {
            select(a, index & 4 != 0) & select(b, index & 2 != 0) & select(c, index & 1 != 0)
        })
        .fold(0, |all, one| all | one)
}

//! Positions of bits, masks, and choices by the sign or class of a number.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Variant};

use super::round::Format;
use super::{Binary, Compute, Unary, extended, low_bits};

/// The result for a bit that is not there.
const NOT_FOUND: u64 = u32::MAX as u64;

/// The computation, if it is one of these.
pub(crate) fn compute(it: &Arithmetic) -> Option<Compute> {
    let plain = it.second.is_none() && !it.flush;
    match (it.function, it.ty) {
        (Function::SelectBySign, _) => by_sign(it),
        _ if !plain => None,
        (Function::TestFloat, Type::F32 | Type::F64) => test(it).map(Compute::One),
        (Function::FindHighest, _) => highest(it).map(Compute::One),
        (Function::FindNth, Type::B32) if it.variant.is_none() => Some(Compute::Three(nth)),
        (Function::MaskOfBits, Type::B32) => mask(it.variant?).map(Compute::Two),
        (Function::ExtendSign, Type::U32 | Type::S32) => extend(it).map(Compute::Two),
        _ => None,
    }
}

/// `bfind`: the highest bit that differs from the sign, or the shift that moves it to the top.
fn highest(it: &Arithmetic) -> Option<Unary> {
    fn find<const WIDTH: u32, const SIGNED: bool, const SHIFT: bool>(a: u64) -> u64 {
        let negative = SIGNED && extended(a, WIDTH) < 0;
        match low_bits(if negative { !a } else { a }, WIDTH).checked_ilog2() {
            Some(at) if SHIFT => (WIDTH - 1 - at).into(),
            Some(at) => at.into(),
            None => NOT_FOUND,
        }
    }
    let shift = match it.variant {
        None => false,
        Some(Variant::ShiftAmount) => true,
        Some(_) => return None,
    };
    Some(match (it.ty, shift) {
        (Type::U32, false) => find::<32, false, false>,
        (Type::U32, true) => find::<32, false, true>,
        (Type::S32, false) => find::<32, true, false>,
        (Type::S32, true) => find::<32, true, true>,
        (Type::U64, false) => find::<64, false, false>,
        (Type::U64, true) => find::<64, false, true>,
        (Type::S64, false) => find::<64, true, false>,
        (Type::S64, true) => find::<64, true, true>,
        _ => return None,
    })
}

/// `fns`: the n-th one of a mask, counted up or down from a position, which is the first if it is
/// one. The 0-th is the position itself.
fn nth(mask: u64, from: u64, n: u64) -> u64 {
    let (from, n) = (from as u32, n as u32 as i32);
    let is_one = |at: &u32| mask >> at & 1 == 1;
    let skipped = n.unsigned_abs().saturating_sub(1) as usize;
    let found = if from > 31 {
        None
    } else if n == 0 {
        Some(from).filter(is_one)
    } else if n > 0 {
        (from..32).filter(is_one).nth(skipped)
    } else {
        (0..=from).rev().filter(is_one).nth(skipped)
    };
    found.map_or(NOT_FOUND, u64::from)
}

/// `bmsk`: ones from a position, in this number.
fn mask(variant: Variant) -> Option<Binary> {
    fn ones(from: u64, count: u64) -> u64 {
        low_bits(low_bits(u64::MAX, count as u32) << from, 32)
    }
    Some(match variant {
        Variant::Clamp => |a, b| ones(a.min(32), b.min(32)),
        Variant::Wrap => |a, b| ones(a & 31, b & 31),
        _ => return None,
    })
}

/// `szext`: a number of this many bits, extended to 32.
fn extend(it: &Arithmetic) -> Option<Binary> {
    fn signed(a: u64, bits: u64) -> u64 {
        if bits == 0 { 0 } else { low_bits(extended(a, bits as u32).cast_unsigned(), 32) }
    }
    Some(match (it.ty, it.variant?) {
        (Type::U32, Variant::Clamp) => |a, b| low_bits(a, b.min(32) as u32),
        (Type::U32, Variant::Wrap) => |a, b| low_bits(a, b as u32 & 31),
        (_, Variant::Clamp) => |a, b| signed(a, b.min(32)),
        (_, Variant::Wrap) => |a, b| signed(a, b & 31),
        _ => return None,
    })
}

/// `testp`: whether a float belongs to a class.
fn test(it: &Arithmetic) -> Option<Unary> {
    macro_rules! classes {
        ($float:ty, $convert:expr) => {{
            const FORMAT: fn(u64) -> $float = $convert;
            match it.variant? {
                Variant::Finite => |a| FORMAT(a).is_finite().into(),
                Variant::Infinite => |a| FORMAT(a).is_infinite().into(),
                Variant::Number => |a| (!FORMAT(a).is_nan()).into(),
                Variant::NotANumber => |a| FORMAT(a).is_nan().into(),
                Variant::Normal => |a| FORMAT(a).is_normal().into(),
                Variant::Subnormal => |a| FORMAT(a).is_subnormal().into(),
                _ => return None,
            }
        }};
    }
    Some(if it.ty == Type::F32 {
        classes!(f32, |bits| f32::from_bits(bits as u32))
    } else {
        classes!(f64, f64::from_bits)
    })
}

/// `slct`: the first operand if the third is at least 0, otherwise the second, also for NaN.
fn by_sign(it: &Arithmetic) -> Option<Compute> {
    // 32 bits that are not negative, -0, or with `.ftz` a negative number that becomes -0.
    fn float(c: u64, flush: bool) -> bool {
        let c = Format::of(Type::F32).map_or(c, |format| if flush { format.flushed(c) } else { c });
        f32::from_bits(c as u32) >= 0.0
    }
    if it.variant.is_some() || it.ty == Type::Pred || it.ty.bytes() < 2 || it.ty.bytes() > 8 {
        return None;
    }
    Some(Compute::Three(match (it.second?, it.flush) {
        (Type::S32, false) => |a, b, c| if extended(c, 32) >= 0 { a } else { b },
        (Type::F32, false) => |a, b, c| if float(c, false) { a } else { b },
        (Type::F32, true) => |a, b, c| if float(c, true) { a } else { b },
        _ => return None,
    }))
}

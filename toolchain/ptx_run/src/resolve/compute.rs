//! Computations on registers.

use ptx::decode::{Arithmetic, Comparison, Convert, Function, Variant};
use ptx::{Operand, Type};

use super::operands::Operands;
use crate::arithmetic::carry::Carry;
use crate::arithmetic::convert::{half_of, is_integer, is_supported};
use crate::arithmetic::general::{General, element};
use crate::arithmetic::round::Format;
use crate::arithmetic::{Compute, compare, low_bits, pack, update};
use crate::code::{Comparing, Converting, Floating, Op, Others, Slot};
use crate::special::clock;

pub(super) fn movement(ty: Type, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [to, from] = operands else { return None };
    let width = ty.bytes() * 8;
    if width > 64 {
        return None;
    }
    let part = |parts: usize| Some(width / u32::try_from(parts).ok().filter(|&it| it > 0)?);
    match (to, from) {
        (Operand::Vector(to), from) => {
            let slots: Option<Box<[Slot]>> = to.iter().map(|it| on.slot(it)).collect();
            Some(Op::Unpack(slots?, on.source(from, ty)?, part(to.len())?))
        }
        (to, Operand::Vector(from)) => {
            let sources: Option<Box<[Slot]>> = from.iter().map(|it| on.source(it, ty)).collect();
            Some(Op::Pack(on.slot(to)?, sources?, part(from.len())?))
        }
        (to, Operand::Special(name)) if let Some(clock) = clock(*name) => {
            Some(Op::Clock(on.slot(to)?, clock))
        }
        (to, from) => Some(Op::Move(on.slot(to)?, on.source(from, ty)?, width.max(1))),
    }
}

pub(super) fn select(ty: Type, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [to, first, second, predicate] = operands else { return None };
    let sources = [on.source(first, ty)?, on.source(second, ty)?];
    let predicate = on.predicate(predicate)?;
    (ty.bytes() <= 8).then_some(Op::Select(on.slot(to)?, sources, predicate))
}

pub(super) fn compare(it: &Comparison, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let (to, other) = on.pair(operands.first()?)?;
    let (ty, lanes) = element(it.ty);
    if lanes == 2 && (ty.bytes() != 2 || it.result.is_some_and(|result| result != it.ty)) {
        return None;
    }
    let others = match (lanes, it.result) {
        (2, None) => Others::Upper,
        (2, Some(_)) => Others::UpperJoined,
        _ => Others::Opposite,
    };
    let first = on.source_at(operands, 1, it.ty)?;
    let second = on.source_at(operands, 2, it.ty)?;
    let combine = match it.combined {
        Some(function) => Some((compare::combination(function), on.predicate(operands.get(3)?)?)),
        None => None,
    };
    Some(Op::Compare(Box::new(Comparing {
        compare: compare::compare(it)?,
        combine,
        to,
        other,
        others,
        sources: [first, second],
        truth: match it.result.map(|result| (Format::of(element(result).0), result.bytes())) {
            None => 1,
            Some((Some(format), _)) => format.one(),
            Some((None, bytes)) => low_bits(u64::MAX, bytes * 8),
        },
    })))
}

pub(super) fn convert(it: &Convert, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let to = on.slot(operands.first()?)?;
    let from = on.source_at(operands, 1, it.from)?;
    if is_integer(it.to) && is_integer(it.from) && !it.saturate {
        let bits = it.from.bytes().min(it.to.bytes()) * 8;
        let narrows = it.to.bytes() <= it.from.bytes();
        let signed = if narrows { it.to.is_signed() } else { it.from.is_signed() };
        let to_bits = if it.to.is_signed() { on.width(to) } else { it.to.bytes() * 8 };
        return Some(Op::Extend { to, from, bits, signed, to_bits });
    }
    if !is_supported(it) {
        return None;
    }
    let second = match half_of(it.to) {
        Some(_) => on.source_at(operands, 2, it.from)?,
        None => from,
    };
    let extend_to = it.to.is_signed().then(|| on.width(to));
    let sources = [from, second];
    Some(Op::Convert(Box::new(Converting { convert: *it, to, extend_to, sources })))
}

pub(super) fn compute(it: &Arithmetic, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let to = on.slot(operands.first()?)?;
    let source = |at: usize| on.source_at(operands, at, operand_type(it, at));
    let none = on.value(0);
    if let Some(carry) = Carry::of(it) {
        if update::is_of_floats(it) {
            return None;
        }
        let third = if carry.operands() == 3 { source(3)? } else { none };
        return Some(Op::Carry(carry, to, [source(1)?, source(2)?, third]));
    }
    let operands = operands.len() - 1;
    let mut sources = [none; 4];
    for (index, place) in sources.iter_mut().take(operands).enumerate() {
        *place = source(index + 1)?;
    }
    if let Some(compute) = update::compute(it).filter(|it| it.operands() == operands) {
        return Some(Op::Compute(compute, to, sources));
    }
    let general = General::of(it, operands)?;
    let [first, second, third, _] = sources;
    Some(Op::Float(Box::new(Floating { general, to, sources: [first, second, third] })))
}

/// `cvt.pack`
pub(super) fn pack(bits: u32, signed: bool, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let source = |at: usize, ty: Type| on.source_at(operands, at, ty);
    let (first, second) = (source(1, Type::S32)?, source(2, Type::S32)?);
    let third = match operands.len() {
        3 => on.value(0),
        4 if bits < 16 => source(3, Type::B32)?,
        _ => return None,
    };
    let sources = [first, second, third, on.value(0)];
    Some(Op::Compute(Compute::Three(pack::pack(bits, signed)?), on.slot(&operands[0])?, sources))
}

/// The type of an operand of a computation. Most have that of the instruction.
fn operand_type(it: &Arithmetic, at: usize) -> Type {
    let is_wide_sum = it.variant == Some(Variant::Wide) && at == 3;
    match it.function {
        Function::Mad if is_wide_sum && it.ty.bytes() == 4 => Type::U64,
        Function::Mad if is_wide_sum => Type::U32,
        Function::ShiftLeft | Function::ShiftRight | Function::ExtractBits if at > 1 => Type::U32,
        Function::InsertBits if at > 2 => Type::U32,
        Function::SelectBySign if at == 3 => it.second.unwrap_or(it.ty),
        _ => it.ty,
    }
}

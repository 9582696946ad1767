//! Computations on registers.

use ptx::decode::{Arithmetic, Comparison, Convert, Function, Variant};
use ptx::{Operand, Type};

use super::operands::Operands;
use crate::arithmetic::Compute;
use crate::arithmetic::carry::Carry;
use crate::arithmetic::compare;
use crate::arithmetic::convert::{half_of, is_integer, is_supported};
use crate::arithmetic::update;
use crate::code::{Comparing, Converting, Op, Slot};
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
    let (to, opposite) = on.pair(operands.first()?)?;
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
        opposite,
        sources: [first, second],
        truth: match it.result {
            None => 1,
            Some(Type::F32) => 1f32.to_bits().into(),
            Some(_) => u32::MAX.into(),
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
        let third = if carry.operands() == 3 { source(3)? } else { none };
        return Some(Op::Carry(carry, to, [source(1)?, source(2)?, third]));
    }
    if it.sets_carry || it.second.is_some() {
        return None;
    }
    let compute = update::compute(it)?;
    let mut sources = [none; 4];
    let count = match compute {
        Compute::One(_) => 1,
        Compute::Two(_) => 2,
        Compute::Three(_) => 3,
        Compute::Four(_) => 4,
    };
    for (index, place) in sources.iter_mut().take(count).enumerate() {
        *place = source(index + 1)?;
    }
    Some(Op::Compute(compute, to, sources))
}

/// The type of an operand of a computation. Most have that of the instruction.
fn operand_type(it: &Arithmetic, at: usize) -> Type {
    let is_wide_sum = it.variant == Some(Variant::Wide) && at == 3;
    match it.function {
        Function::Mad if is_wide_sum && it.ty.bytes() == 4 => Type::U64,
        Function::Mad if is_wide_sum => Type::U32,
        Function::ShiftLeft | Function::ShiftRight | Function::ExtractBits if at > 1 => Type::U32,
        Function::InsertBits if at > 2 => Type::U32,
        _ => it.ty,
    }
}

//! Barriers, and exchanges between lanes.

use ptx::decode::{Arithmetic, BarrierAction, Shuffle, Vote};
use ptx::{Operand, Type};

use super::operands::Operands;
use crate::arithmetic::update;
use crate::code::{Meeting, Op, Predicate, Shuffling, Slot};

pub(super) fn barrier(
    action: BarrierAction,
    aligned: bool,
    operands: &[Operand],
    on: &Operands<'_>,
) -> Option<Op> {
    let number = |operand: &Operand| on.source(operand, Type::U32);
    let (to, barrier, threads, predicate) = match (action, operands) {
        (BarrierAction::Arrive, [barrier, threads]) => (on.sink(), barrier, Some(threads), None),
        (BarrierAction::Sync, [barrier]) => (on.sink(), barrier, None, None),
        (BarrierAction::Sync, [barrier, threads]) => (on.sink(), barrier, Some(threads), None),
        (BarrierAction::Arrive | BarrierAction::Sync, _) => return None,
        (_, [to, barrier, last]) => (on.slot(to)?, barrier, None, Some(last)),
        (_, [to, barrier, threads, last]) => (on.slot(to)?, barrier, Some(threads), Some(last)),
        _ => return None,
    };
    let threads = match threads {
        Some(threads) => Some(number(threads)?),
        None => None,
    };
    let predicate = match predicate {
        Some(predicate) => on.predicate(predicate)?,
        None => Predicate { slot: on.value(1), negated: false },
    };
    let barrier = number(barrier)?;
    Some(Op::Barrier(Box::new(Meeting { action, aligned, to, predicate, barrier, threads })))
}

pub(super) fn warp_barrier(operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    on.source_at(operands, 0, Type::B32).map(Op::WarpBarrier)
}

pub(super) fn shuffle(mode: Shuffle, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    // Without a mask of lanes it is the old form, which no longer exists.
    let [to, sources @ ..] = operands else { return None };
    let sources: Option<Vec<Slot>> = sources.iter().map(|it| on.source(it, Type::B32)).collect();
    let (to, found) = on.pair(to)?;
    Some(Op::Shuffle(Box::new(Shuffling { mode, to, found, sources: sources?.try_into().ok()? })))
}

pub(super) fn vote(vote: Vote, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [to, predicate, mask] = operands else { return None };
    let (predicate, mask) = (on.predicate(predicate)?, on.source(mask, Type::B32)?);
    Some(Op::Vote(vote, on.slot(to)?, predicate, mask))
}

pub(super) fn matching(bytes: u32, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [to, value, mask] = operands else { return None };
    let ty = if bytes == 8 { Type::B64 } else { Type::B32 };
    Some(Op::Match(on.slot(to)?, [on.source(value, ty)?, on.source(mask, Type::B32)?]))
}

pub(super) fn matching_all(bytes: u32, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [to, value, mask] = operands else { return None };
    let ty = if bytes == 8 { Type::B64 } else { Type::B32 };
    let (to, found) = on.pair(to)?;
    Some(Op::MatchAll([to, found], [on.source(value, ty)?, on.source(mask, Type::B32)?]))
}

pub(super) fn redux(it: &Arithmetic, operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    let [to, value, mask] = operands else { return None };
    if it.ty.bytes() != 4 {
        return None;
    }
    let sources = [on.source(value, it.ty)?, on.source(mask, Type::B32)?];
    Some(Op::Redux(update::join(it)?, on.slot(to)?, sources))
}

pub(super) fn active_mask(operands: &[Operand], on: &Operands<'_>) -> Option<Op> {
    on.slot(operands.first()?).map(Op::ActiveMask)
}

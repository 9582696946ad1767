//! Live registers.

use std::collections::BTreeSet;

use crate::instruction::{Instruction, Operand, Register, Update};
use crate::test::Thread;

/// For each statement of `thread`, and for the end, the registers whose values may still be read.
/// The question reads `asked` at the end.
pub(super) fn live(thread: &Thread, asked: &BTreeSet<Register>) -> Vec<BTreeSet<Register>> {
    let end = thread.statements.len();
    let mut live = vec![BTreeSet::new(); end + 1];
    live[end] = asked.clone();
    loop {
        let mut changed = false;
        for at in (0..end).rev() {
            let instruction = &thread.statements[at].instruction;
            let after = match instruction {
                Instruction::Branch { when: None, target } => live[*target].clone(),
                Instruction::Branch { when: Some(_), target } => &live[*target] | &live[at + 1],
                _ => live[at + 1].clone(),
            };
            let mut needed = after.clone();
            if let Some(register) = written(instruction) {
                needed.remove(&register);
            }
            // An unneeded result does not make its arguments needed, so a spin may count.
            let unneeded =
                matches!(instruction, Instruction::Compute { to, .. } if !after.contains(to));
            if !unneeded {
                needed.extend(read(instruction));
            }
            changed |= needed != live[at];
            live[at] = needed;
        }
        if !changed {
            return live;
        }
    }
}

/// The register that an instruction writes.
pub(crate) fn written(instruction: &Instruction) -> Option<Register> {
    match instruction {
        Instruction::Load { to, .. } | Instruction::Compute { to, .. } => Some(*to),
        Instruction::Atomic { to, .. } => *to,
        _ => None,
    }
}

fn read(instruction: &Instruction) -> impl Iterator<Item = Register> {
    let operands = match *instruction {
        Instruction::Store { value, .. } => [Some(value), None],
        Instruction::Atomic { update: Update::Apply(_, value), .. } => [Some(value), None],
        Instruction::Atomic { update: Update::CompareAndSwap(a, b), .. } => [Some(a), Some(b)],
        Instruction::Barrier { id, count, .. } => [Some(id), count],
        Instruction::Compute { left, right, .. } => [Some(left), Some(right)],
        Instruction::Branch { when: Some((_, left, right)), .. } => [Some(left), Some(right)],
        _ => [None, None],
    };
    operands.into_iter().flatten().filter_map(|operand| match operand {
        Operand::Register(register) => Some(register),
        Operand::Constant(_) => None,
    })
}

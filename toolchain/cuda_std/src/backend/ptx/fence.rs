//! Fences (PTX ISA, "membar / fence").

use crate::memory::{Ordering, Scope};
use core::arch::asm;

macro_rules! fence_instruction {
    ($instruction:literal) => {
        // SAFETY: orders memory accesses; has no operands and touches no stack.
        unsafe { asm!(concat!($instruction, ";"), options(nostack, preserves_flags)) }
    };
}

#[inline(always)]
pub(crate) fn fence(order: Ordering, scope: Scope) {
    match (order, scope) {
        (Ordering::Relaxed, _) => {}
        (Ordering::SeqCst, Scope::Block) => fence_instruction!("fence.sc.cta"),
        (Ordering::SeqCst, Scope::Device) => fence_instruction!("fence.sc.gpu"),
        (Ordering::SeqCst, Scope::System) => fence_instruction!("fence.sc.sys"),
        (_, Scope::Block) => fence_instruction!("fence.acq_rel.cta"),
        (_, Scope::Device) => fence_instruction!("fence.acq_rel.gpu"),
        (_, Scope::System) => fence_instruction!("fence.acq_rel.sys"),
    }
}

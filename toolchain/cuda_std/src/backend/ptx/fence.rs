//! Fences (PTX ISA, "membar / fence").

use crate::memory::{Ordering, Scope, Space, SpaceKind};
use core::arch::asm;

macro_rules! fence_instruction {
    ($instruction:literal) => {
        // SAFETY: orders memory accesses; has no operands and does not use the stack.
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

/// The fence before a sequentially consistent access to `S`. [`Scope`] has no cluster scope, so the
/// next wider one is used.
#[inline(always)]
pub(super) fn fence_if_seq_cst<S: Space>(order: Ordering, scope: Scope) {
    if order == Ordering::SeqCst {
        let is_cluster = matches!(S::KIND, SpaceKind::Cluster);
        fence(Ordering::SeqCst, if is_cluster { Scope::Device } else { scope });
    }
}

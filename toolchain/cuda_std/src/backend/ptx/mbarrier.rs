//! Barriers in shared memory (PTX ISA, "mbarrier").

use core::arch::asm;

// Each of these functions has the contract of a view: the address is that of eight aligned bytes of
// the block's shared memory, used only as a barrier.

#[inline(always)]
pub(crate) unsafe fn init(at: u32, arrivals: u32) {
    // SAFETY: the contract of a view.
    unsafe {
        asm!("mbarrier.init.shared::cta.b64 [{}], {};", in(reg32) at, in(reg32) arrivals,
             options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub(crate) fn fence_init() {
    // SAFETY: orders memory accesses; has no operands and does not use the stack.
    unsafe {
        asm!("fence.mbarrier_init.release.cluster;", options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub(crate) unsafe fn arrive(at: u32) {
    // SAFETY: the contract of a view.
    unsafe {
        asm!("mbarrier.arrive.release.cta.shared::cta.b64 _, [{}];", in(reg32) at,
             options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub(crate) unsafe fn arrive_expect(at: u32, bytes: u32) {
    // SAFETY: the contract of a view.
    unsafe {
        asm!("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [{}], {};",
             in(reg32) at, in(reg32) bytes, options(nostack, preserves_flags));
    }
}

// PTX has no numeric labels. The braces scope this one, so the function may be inlined twice.
#[allow(named_asm_labels)]
#[inline(always)]
pub(crate) unsafe fn wait(at: u32, parity: u32) {
    // SAFETY: the contract of a view. The label and the predicate are local to the braces.
    unsafe {
        asm!(
            "{{",
            ".reg .pred ended;",
            "WAIT:",
            "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 ended, [{at}], {parity};",
            "@!ended bra WAIT;",
            "}}",
            at = in(reg32) at, parity = in(reg32) parity,
            options(nostack, preserves_flags)
        );
    }
}

//! Bulk copies (PTX ISA, "cp.async.bulk") and the fence before them ("fence.proxy").

use crate::memory::{Global, Scalar, Shared, SharedSpace, Space};
use core::arch::asm;

/// The address of the first element.
#[inline(always)]
fn start<T: Scalar>(shared: Shared<T>) -> u32 {
    SharedSpace::to_bits(shared.at(0)) as u32
}

#[inline(always)]
pub(crate) unsafe fn load<T: Scalar>(to: Shared<T>, from: Global<T>, barrier: u32) {
    let bytes = (to.len() * size_of::<T>()) as u32;
    // SAFETY: the contract of a view. An address in the block's memory is also valid in the
    // cluster's.
    unsafe {
        asm!(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{}], [{}], {}, [{}];",
            in(reg32) start(to), in(reg64) from.address(), in(reg32) bytes, in(reg32) barrier,
            options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub(crate) unsafe fn store<T: Scalar>(to: Global<T>, from: Shared<T>) {
    let bytes = (from.len() * size_of::<T>()) as u32;
    // SAFETY: the contract of a view.
    unsafe {
        asm!(
            "cp.async.bulk.global.shared::cta.bulk_group [{}], [{}], {};",
            "cp.async.bulk.commit_group;",
            in(reg64) to.address(), in(reg32) start(from), in(reg32) bytes,
            options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub(crate) fn wait_read<const N: u32>() {
    // SAFETY: waits; does not access memory.
    unsafe {
        asm!("cp.async.bulk.wait_group.read {};", const N, options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub(crate) fn wait_stored() {
    // SAFETY: waits; does not access memory.
    unsafe { asm!("cp.async.bulk.wait_group 0;", options(nostack, preserves_flags)) }
}

#[inline(always)]
pub(crate) fn fence_shared() {
    // SAFETY: orders memory accesses; has no operands and does not use the stack.
    unsafe { asm!("fence.proxy.async.shared::cta;", options(nostack, preserves_flags)) }
}

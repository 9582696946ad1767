//! Clocks and sleep (PTX ISA, "%clock64", "%globaltimer", "nanosleep").

use core::arch::asm;

#[inline(always)]
pub(crate) fn clock() -> u64 {
    let cycles: u64;
    // SAFETY: reads a special register. Not `pure`: each call reads it again.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nostack, preserves_flags)) };
    cycles
}

#[inline(always)]
pub(crate) fn global_timer() -> u64 {
    let nanoseconds: u64;
    // SAFETY: reads a special register. Not `pure`: each call reads it again.
    unsafe {
        asm!("mov.u64 {}, %globaltimer;", out(reg64) nanoseconds,
             options(nostack, preserves_flags));
    }
    nanoseconds
}

#[inline(always)]
pub(crate) fn nanosleep(nanoseconds: u32) {
    // SAFETY: suspends the thread; does not access memory.
    unsafe { asm!("nanosleep.u32 {};", in(reg32) nanoseconds, options(nostack, preserves_flags)) }
}

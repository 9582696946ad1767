//! Dynamic shared memory (PTX ISA, "Dynamically-sized shared memory": `.extern .shared`).

use core::arch::{asm, global_asm};

// Bulk copies are slow if it begins at an odd multiple of 16: a scan of 2^28 f32 took 605 µs on an
// H200 instead of 520 µs, 2026-11-25.
global_asm!(".extern .shared .align 128 .b8 gridsync_dynamic_shared[];");

#[inline(always)]
pub(crate) fn dynamic() -> (u32, usize) {
    let (base, bytes): (u32, u32);
    // SAFETY: takes an address and reads a special register; does not access memory.
    unsafe {
        asm!("mov.u32 {}, gridsync_dynamic_shared;", out(reg32) base,
             options(pure, nomem, nostack, preserves_flags));
        asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes,
             options(pure, nomem, nostack, preserves_flags));
    }
    (base, bytes as usize)
}

//! Conversions that are one instruction on the device but several operations in plain Rust.

use crate::{bf16, f16};

/// The same number as an `f32`, exactly: `cvt.f32.f16`.
#[inline(always)]
pub fn f16_to_f32(value: f16) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let wide: f32;
        // SAFETY: arithmetic on registers.
        unsafe {
            core::arch::asm!("cvt.f32.f16 {}, {};", out(reg32) wide, in(reg16) value.to_bits(),
                             options(pure, nomem, nostack, preserves_flags));
        }
        wide
    }
    #[cfg(not(target_arch = "nvptx64"))]
    value.to_f32()
}

/// The same number as an `f32`, exactly: the upper half of its bits.
#[inline(always)]
pub fn bf16_to_f32(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}

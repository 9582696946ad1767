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

/// The nearest `f16`, to even if two are; infinity if it is too large: `cvt.rn.f16.f32`. Not for
/// NaN, whose bits depend on the processor.
#[inline(always)]
pub fn f32_to_f16(value: f32) -> f16 {
    #[cfg(target_arch = "nvptx64")]
    {
        let narrow: u16;
        // SAFETY: arithmetic on registers.
        unsafe {
            core::arch::asm!("cvt.rn.f16.f32 {}, {};", out(reg16) narrow, in(reg32) value,
                             options(pure, nomem, nostack, preserves_flags));
        }
        f16::from_bits(narrow)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    f16::from_f32(value)
}

/// The nearest `bf16`, to even if two are; infinity if it is too large: `cvt.rn.bf16.f32`, since
/// compute capability 8.0. Not for NaN, whose bits depend on the processor.
#[inline(always)]
pub fn f32_to_bf16(value: f32) -> bf16 {
    #[cfg(compute_ge_80)]
    {
        let narrow: u16;
        // SAFETY: arithmetic on registers.
        unsafe {
            core::arch::asm!("cvt.rn.bf16.f32 {}, {};", out(reg16) narrow, in(reg32) value,
                             options(pure, nomem, nostack, preserves_flags));
        }
        bf16::from_bits(narrow)
    }
    #[cfg(not(compute_ge_80))]
    bf16::from_f32(value)
}

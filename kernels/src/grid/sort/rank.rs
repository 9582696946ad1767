//! Stable ranks by a digit, within a warp.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp, warp_vote_ballot};

/// Values of a digit.
pub(super) const DIGITS: usize = 256;

/// Threads of a block of a pass: one per digit.
pub const THREADS: u32 = DIGITS as u32;

/// Warps of a block of a pass.
pub(super) const WARPS: usize = (THREADS / WARP_SIZE) as usize;

/// Words of the counters of a warp: two counters in each.
pub(super) const COUNTERS: usize = DIGITS / 2;

/// Bits of a digit.
const BITS: u32 = DIGITS.ilog2();

/// The counters of a warp in shared memory: how many of its keys so far have each digit.
#[derive(Clone, Copy)]
pub(super) struct Counters {
    counts: Shared<u16>,
    /// The lanes below and above this one.
    below: u32,
    above: u32,
    /// All bits, unknown to the compiler.
    ones: u32,
}

impl Counters {
    /// Called by all lanes of the warp, whose index is `lane`.
    #[device]
    pub(super) fn new(counts: Shared<u16>, lane: u32) -> Self {
        let below = (1 << lane) - 1;
        Self {
            counts,
            below,
            above: !below & !(1 << lane),
            ones: warp_vote_ballot(FULL_MASK, true),
        }
    }

    /// The number of keys of the warp with this digit in earlier calls, and in lower lanes in this
    /// one. Called by all lanes of the warp together.
    ///
    /// One lane counts for all with the same digit. So no atomics are needed: the warp barriers
    /// order the accesses to the counters.
    #[device]
    pub(super) fn rank(self, digit: u32) -> u32 {
        let peers = peers(digit, self.ones);
        let before = u32::from(self.counts.read(digit as usize));
        let rank = here(before + (peers & self.below).count_ones());
        let after = here(rank + 1) as u16;
        sync_warp(FULL_MASK);
        // The last of them knows how many there are.
        if peers & self.above == 0 {
            self.counts.write(digit as usize, after);
        }
        sync_warp(FULL_MASK);
        rank
    }
}

/// The lanes of the warp with the same digit. Called by all lanes of the warp.
///
/// Eight votes are faster than `match.any` from four different digits on. The complements are
/// multiplications, because the pipe of logical instructions is the busiest one: a pass of 2^28 u32
/// took 986 µs with them and 1033 without (H200, 2026-11-26).
#[device]
fn peers(digit: u32, ones: u32) -> u32 {
    let mut peers = FULL_MASK;
    for bit in 0..BITS {
        let bit = masked(digit, 1 << bit);
        peers &= complement_unless(bit != 0, warp_vote_ballot(FULL_MASK, bit != 0), ones);
    }
    peers
}

/// `value`, or its complement if `keep` does not hold. `ones` is all bits.
#[inline(always)]
fn complement_unless(keep: bool, value: u32, ones: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let (mut value, keep) = (value, u32::from(keep));
        // SAFETY: arithmetic.
        unsafe {
            core::arch::asm!(
                "{{ .reg .pred %keep; setp.ne.u32 %keep, {keep}, 0; @!%keep mad.lo.s32 {value}, {value}, {ones}, {ones}; }}",
                keep = in(reg32) keep, value = inout(reg32) value, ones = in(reg32) ones,
                options(pure, nomem, nostack, preserves_flags));
        }
        value
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = ones;
        if keep { value } else { !value }
    }
}

/// `x & mask`, hidden from the compiler, which would shift instead: ptxas turns the tests of eight
/// bits of one register into one instruction.
#[inline(always)]
fn masked(x: u32, mask: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let masked: u32;
        // SAFETY: arithmetic.
        unsafe {
            core::arch::asm!("and.b32 {}, {}, {};", out(reg32) masked, in(reg32) x, in(reg32) mask,
                options(pure, nomem, nostack, preserves_flags));
        }
        masked
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        x & mask
    }
}

/// `x`, computed here: the compiler neither moves it nor keeps what it was computed from.
#[inline(always)]
pub(super) fn here(x: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let mut x = x;
        // SAFETY: no instruction.
        unsafe { core::arch::asm!("// {}", inout(reg32) x, options(nostack)) };
        x
    }
    #[cfg(not(target_arch = "nvptx64"))]
    x
}

//! Stable ranks by a digit, within a warp and within a block.

use super::ThreadPosition;
use crate::op::Sum;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp, warp_vote_ballot};

/// Values of a digit.
pub(crate) const DIGITS: usize = 256;

/// Words of the counters of a warp: two counters in each.
pub(crate) const COUNTERS: usize = DIGITS / 2;

/// Bits of a digit.
const BITS: u32 = DIGITS.ilog2();

shared_array! {
    /// For each digit: the index in the sorted tile of its first key.
    pub(crate) fn gridsync_sort_starts() -> [u32; DIGITS];
}

shared_array! {
    /// The numbers of keys with the digits of each warp that adds them up.
    fn gridsync_sort_warps() -> [u32; COUNTERS / WARP_SIZE as usize];
}

/// The counters of a warp in shared memory: how many of its keys so far have each digit.
#[derive(Clone, Copy)]
pub(crate) struct Counters {
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
    pub(crate) fn new(counts: Shared<u16>, lane: u32) -> Self {
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
    pub(crate) fn rank(self, digit: u32) -> u32 {
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

/// Words of shared memory that [`rank`] needs for a block of so many threads.
#[must_use]
pub const fn rank_words(threads: u32) -> usize {
    (threads / WARP_SIZE) as usize * COUNTERS
}

/// The rank of this thread's digit in a stable sort by digits, below 256: how many threads of the
/// block have a smaller one, or the same one and a smaller index. No two threads get the same rank.
///
/// Called by every thread of the block, which extends along x only, and has a multiple of 32 threads,
/// at least 128; `scratch` has [`rank_words`]. It has three block barriers inside and none at the
/// end, so the block needs a barrier before `scratch` is used again, and between two ranks. Each
/// thread adds counters for two digits of all warps.
#[device]
pub fn rank(digit: u32, scratch: Shared<u32>) -> u32 {
    let at = ThreadPosition::here();
    let mine = at.warp as usize * COUNTERS;
    scratch.write_pack(mine + at.lane as usize * 4, [0; 4], CacheHint::Default);
    sync_warp(FULL_MASK);
    let counts = scratch.cast::<u16>().part(2 * mine, DIGITS);
    let in_warp = Counters::new(counts, at.lane).rank(digit);
    thread::sync_threads();
    count_tile(scratch, at.warps as usize, 0, at, |_, _| {});
    thread::sync_threads();
    u32::from(counts.read(digit as usize)) + in_warp
}

/// Turns the counters of each warp into the index in the sorted tile of its first key with each
/// digit, and calls `send` with each digit and its count in the tile, on some thread. The digits
/// with the bits `flipped` inverted are in order. Called by all threads of the block, which has this
/// many warps, at least four; contains a block barrier.
#[inline(always)]
pub(crate) fn count_tile(
    counters: Shared<u32>,
    warps: usize,
    flipped: usize,
    at: ThreadPosition,
    send: impl Fn(usize, u32),
) {
    let is_counter = (at.thread as usize) < COUNTERS;
    // Both digits of a word at once: no count reaches 2^16.
    let pair = at.thread as usize ^ (flipped / 2);
    let is_swapped = !flipped.is_multiple_of(2);
    let (mut counts, mut up_to) = (0, 0);
    if is_counter {
        for warp in 0..warps {
            let word = warp * COUNTERS + pair;
            let count = counters.read(word);
            counters.write(word, counts);
            counts += count;
        }
        let [low, high] = [counts & 0xffff, counts >> 16];
        send(2 * pair, low);
        send(2 * pair + 1, high);
        up_to = warp::scan(Sum::<u32>::new(), low + high);
        if at.lane == WARP_SIZE - 1 {
            gridsync_sort_warps().write(at.warp as usize, up_to);
        }
    }
    thread::sync_threads();
    if is_counter {
        let [low, high] = [counts & 0xffff, counts >> 16];
        let mut start = up_to - low - high;
        for warp in 0..COUNTERS / WARP_SIZE as usize - 1 {
            if warp < at.warp as usize {
                start += gridsync_sort_warps().read(warp);
            }
        }
        let [of_low, of_high] =
            if is_swapped { [start + high, start] } else { [start, start + low] };
        gridsync_sort_starts().write(2 * pair, of_low);
        gridsync_sort_starts().write(2 * pair + 1, of_high);
        let both = of_low | of_high << 16;
        for warp in 0..warps {
            let word = warp * COUNTERS + pair;
            counters.write(word, counters.read(word) + both);
        }
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
pub(crate) fn here(x: u32) -> u32 {
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

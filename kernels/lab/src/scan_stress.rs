//! Scans with delayed blocks: the result must not depend on when a block arrives.

use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::time;
use gridsync_kernels::grid;
use gridsync_kernels::grid::Workspace;
use gridsync_kernels::grid::scan::Mode;
use gridsync_kernels::op::Operation;

/// Sums u32 elements, and at some of them waits for up to a millisecond.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DelayedSum {
    /// The seed that determines which elements wait, and for how long.
    pub seed: u32,
    /// One element in `one_in` waits.
    pub one_in: u32,
    /// The longest wait, in nanoseconds.
    pub longest: u32,
}

// SAFETY: three integers in `repr(C)` layout.
unsafe impl KernelArg for DelayedSum {}

impl DelayedSum {
    /// A pseudorandom number for each element.
    #[inline(always)]
    fn drawn(self, index: u64) -> u32 {
        let x = (index as u32 ^ self.seed).wrapping_mul(0x9E37_79B1);
        (x ^ x >> 15).wrapping_mul(0x85EB_CA6B)
    }
}

impl Operation for DelayedSum {
    type Element = u32;
    type Accumulator = u32;
    type Output = u32;
    const COMMUTATIVE: bool = true;
    const EXACT: bool = true;

    #[inline(always)]
    fn identity(self) -> u32 {
        0
    }

    #[inline(always)]
    fn lift(self, element: u32, index: u64) -> u32 {
        let drawn = self.drawn(index);
        if cfg!(target_arch = "nvptx64") && drawn >> 8 < (1 << 24) / self.one_in {
            time::nanosleep(drawn.wrapping_mul(0xC2B2_AE35) % self.longest);
        }
        element
    }

    #[inline(always)]
    fn combine(self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn finish(self, all: u32) -> u32 {
        all
    }
}

#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
impl grid::scan::BulkOperation<u32> for DelayedSum {}

/// Scans with [`DelayedSum`]: see [`grid::scan()`].
///
/// # Safety
///
/// The arguments and the grid satisfy the requirements of [`grid::scan()`], and no other launch
/// uses `words` or `state` until this one has ended.
#[kernel(max_threads = 256, min_blocks = 2)]
pub unsafe fn scan_delayed_sum_u32(
    input: Global<u32>,
    output: Global<u32>,
    words: Global<u64>,
    state: Global<u32>,
    rows: u32,
    group: u32,
    mode: u32,
    op: DelayedSum,
) {
    let workspace = Workspace { words, state };
    grid::scan(op, input, output, workspace, rows, group, Mode::of(mode));
}

/// Scans with [`DelayedSum`]: see [`grid::scan::scan_by_bulk`].
///
/// # Safety
///
/// The arguments and the grid satisfy the requirements of [`grid::scan::scan_by_bulk`], and no
/// other launch uses `words` or `state` until this one has ended.
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
#[kernel(max_threads = 576, min_blocks = 1)]
pub unsafe fn scan_bulk_delayed_sum_u32(
    input: Global<u32>,
    output: Global<u32>,
    words: Global<u64>,
    state: Global<u32>,
    tiles: u32,
    mode: u32,
    op: DelayedSum,
) {
    let workspace = Workspace { words, state };
    grid::scan::scan_by_bulk(op, input, output, workspace, tiles, Mode::of(mode));
}

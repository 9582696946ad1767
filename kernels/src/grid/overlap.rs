//! Kernels that overlap the one before them in the stream (compute capability 9.0; elsewhere these
//! do nothing).
//!
//! On an H200 this saves about 0.3 µs per launch in a sequence, of 1.6 µs for a small sum.

use cuda_std::prelude::*;

/// The most blocks of a grid that lets the next one start immediately. With larger grids, blocks
/// would no longer be spread evenly over the multiprocessors: 128 blocks were up to 1.4 µs slower
/// on an H200, 2026-11-25, of 4.2.
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
const FEW_BLOCKS: u32 = 32;

/// Waits until the kernel before this one has ended, if this was launched to overlap it. A small
/// grid lets the next one start first. Called by all threads before they access memory.
///
/// Loads after it must not be read-only (`.nc`): ptxas may move these before it, and they may read
/// data from before the other kernel's writes.
#[device]
pub(super) fn begin() {
    #[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
    {
        if thread::grid_dim_x() <= FEW_BLOCKS {
            cuda_std::dependent::let_next_start();
        }
        cuda_std::dependent::wait_for_previous();
    }
}

/// Lets the next kernel start, once all other blocks have called this or ended.
#[device]
pub(super) fn let_next_start() {
    #[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
    cuda_std::dependent::let_next_start();
}

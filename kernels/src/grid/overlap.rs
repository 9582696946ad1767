//! Kernels that overlap the one before them in the stream (compute capability 9.0; elsewhere these do nothing).
//!
//! A launch in a row costs about 0.3 µs less so on an H200, of 1.6 µs for a small sum.

use cuda_std::prelude::*;

/// The most blocks of a grid that lets the next one start at once. The blocks of larger ones would not be
/// spread evenly over the multiprocessors any more: 128 blocks took up to 1.4 µs longer on an H200,
/// 2026-11-25, of 4.2.
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
const FEW_BLOCKS: u32 = 32;

/// Waits until the kernel before this one has ended, if this was launched to overlap it. A small grid lets
/// the next one start first. Called by all threads before they touch memory.
///
/// Loads after it must not be read-only ones (`.nc`): ptxas may move these before it, and they may read
/// what was there before the other kernel wrote.
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

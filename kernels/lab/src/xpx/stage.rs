//! X→P→X in many launches ("multi-kernel launch"), one for each stage. The end of a launch is the
//! barrier, so no block waits for another, and a grid may have any size.

use super::each_mean;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
use cuda_std::dependent;
use cuda_std::prelude::*;

/// One stage: every element of `to` becomes the mean of all of `from`. X→P→X is one stage from X to
/// P, then one from P to X.
///
/// # Safety
///
/// `from` and `to` do not overlap; `from` has at least one element.
#[kernel]
pub unsafe fn xpx_stage(from: Global<f32>, to: Global<f32>) {
    each_mean(from, to);
}

/// Same as [`xpx_stage`], in a launch that [overlaps](dependent) the stage before: its blocks start
/// while that stage runs, and wait for its end before they access memory. Needs compute capability
/// 9.0 or higher.
///
/// # Safety
///
/// Same as for [`xpx_stage`].
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
#[kernel]
pub unsafe fn xpx_stage_overlapped(from: Global<f32>, to: Global<f32>) {
    // This is safe so early, because the next stage waits for the end of this one anyway.
    dependent::let_next_start();
    // Every thread reads what the stage before wrote, and overwrites what the stage before read.
    dependent::wait_for_previous();
    each_mean(from, to);
}

//! The position of a thread in its block.

use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// The position of a thread in its block, which extends along x only. So this reads just two
/// special registers; each such read delays the first loads of a kernel.
#[derive(Clone, Copy)]
pub(crate) struct ThreadPosition {
    pub(crate) thread: u32,
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) threads: u32,
    pub(crate) warps: u32,
}

impl ThreadPosition {
    /// The position of the calling thread.
    #[device]
    pub(crate) fn here() -> Self {
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        Self {
            thread,
            warp: thread / WARP_SIZE,
            lane: thread % WARP_SIZE,
            threads,
            warps: threads / WARP_SIZE,
        }
    }
}

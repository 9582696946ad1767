//! The position of an emulated block in its cluster, the shared memory of the other blocks, and the
//! cluster barrier.

use crate::dim::Dim3;

#[track_caller]
pub(crate) fn rank() -> u32 {
    simt::position().cluster_rank()
}

#[track_caller]
pub(crate) fn blocks() -> u32 {
    simt::position().cluster_blocks
}

#[track_caller]
pub(crate) fn idx() -> Dim3 {
    let at = simt::position();
    let simt::Dim3 { x, y, z } = at.block_idx;
    Dim3::new(x / at.cluster_blocks, y, z)
}

#[track_caller]
pub(crate) fn grid_dim() -> Dim3 {
    let at = simt::position();
    let simt::Dim3 { x, y, z } = at.grid_dim;
    Dim3::new(x / at.cluster_blocks, y, z)
}

/// The address of the `bytes` bytes at `at`, in the shared memory of block `rank`.
#[track_caller]
pub(crate) fn shared_of(at: *mut u8, bytes: usize, rank: u32) -> *mut u8 {
    simt::cluster_shared(at, bytes, rank)
}

#[track_caller]
pub(crate) fn arrive() {
    simt::cluster_arrive(simt::Order::Release);
}

#[track_caller]
pub(crate) fn arrive_relaxed() {
    simt::cluster_arrive(simt::Order::Relaxed);
}

#[track_caller]
pub(crate) fn wait() {
    simt::cluster_wait();
}

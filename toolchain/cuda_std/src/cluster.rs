//! The position of a block in its cluster, the shared memory of the other blocks, and the cluster
//! barrier. Hopper and later.
//!
//! A cluster is a few consecutive blocks that are resident together. The launch sets how many; by
//! default a cluster is one block, and everything here works for it too. The module exists on the
//! host and on sm_90 and later. Kernels that use it need
//! `cfg(any(compute_ge_90, not(target_arch = "nvptx64")))`.
//!
//! | function | called by | what it orders |
//! |---|---|---|
//! | [`rank`], [`blocks`], [`index`], [`count`], [`shared_of`] | anyone | nothing |
//! | [`sync`] | every thread of the cluster | all memory accesses, within the cluster |
//! | [`arrive`], then [`wait`] | every thread of the cluster | accesses before `arrive` against those after `wait`, within the cluster |
//! | [`arrive_relaxed`], then [`wait`] | every thread of the cluster | nothing that the caller did before it arrived |
//!
//! Every thread of every block of the cluster must arrive and wait, alternately and the same number
//! of times; a thread that has exited is not counted. The instructions are `.aligned`: all lanes of
//! a warp must reach the same call together, as for [`sync_threads`](crate::thread::sync_threads),
//! and even an arrival waits for the lanes of its warp (PTX ISA, "barrier.cluster"). A kernel in
//! which a thread skips the barrier hangs on the device; the emulator reports it. The emulator also
//! reports a wait without an arrival, and two arrivals without a wait. Both are undefined in PTX.

use crate::backend;
use crate::memory::{ClusterShared, Scalar, Shared};
use cuda_std_macros::instruction;

/// The index of this block in its cluster, 0 to [`blocks`]` - 1`: `%cluster_ctarank`.
#[instruction]
pub fn rank() -> u32 {
    backend::cluster::rank()
}

/// The number of blocks in each cluster, 1 without clusters: `%cluster_nctarank`.
#[instruction]
pub fn blocks() -> u32 {
    backend::cluster::blocks()
}

/// The linear index of this cluster in the grid, x fastest: `%clusterid` in `%nclusterid`.
#[instruction]
pub fn index() -> usize {
    backend::cluster::grid_dim().linear(backend::cluster::idx()) as usize
}

/// The number of clusters in the grid: the volume of `%nclusterid`.
#[instruction]
pub fn count() -> usize {
    backend::cluster::grid_dim().volume() as usize
}

/// The same shared variable in block `rank` of the cluster, which may be the caller's own block:
/// `mapa.shared::cluster` (`map_shared_rank` of cooperative groups, "distributed shared memory").
/// The view may be a part of a variable, but not empty; `rank` is below [`blocks`].
///
/// The other block must be running at each access through the result (CUDA C++ Programming Guide,
/// "Distributed Shared Memory"). So all threads of the cluster call [`sync`] before the first
/// access, and again after the last one, before any of them exits. Accesses are
/// `ld.shared::cluster`, `st.shared::cluster` and so on; ordered ones and atomics have cluster
/// scope, whatever scope they are given. Accesses through the [`Shared`] view itself have block
/// scope. If another block accesses the same words without a barrier in between, their owner must
/// also use `shared_of(view, rank())`.
///
/// The emulator checks bounds, unwritten words and data races as for the block's own shared memory,
/// and that the other block is running.
#[instruction]
pub fn shared_of<T: Scalar>(view: Shared<T>, rank: u32) -> ClusterShared<T> {
    let base = backend::cluster::shared_of(view.at(0), view.len() * size_of::<T>(), rank);
    // SAFETY: as many elements of the other block's memory as the view has of this block's. The
    // caller is responsible for the accesses, by the contract of the view.
    unsafe { ClusterShared::from_base(base, view.len()) }
}

/// The cluster barrier: waits for all threads of all its blocks, and makes each thread's earlier
/// memory accesses visible to all of them. The same as [`arrive`], then [`wait`] (`cluster.sync()`
/// of cooperative groups).
#[instruction]
pub fn sync() {
    arrive();
    wait();
}

/// Arrives at the cluster barrier without waiting, and releases the caller's earlier memory
/// accesses to the threads that [`wait`]: `barrier.cluster.arrive.aligned`.
///
/// The next call here must be [`wait`]. What the caller does in between is not ordered. The release
/// is not cheap: on sm_90 it is a device-wide fence in every thread (`MEMBAR.ALL.GPU`).
#[instruction]
pub fn arrive() {
    backend::cluster::arrive();
}

/// Like [`arrive`], but orders nothing that the caller did before:
/// `barrier.cluster.arrive.relaxed.aligned`.
///
/// For threads that have nothing to release, or that issue a fence first.
#[instruction]
pub fn arrive_relaxed() {
    backend::cluster::arrive_relaxed();
}

/// Waits until all threads of the cluster have arrived, and acquires what they released by
/// [`arrive`]: `barrier.cluster.wait.aligned`.
///
/// The caller must have arrived since it last waited.
#[instruction]
pub fn wait() {
    backend::cluster::wait();
}

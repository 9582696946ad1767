//! Barriers of the whole grid, or of some of its blocks. The README beside this file tells the
//! protocol of each.
//!
//! All blocks that take part must be co-resident: launch kernels that hold a barrier cooperatively
//! (`#[kernel(cooperative)]`), or they may wait for blocks that cannot start before they end.
//!
//! | design | file | seed row |
//! |---|---|---|
//! | [`GridBarrier`], the one to take | `grid.rs` | |
//! | [`SeedBarrier`], wrong, for show | `seed.rs` | R4 |
//! | [`GenerationBarrier`], the same repaired | `generation.rs` | R4 |
//! | [`GrowingBarrier`], with each form of spin | `growing.rs` | R9, R5 |
//! | [`LockFreeBarrier`] | `lock_free.rs` | R10 |
//! | [`FlipBarrier`], as cooperative groups do it | `flip.rs` | |
//! | [`PhaseBarrier`], the same without a returned value | `phase.rs` | |
//! | [`SplitBarrier`], [`LateBarrier`] | `split.rs` | |
//! | [`ReleaseBarrier`] | `release.rs` | |
//! | [`TreeBarrier`] | `tree.rs` | |
//! | `ClusterBarrier`, from compute capability 9.0 | `cluster.rs` | |
//!
//! [`Exchange`] is a barrier that carries a value per block; [`BoundedBarrier`] one that gives up
//! and says who is missing.

mod bounded;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
mod cluster;
mod exchange;
mod flip;
mod generation;
mod grid;
mod growing;
mod lock_free;
mod look;
mod members;
mod phase;
mod release;
mod seed;
mod split;
mod tree;

use cuda_std::device;
use cuda_std::memory::Global;

#[cfg(not(target_arch = "nvptx64"))]
pub use bounded::Missing;
pub use bounded::{BoundedBarrier, Expired};
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub use cluster::ClusterBarrier;
pub use exchange::Exchange;
pub use flip::FlipBarrier;
pub use generation::GenerationBarrier;
pub use grid::GridBarrier;
pub use growing::GrowingBarrier;
pub use lock_free::LockFreeBarrier;
pub use look::{Acquire, Look, Ptx, Volatile};
pub use members::Members;
pub use phase::PhaseBarrier;
pub use release::ReleaseBarrier;
pub use seed::SeedBarrier;
pub use split::{LateBarrier, SplitBarrier};
pub use tree::TreeBarrier;

/// What the barriers are called in messages of the emulator.
const NAME: &str = "the grid barrier";

/// Words from one counter to the next where each is to have lines of the L2 to itself: 256 bytes.
const STRIDE: usize = 64;

/// A barrier of the whole grid, or of some of its blocks.
///
/// Every thread of every block that takes part calls each function the same number of times. What
/// any thread did in memory before [`arrive`](Self::arrive) is visible to every thread after
/// [`wait`](Self::wait): the pair is a release and an acquire at device scope. Between the two a
/// block may do other work, which is ordered with nobody.
pub trait Barrier: Sized {
    /// How many words of device memory the barrier of up to `blocks` blocks lives in.
    ///
    /// They are 0 before its first use, and then belong to one launch at a time; any grids of up
    /// to so many blocks may use them one after another, and a graph may replay those launches.
    /// Only after a launch that was stopped by a fault must they be zeroed again.
    fn words(blocks: usize) -> usize;

    /// Attaches to the barrier of `members` in `state`, which has the [`words`](Self::words).
    ///
    /// Called by every thread of each block that takes part, before the block first arrives. A block
    /// that is not between arriving and waiting may attach again; from then on it uses the new one only.
    fn attach_among(state: Global<u32>, members: Members) -> Self;

    /// Attaches to the barrier of the whole grid in `state`, as
    /// [`attach_among`](Self::attach_among) does.
    ///
    /// Called by every thread of the grid, before its block first arrives.
    #[device]
    fn attach(state: Global<u32>) -> Self {
        Self::attach_among(state, Members::grid())
    }

    /// Says that the block has arrived. Waits for the threads of the block, not for other blocks.
    fn arrive(&mut self);

    /// Waits until all blocks have arrived.
    fn wait(&mut self);

    /// Arrives and waits.
    #[device]
    fn sync(&mut self) {
        self.arrive();
        self.wait();
    }
}

//! Barriers of the whole grid, or of some of its blocks. The README in this folder documents the
//! protocol of each.
//!
//! All blocks that take part must be co-resident. Launch kernels with a barrier cooperatively
//! (`#[kernel(cooperative)]`), or they may wait for blocks that cannot start before they end.
//!
//! [`GridBarrier`] is the one to use. It picks [`LateBarrier`] or [`SplitBarrier`] for the grid.
//! The designs that it was chosen from are in the package `gridsync-lab-kernels`.
//!
//! [`Exchange`] is a barrier that carries a value per block, for collectives of the whole grid.
//! [`BoundedBarrier`] gives up after a time limit and reports the missing blocks.
//! [`SystemBarrier`], [`SystemExchange`] and [`BoundedSystemBarrier`] are the same across all
//! blocks of several GPUs.

mod bounded;
mod exchange;
mod grid;
mod members;
mod split;
mod system;

use cuda_std::device;
use cuda_std::memory::Global;

#[cfg(not(target_arch = "nvptx64"))]
pub use bounded::Missing;
pub use bounded::{BoundedBarrier, Expired};
pub use exchange::{Arrival, Exchange, Gathered, Prefix};
pub use grid::GridBarrier;
pub use members::Members;
pub use split::{LateBarrier, SplitBarrier};
#[cfg(not(target_arch = "nvptx64"))]
pub use system::{Absent, SystemMissing};
pub use system::{AcrossGpus, BoundedSystemBarrier, SystemBarrier, SystemExchange};

pub use super::peers::MOST_GPUS;
#[cfg(not(target_arch = "nvptx64"))]
pub use super::peers::head;

/// The name of the barriers in messages of the emulator.
pub const NAME: &str = "the grid barrier";

/// The distance in words between counters that must not share lines of the L2: 256 bytes.
pub const STRIDE: usize = 64;

/// A barrier of the whole grid, or of some of its blocks.
///
/// Every thread of every block that takes part calls each function the same number of times. Memory
/// accesses of any thread before [`arrive`](Self::arrive) are visible to every thread after
/// [`wait`](Self::wait): the pair is a release and an acquire at device scope. Between the two a
/// block may do other work, which the barrier does not order.
pub trait Barrier: Sized {
    /// The number of words of device memory for a barrier of up to `blocks` blocks.
    ///
    /// They are 0 before the first use. Only one launch may use them at a time. Grids of up to
    /// `blocks` blocks may use them in sequence, and a graph may replay these launches. They must
    /// be zeroed again only after a fault has stopped a launch.
    fn words(blocks: usize) -> usize;

    /// Attaches to the barrier of `members` in `state`, which has the [`words`](Self::words).
    ///
    /// Called by every thread of each block that takes part, before the block first arrives. It may
    /// attach again, except between arrive and wait, and then uses only the new barrier.
    fn attach_among(state: Global<u32>, members: Members) -> Self;

    /// Attaches to the barrier of the whole grid in `state`, as
    /// [`attach_among`](Self::attach_among) does.
    ///
    /// Called by every thread of the grid, before its block first arrives.
    #[device]
    fn attach(state: Global<u32>) -> Self {
        Self::attach_among(state, Members::grid())
    }

    /// Arrives. Waits for the threads of this block, but not for other blocks.
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

//! Barriers of the whole grid. The README beside this file tells the protocol.
//!
//! All blocks must be co-resident: launch kernels that hold a barrier cooperatively
//! (`#[kernel(cooperative)]`), or they may wait for blocks that cannot start before they end.

mod phase;
mod split;

use cuda_std::memory::Global;

pub use phase::PhaseBarrier;
pub use split::SplitBarrier;

/// The barrier to take: the fastest of the designs at every grid that was measured.
pub type GridBarrier = SplitBarrier;

/// A barrier of the whole grid.
///
/// Every thread of every block calls each function the same number of times. What any thread did in
/// memory before [`arrive`](Self::arrive) is visible to every thread after
/// [`wait`](Self::wait): the pair is a release and an acquire at device scope.
pub trait Barrier {
    /// How many words of device memory the barrier lives in. They are 0 before its first use, and
    /// then belong to one launch at a time; any grids may use them one after another. Only after a
    /// launch that was stopped by a fault must they be zeroed again.
    const WORDS: usize;

    /// Attaches to the barrier in `state`, which has [`WORDS`](Self::WORDS) words.
    ///
    /// Called by every thread of the grid, before its block first arrives.
    fn attach(state: Global<u32>) -> Self;

    /// Says that the block has arrived. Waits for the threads of the block, not for other blocks.
    fn arrive(&mut self);

    /// Waits until all blocks have arrived.
    fn wait(&mut self);

    /// Arrives and waits.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sync(&mut self) {
        self.arrive();
        self.wait();
    }
}

//! Barriers of the whole grid. The README beside this file tells the protocol.
//!
//! All blocks must be co-resident: launch kernels that hold a barrier cooperatively
//! (`#[kernel(cooperative)]`), or they may wait for blocks that cannot start before they end.

mod phase;

pub use phase::PhaseBarrier;

/// A barrier of the whole grid.
///
/// Every thread of every block calls each function the same number of times. What any thread did in
/// memory before [`arrive`](Self::arrive) is visible to every thread after
/// [`wait`](Self::wait): the pair is a release and an acquire at device scope.
pub trait Barrier {
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

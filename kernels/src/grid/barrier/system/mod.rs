//! The barrier and the exchange over all blocks of several GPUs.
//!
//! Each GPU has words of its own, and an **inbox** among them: a place for what each GPU sends. What the blocks of
//! one GPU have done together is sent to the inboxes of all GPUs, by stores into the memory of the other GPUs. And
//! every block looks only into the inbox of its own GPU, which is in its own L2.
//!
//! The words begin with what a block has to know: the GPUs, and where the words of each are. [`head`] writes it, on
//! the host. So a kernel takes only the words of its GPU.

mod barrier;
mod bounded;
mod exchange;

pub use barrier::SystemBarrier;
pub use bounded::BoundedSystemBarrier;
#[cfg(not(target_arch = "nvptx64"))]
pub use bounded::{Absent, SystemMissing};
pub use exchange::SystemExchange;

/// What a kernel can use over all blocks of several GPUs.
///
/// On each GPU the same kernel runs in the same number of blocks of the same size, all of them resident, and each
/// has the words of its own GPU.
pub trait AcrossGpus {
    /// The number of words of device memory on each GPU, for up to `blocks` blocks a GPU.
    ///
    /// They begin with the [`head`](super::head), and are 0 after it before the first use. The same GPUs use them each time, and
    /// every block of every GPU crosses as often as the others. They belong to one launch on all GPUs at a time.
    /// Launches of up to `blocks` blocks may use them one after another. They must be made again only after a fault has
    /// stopped a launch.
    fn words(blocks: usize) -> usize;
}

//! The barrier and the exchange across all blocks of several GPUs.
//!
//! Each GPU has separate words, and an **inbox** among them, with a slot for each GPU's messages.
//! The combined result of one GPU's blocks is sent to the inboxes of all GPUs, by stores into the
//! memory of the other GPUs. And every block polls only its GPU's inbox, in that GPU's L2.
//!
//! The words begin with the information that a block needs: the GPUs, and the address of each one's
//! words. [`head`] creates it, on the host. So a kernel needs only the words of its GPU.

mod barrier;
mod bounded;
mod exchange;

pub use barrier::SystemBarrier;
pub use bounded::BoundedSystemBarrier;
#[cfg(not(target_arch = "nvptx64"))]
pub use bounded::{Absent, SystemMissing};
pub use exchange::SystemExchange;

/// A primitive that a kernel can use across all blocks of several GPUs.
///
/// On each GPU the same kernel runs with the same number of blocks of the same size, all of them
/// resident, and uses its GPU's words.
pub trait AcrossGpus {
    /// The number of words of device memory on each GPU, for up to `blocks` blocks a GPU.
    ///
    /// They begin with the [`head`](super::head), and are 0 after it before the first use. The same
    /// GPUs use them each time, and every block of every GPU crosses as often as the others. Only
    /// one launch on all GPUs may use them at a time. Launches of up to `blocks` blocks may use
    /// them in sequence. They must be made again only after a fault has stopped a launch.
    fn words(blocks: usize) -> usize;
}

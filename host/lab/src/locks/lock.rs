//! The locks, and the grids that contend for them.

use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_kernels::grid::lock::{QueueLock, SpinLock, TicketLock};
use gridsync_lab_kernels::locks::{
    locks_queue_count, locks_queue_push, locks_spin_count, locks_spin_push, locks_textbook_count,
    locks_textbook_push, locks_ticket_count, locks_ticket_push, locks_warp_count, locks_warp_push,
};
use std::fmt;

/// Lock, counter or head, counts or nodes, threads that gave up, sections, patience.
type Args = (Global<u32>, Global<u32>, Global<u32>, Global<u32>, u32, u64);

pub(super) type Launch = unsafe fn(&Device, &Geometry, Args) -> Result<(), DeviceError>;

/// A tested lock.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// Name.
    pub name: &'static str,
    /// Short description.
    pub how: &'static str,
    /// Number of words for a grid of this many threads.
    pub(super) words: fn(usize) -> usize,
    pub(super) count: Launch,
    pub(super) push: Launch,
}

impl Tried {
    const fn of<C: Kernel<Args = Args>, P: Kernel<Args = Args>>(
        name: &'static str,
        how: &'static str,
        words: fn(usize) -> usize,
    ) -> Self {
        Self { name, how, words, count: Device::launch::<C>, push: Device::launch::<P> }
    }
}

/// The locks, in the order of the tables.
pub const LOCKS: [Tried; 5] = [
    Tried::of::<locks_textbook_count, locks_textbook_push>(
        "textbook",
        "compare and swap until it works, fences, exchange",
        |_| 1,
    ),
    Tried::of::<locks_spin_count, locks_spin_push>(
        "backoff",
        "the same with looks, and longer and longer sleeps between them",
        |_| SpinLock::words(),
    ),
    Tried::of::<locks_ticket_count, locks_ticket_push>(
        "ticket",
        "draw a number, wait until it is served",
        |_| TicketLock::words(),
    ),
    Tried::of::<locks_queue_count, locks_queue_push>(
        "queue",
        "line up, each thread waits at a line of its own",
        QueueLock::words,
    ),
    Tried::of::<locks_warp_count, locks_warp_push>(
        "by warp",
        "backoff; one lane takes the lock for its warp",
        |_| SpinLock::words(),
    ),
];

/// The contending threads: all threads of a grid along x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks.
    pub blocks: u32,
    /// Threads of each block.
    pub threads: u32,
}

impl Grid {
    /// All threads.
    #[must_use]
    pub const fn contenders(self) -> usize {
        self.blocks as usize * self.threads as usize
    }
}

impl fmt::Display for Grid {
    /// `3 blocks of 33 threads`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { blocks, threads } = self;
        write!(f, "{blocks} blocks of {threads} threads")
    }
}

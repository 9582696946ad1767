//! The reach of scopes in a launch (PTX ISA, "Scope").

use crate::access::{Access, AccessKind, Order, Scope};

/// Levels at which threads of a launch can be in the same group, from near to far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Level {
    Block,
    Cluster,
    Device,
    System,
}

impl Level {
    /// From near to far, so that a level is an index into an array of [`LEVELS`].
    const ALL: [Self; LEVELS] = [Self::Block, Self::Cluster, Self::Device, Self::System];

    pub(super) fn of(scope: Scope) -> Self {
        match scope {
            Scope::Block => Self::Block,
            Scope::Cluster => Self::Cluster,
            Scope::Device => Self::Device,
            Scope::System => Self::System,
        }
    }
}

/// Number of levels.
pub(super) const LEVELS: usize = 4;

/// How threads, by their numbers in the launch, form blocks, clusters and grids.
#[derive(Debug)]
pub(crate) struct Shape {
    block_threads: u32,
    cluster_blocks: u32,
    /// Threads of each GPU's grid.
    grid_threads: u32,
    /// Threads of all grids. Higher numbers are bulk copies.
    pub(super) threads: u32,
    /// The thread that each copy belongs to, and whether it is a bulk copy.
    pub(super) copies: Vec<(u32, bool)>,
    /// The level that includes all threads.
    pub(super) widest: Level,
}

impl Shape {
    /// A grid of `grid_threads` threads on each of `gpus` GPUs, in blocks of `block_threads` and
    /// clusters of `cluster_blocks`. The launch has checked that there are not too many threads.
    pub(crate) fn new(
        gpus: usize,
        grid_threads: u64,
        block_threads: u64,
        cluster_blocks: u32,
    ) -> Self {
        let grid_threads = grid_threads as u32;
        Self {
            block_threads: block_threads as u32,
            cluster_blocks,
            grid_threads,
            threads: grid_threads * gpus as u32,
            copies: Vec::new(),
            widest: if gpus > 1 { Level::System } else { Level::Device },
        }
    }

    /// Whether this number is a copy.
    pub(super) fn is_copy(&self, thread: u32) -> bool {
        thread >= self.threads
    }

    /// Whether this number is a bulk copy.
    pub(super) fn is_bulk(&self, thread: u32) -> bool {
        let copy = thread.checked_sub(self.threads);
        copy.is_some_and(|copy| self.copies[copy as usize].1)
    }

    /// The thread behind a number: itself, or the thread that requested the copy.
    pub(super) fn owner(&self, thread: u32) -> u32 {
        match thread.checked_sub(self.threads) {
            None => thread,
            Some(copy) => self.copies[copy as usize].0,
        }
    }

    /// The number of the thread's group at a level.
    pub(super) fn group(&self, level: Level, thread: u32) -> u32 {
        match level {
            Level::Block => self.owner(thread) / self.block_threads,
            Level::Cluster => self.group(Level::Block, thread) / self.cluster_blocks,
            Level::Device => self.owner(thread) / self.grid_threads,
            Level::System => 0,
        }
    }

    /// The nearest level that includes both threads. A scope includes the other thread if it
    /// reaches at least as far.
    pub(super) fn between(&self, a: u32, b: u32) -> Level {
        let shared = |level: &Level| self.group(*level, a) == self.group(*level, b);
        Level::ALL.into_iter().find(shared).unwrap_or(Level::System)
    }
}

impl Order {
    pub(super) fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    pub(super) fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

impl Access {
    pub(super) fn reads(self) -> bool {
        self.kind != AccessKind::Write
    }

    pub(super) fn writes(self) -> bool {
        self.kind != AccessKind::Read
    }

    /// The reach of a strong access; `None` for a weak one (PTX ISA, "Operation Types"). An atomic
    /// is always strong.
    pub(super) fn reach(self) -> Option<Level> {
        match (self.order, self.kind) {
            (Order::Weak, AccessKind::Read | AccessKind::Write) => None,
            (Order::Volatile, _) => Some(Level::System),
            _ => Some(Level::of(self.scope)),
        }
    }
}

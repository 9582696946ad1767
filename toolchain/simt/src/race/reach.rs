//! How far a scope reaches in a grid (PTX ISA, "Scope").

use crate::access::{Access, AccessKind, Order, Scope};

/// What threads of a grid have in common, from near to far. Scopes are reduced to these levels.
/// There is one device, so system scope reaches no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Level {
    Block,
    Cluster,
    Device,
}

impl Level {
    /// From near to far, so that a level is an index into an array of three.
    pub(super) const ALL: [Self; 3] = [Self::Block, Self::Cluster, Self::Device];

    pub(super) fn of(scope: Scope) -> Self {
        match scope {
            Scope::Block => Self::Block,
            Scope::Cluster => Self::Cluster,
            Scope::Device | Scope::System => Self::Device,
        }
    }
}

/// How threads, by their numbers in the grid, form blocks and clusters.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) block_threads: u32,
    pub(super) cluster_blocks: u32,
    /// Threads of the grid. Higher numbers are bulk copies.
    pub(super) threads: u32,
    /// The thread that each copy belongs to.
    pub(super) copies: Vec<u32>,
}

impl Shape {
    /// Whether this number is a bulk copy.
    pub(super) fn is_copy(&self, thread: u32) -> bool {
        thread >= self.threads
    }

    /// The thread that a number stands for: itself, or the one that asked for the copy.
    pub(super) fn owner(&self, thread: u32) -> u32 {
        match thread.checked_sub(self.threads) {
            None => thread,
            Some(copy) => self.copies[copy as usize],
        }
    }

    /// The number of the thread's group at a level.
    pub(super) fn group(&self, level: Level, thread: u32) -> u32 {
        match level {
            Level::Block => self.owner(thread) / self.block_threads,
            Level::Cluster => self.group(Level::Block, thread) / self.cluster_blocks,
            Level::Device => 0,
        }
    }

    /// The nearest level that two threads share. A scope includes the other thread if it reaches at
    /// least as far.
    pub(super) fn between(&self, a: u32, b: u32) -> Level {
        let shared = |level: &Level| self.group(*level, a) == self.group(*level, b);
        Level::ALL.into_iter().find(shared).unwrap_or(Level::Device)
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

    /// How far a strong access reaches; none for a weak one (PTX ISA, "Operation Types"). An atomic
    /// is always strong.
    pub(super) fn reach(self) -> Option<Level> {
        match (self.order, self.kind) {
            (Order::Weak, AccessKind::Read | AccessKind::Write) => None,
            (Order::Volatile, _) => Some(Level::Device),
            _ => Some(Level::of(self.scope)),
        }
    }
}

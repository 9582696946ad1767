//! The reach of scopes in a launch (PTX ISA, "Scope").

use crate::access::{Access, AccessKind, Order, Scope};
use crate::grid::GridInfo;
use core::ops::Range;

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

/// A group of threads at a level, by its number.
pub(super) type Group = (Level, u32);

/// Number of levels.
pub(super) const LEVELS: usize = 4;

/// How threads, by their numbers in the launch, form blocks, clusters and grids.
#[derive(Debug)]
pub(crate) struct Shape {
    /// In the order of their threads.
    grids: Vec<GridShape>,
    /// Threads of all grids. Higher numbers are bulk copies.
    pub(super) threads: u32,
    /// The thread that each copy belongs to, and whether it is a bulk copy.
    pub(super) copies: Vec<(u32, bool)>,
    /// The level that includes all threads.
    pub(super) widest: Level,
}

/// The threads of one grid.
#[derive(Debug)]
struct GridShape {
    first: u32,
    block_threads: u32,
    cluster_threads: u32,
    gpu: u32,
    /// The grids that it may overlap although it depends on them.
    overlaps: Vec<usize>,
}

impl Shape {
    /// The grids of a launch. The launch has checked that there are not too many threads.
    pub(crate) fn new(grids: &[GridInfo]) -> Self {
        let gpu = grids[0].gpu;
        let is_one = grids.iter().all(|grid| grid.gpu == gpu);
        let shape = |grid: &GridInfo| GridShape {
            first: grid.threads().start,
            block_threads: grid.block.count() as u32,
            cluster_threads: grid.block.count() as u32 * grid.cluster,
            gpu: grid.gpu,
            overlaps: grid.overlaps.clone(),
        };
        Self {
            threads: grids.last().map_or(0, |grid| grid.threads().end),
            grids: grids.iter().map(shape).collect(),
            copies: Vec::new(),
            widest: if is_one { Level::Device } else { Level::System },
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

    /// Number of grids.
    pub(super) fn grids(&self) -> usize {
        self.grids.len()
    }

    /// Whether one of two grids may overlap the other although it depends on it.
    pub(super) fn overlap(&self, a: usize, b: usize) -> bool {
        self.grids[a].overlaps.contains(&b) || self.grids[b].overlaps.contains(&a)
    }

    pub(super) fn are_on_one_gpu(&self, a: usize, b: usize) -> bool {
        self.grids[a].gpu == self.grids[b].gpu
    }

    /// The threads of a grid.
    pub(super) fn threads_of(&self, grid: usize) -> Range<u32> {
        let end = self.grids.get(grid + 1).map_or(self.threads, |next| next.first);
        self.grids[grid].first..end
    }

    /// The number of a thread's grid.
    pub(super) fn grid(&self, thread: u32) -> usize {
        let thread = self.owner(thread);
        self.grids.iter().rposition(|grid| grid.first <= thread).unwrap_or(0)
    }

    /// The number of the thread's group at a level: that of its first thread, or its GPU.
    pub(super) fn group(&self, level: Level, thread: u32) -> u32 {
        let grid = &self.grids[self.grid(thread)];
        let own = self.owner(thread) - grid.first;
        match level {
            Level::Block => grid.first + own - own % grid.block_threads,
            Level::Cluster => grid.first + own - own % grid.cluster_threads,
            Level::Device => grid.gpu,
            Level::System => 0,
        }
    }

    /// The thread's groups at the levels up to `reach` that differ. So two scopes include each
    /// other's thread if they have a group in common.
    pub(super) fn groups(&self, reach: Level, thread: u32) -> impl Iterator<Item = Group> {
        let grid = &self.grids[self.grid(thread)];
        let has_clusters = grid.cluster_threads > grid.block_threads;
        let differs = move |level: &Level| match level {
            Level::Block => true,
            Level::Cluster => has_clusters,
            Level::Device | Level::System => *level <= self.widest,
        };
        let levels = Level::ALL.into_iter().take_while(move |level| *level <= reach);
        levels.filter(differs).map(move |level| (level, self.group(level, thread)))
    }

    /// The nearest level that includes both threads. A scope includes the other thread if it
    /// reaches at least as far.
    pub(super) fn between(&self, a: u32, b: u32) -> Level {
        let [a, b] = [a, b].map(|thread| self.owner(thread));
        let [grid, other] = [a, b].map(|thread| self.grid(thread));
        if grid != other {
            return if self.are_on_one_gpu(grid, other) { Level::Device } else { Level::System };
        }
        let grid = &self.grids[grid];
        let [a, b] = [a - grid.first, b - grid.first];
        if a / grid.block_threads == b / grid.block_threads {
            Level::Block
        } else if a / grid.cluster_threads == b / grid.cluster_threads {
            Level::Cluster
        } else {
            Level::Device
        }
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

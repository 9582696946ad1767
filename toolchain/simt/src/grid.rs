//! The grids of a launch: their shapes, their numbers, and which of them wait for which.

use core::cell::Cell;
use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use crate::dim::{Dim3, Position, WARP_LANES};
use crate::launch::LaunchConfig;

/// A grid of a launch of several: see [`launch_grids`](crate::launch_grids).
#[derive(Clone, Copy)]
pub struct Grid<'a> {
    /// Its kernel, shape and resources. The first grid's schedule, checks and limits hold for the
    /// whole launch.
    pub config: LaunchConfig<'a>,
    /// The GPU that runs it.
    pub gpu: u32,
    /// The earlier grids that it depends on.
    pub after: &'a [After],
    /// Names of kernel arguments that are views of allocations, for messages: see
    /// [`Memory::name_arguments`](crate::Memory::name_arguments).
    pub names: &'a [(u64, &'static str)],
    /// One thread.
    pub body: &'a dyn Fn(),
}

/// Dependency of a grid on an earlier one, by its index in the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum After {
    /// The grid starts when the other one has ended, and everything that the other did comes before
    /// it: a launch into the same stream, or an event.
    End(usize),
    /// The grid may start when every block of the other one has called
    /// [`launch_dependents`](crate::launch_dependents) or ended: programmatic dependent launch. Only
    /// [`dependency_wait`](crate::dependency_wait) orders anything after what the other grid does.
    Trigger(usize),
}

impl fmt::Debug for Grid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, gpu, after, .. } = self;
        write!(f, "Grid({}, {} blocks, GPU {gpu}, after {after:?})", config.kernel, config.grid)
    }
}

/// A grid that runs.
#[derive(Debug)]
pub(crate) struct GridInfo {
    pub(crate) kernel: Arc<str>,
    pub(crate) gpu: u32,
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    /// Blocks per cluster.
    pub(crate) cluster: u32,
    pub(crate) dynamic_shared: usize,
    pub(crate) shared_per_block: usize,
    pub(crate) multiprocessors: u32,
    /// Whether the launch guarantees that all blocks are resident at once.
    pub(crate) cooperative: bool,
    pub(crate) max_resident_blocks: Option<u32>,
    /// The numbers of its first block and of its first thread among those of all grids.
    pub(crate) first_block: u64,
    first_thread: u64,
    /// The grids that must have ended before it starts, and those that it may overlap.
    pub(crate) after: Vec<usize>,
    pub(crate) overlaps: Vec<usize>,
    /// Whether another grid waits for its end, and whether one may overlap it.
    pub(crate) is_awaited: bool,
    pub(crate) is_overlapped: bool,
    /// Blocks that have not ended, and those that have neither ended nor let dependents start.
    left: Cell<u64>,
    untriggered: Cell<u64>,
    /// Whether one of its blocks may run.
    has_begun: Cell<bool>,
}

impl GridInfo {
    /// The grids of a launch, with the dependencies among them: each grid with the indices of those
    /// that it waits for and of those that it overlaps.
    pub(crate) fn all<'a>(grids: &[(Grid<'a>, Vec<usize>, Vec<usize>)]) -> Vec<Self> {
        let (mut first_block, mut first_thread) = (0, 0);
        let mut all: Vec<Self> = Vec::with_capacity(grids.len());
        for (number, (grid, after, overlaps)) in grids.iter().enumerate() {
            let config = &grid.config;
            let (blocks, threads) = (config.grid.count(), config.block.count());
            let is_same = |it: &&(Grid<'a>, _, _)| it.0.config.kernel == config.kernel;
            // Two grids of one kernel need names.
            let of_gpu = grids.iter().filter(|it| it.0.gpu == grid.gpu);
            let kernel = if of_gpu.filter(is_same).count() > 1 {
                Arc::from(format!("{} (grid {number})", config.kernel))
            } else {
                Arc::from(config.kernel)
            };
            for &other in after {
                all[other].is_awaited = true;
            }
            for &other in overlaps {
                (all[other].is_awaited, all[other].is_overlapped) = (true, true);
            }
            all.push(Self {
                kernel,
                gpu: grid.gpu,
                grid: config.grid,
                block: config.block,
                cluster: config.cluster.unwrap_or(1),
                dynamic_shared: config.dynamic_shared,
                shared_per_block: config.shared_per_block,
                multiprocessors: config.multiprocessors,
                cooperative: config.cooperative,
                max_resident_blocks: config.max_resident_blocks,
                first_block,
                first_thread,
                after: after.clone(),
                overlaps: overlaps.clone(),
                is_awaited: false,
                is_overlapped: false,
                left: Cell::new(blocks),
                untriggered: Cell::new(blocks),
                has_begun: Cell::new(false),
            });
            first_block += blocks;
            first_thread += blocks * threads;
        }
        all
    }

    /// The number of the first thread of the block with this number, among those of all grids. Only
    /// for race detection, where the number of threads is limited.
    pub(crate) fn first_thread_of(&self, block: u64) -> u32 {
        (self.first_thread + (block - self.first_block) * self.block.count()) as u32
    }

    /// The numbers of its threads. Only for race detection.
    pub(crate) fn threads(&self) -> Range<u32> {
        let first = self.first_thread as u32;
        first..first + (self.grid.count() * self.block.count()) as u32
    }

    /// The number of a thread.
    pub(crate) fn thread_number(&self, at: &Position) -> u32 {
        self.first_thread_of(at.block_number()) + at.linear_thread()
    }

    pub(crate) fn warps_per_block(&self) -> usize {
        self.block.count().div_ceil(WARP_LANES.into()) as usize
    }

    /// Whether a block may wait for another one that cannot start.
    pub(crate) fn may_wait_early(&self) -> bool {
        !self.cooperative && self.grid.count() > self.cluster.into()
    }

    /// A block may run.
    pub(crate) fn begin(&self) -> bool {
        !self.has_begun.replace(true)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.has_begun.get() && !self.has_ended()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.left.get() == 0
    }

    /// Whether every block has let dependent grids start, or has ended.
    pub(crate) fn lets_start(&self) -> bool {
        self.untriggered.get() == 0
    }

    /// A block lets dependent grids start, for the first time. Returns whether it is the last.
    pub(crate) fn trigger(&self) -> bool {
        self.untriggered.set(self.untriggered.get() - 1);
        self.lets_start()
    }

    /// A block has ended. Returns whether it is the last.
    pub(crate) fn end_block(&self) -> bool {
        self.left.set(self.left.get() - 1);
        self.has_ended()
    }
}

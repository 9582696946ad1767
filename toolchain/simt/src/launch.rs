//! The parameters and results of a launch.

use core::ops::AddAssign;
use std::sync::Arc;

use crate::children::Child;
use crate::count::Counts;
use crate::dim::{Dim3, WARP_LANES};
use crate::early::EarlyWait;
use crate::fault::Fault;
use crate::grid::Grid;
use crate::grids::launch_grids;
use crate::memory::Memory;
use crate::race::MAX_THREADS;
use crate::schedule::Schedule;
use crate::weaken::{Sites, Weaken};
use crate::world::mix;

/// Maximum threads per block (CUDA C++ Programming Guide, "Compute Capabilities").
const MAX_BLOCK_THREADS: u64 = 1024;

/// Default stack size of a thread.
// Without optimisation the reductions, scans and selections of gridsync need up to 96 KiB (rustc
// 1.95, x86-64, 2026-11-22), and a kernel around them needs more.
const STACK_BYTES: usize = if cfg!(debug_assertions) { 256 << 10 } else { 64 << 10 };

/// A launch: geometry, resources, schedule, and how long to wait for a change.
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig<'a> {
    /// The kernel's name, for messages.
    pub kernel: &'a str,
    /// Blocks of the grid.
    pub grid: Dim3,
    /// Threads of each block, at most 1024.
    pub block: Dim3,
    /// Consecutive blocks in x that form a cluster. The grid's `x` must be a multiple. `None`: each
    /// block is a separate cluster.
    pub cluster: Option<u32>,
    /// Dynamic shared memory of each block, in bytes.
    pub dynamic_shared: usize,
    /// Limit on a block's static plus dynamic shared memory, in bytes. Default: 48 KiB, which every
    /// CUDA device provides without an opt-in.
    pub shared_per_block: usize,
    /// Refuse the launch unless all blocks can be resident at once, as
    /// `cuLaunchCooperativeKernel` does.
    pub cooperative: bool,
    /// Blocks resident at once; the next one starts when one has exited. `None`: all. Clusters are
    /// resident as a whole: the next one starts when all blocks of one have exited. Fewer blocks
    /// than a cluster, including 0, count as one cluster, or as one block without clusters. A grid
    /// that a kernel launches has room for as many warps as these blocks have. Several grids at once
    /// ([`launch_grids`](crate::launch_grids)) share this room.
    pub max_resident_blocks: Option<u32>,
    /// The number of multiprocessors reported to kernels. Default: 1.
    pub multiprocessors: u32,
    /// Which warp steps when.
    pub schedule: Schedule,
    /// Stack of each thread in bytes. 24 KiB of it are reserved to detect an overflow and to
    /// unwind. Default: 64 KiB, or 256 KiB in builds with debug assertions, which are usually not
    /// optimised. The minimum is 32 KiB, and more if memory pages are larger than 4 KiB.
    pub stack_bytes: usize,
    /// The launch is deadlocked after this many rounds of pure spinning without a change of memory.
    /// Default: 64. Below about 40, the clock's leaps may not reach a kernel's own timeout.
    pub patience: u32,
    /// The launch is stopped after this many warp steps. Under
    /// [`Policy::Coarse`](crate::Policy::Coarse) accesses count too. Default: 2^34, about half an
    /// hour.
    pub step_limit: u64,
    /// Whether to count what warps do ([`Stats::counts`]). Accesses and marked branches are then
    /// scheduling points under [`Policy::Coarse`](crate::Policy::Coarse) too, because counting needs
    /// lanes in lockstep.
    /// Default: no.
    pub count: bool,
    /// Whether to check for data races, in a launch of at most 2^17 threads. The launch fails with
    /// [`Fault::Race`] at the first one. Default: no, because an access then takes about twice as
    /// long.
    pub races: bool,
    /// Whether a read of bytes that were never written returns zeros instead of being a fault. A
    /// thread that reads too early then shows as a race with the write. Default: no.
    pub zeroed: bool,
    /// Whether memory is weak, in a launch of at most 2^17 threads: within what PTX's memory model
    /// allows, a read may return an older value, and a write may be placed before another write to
    /// its location. The schedule's seed chooses. Default: no.
    pub weak_memory: bool,
    /// Records the places in the kernel that order memory or wait. Default: none.
    pub sites: Option<&'a Sites>,
    /// Makes one of these places weaker than written. Default: none.
    pub weaken: Option<Weaken>,
}

impl<'a> LaunchConfig<'a> {
    /// A launch with the defaults: no dynamic shared memory, all blocks resident, round robin.
    pub fn new(kernel: &'a str, grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self {
            kernel,
            grid: grid.into(),
            block: block.into(),
            cluster: None,
            dynamic_shared: 0,
            shared_per_block: 48 << 10,
            cooperative: false,
            max_resident_blocks: None,
            multiprocessors: 1,
            schedule: Schedule::default(),
            stack_bytes: STACK_BYTES,
            patience: 64,
            step_limit: 1 << 34,
            count: false,
            races: false,
            zeroed: false,
            weak_memory: false,
            sites: None,
            weaken: None,
        }
    }

    /// Blocks of a cluster.
    pub(crate) fn cluster_blocks(&self) -> u32 {
        self.cluster.unwrap_or(1)
    }

    /// The configuration for a grid launched by this one.
    pub(crate) fn of_child(&self, child: &Child) -> Self {
        let warps = |block: Dim3| block.count().div_ceil(WARP_LANES.into());
        let resident = |blocks: u32| {
            let blocks = u64::from(blocks.max(1)) * warps(self.block) / warps(child.block);
            blocks.clamp(1, u32::MAX.into()) as u32
        };
        Self {
            kernel: child.kernel,
            grid: child.grid,
            block: child.block,
            cluster: None,
            dynamic_shared: child.dynamic_shared,
            cooperative: false,
            max_resident_blocks: self.max_resident_blocks.map(resident),
            ..*self
        }
    }

    /// Checks the shape and the resources of the launch, as [`launch`] does before any thread runs.
    ///
    /// # Errors
    /// A [`Fault`] that refuses the launch.
    pub fn check(&self) -> Result<(), Fault> {
        let Self { grid, block, shared_per_block: limit, .. } = *self;
        let kernel = || Arc::from(self.kernel);
        let (Some(blocks), Some(threads)) = (grid.checked_count(), block.checked_count()) else {
            return Err(Fault::EmptyLaunch { kernel: kernel(), grid, block });
        };
        let all = blocks.checked_mul(threads);
        if all.is_none_or(|all| all == 0 || all >> 63 != 0) {
            return Err(Fault::EmptyLaunch { kernel: kernel(), grid, block });
        }
        let cluster = self.cluster_blocks();
        if !grid.x.is_multiple_of(cluster) {
            return Err(Fault::PartialCluster { kernel: kernel(), grid, cluster });
        }
        if threads > MAX_BLOCK_THREADS {
            return Err(Fault::BlockTooLarge {
                kernel: kernel(),
                threads,
                limit: MAX_BLOCK_THREADS,
            });
        }
        let threads = blocks * threads;
        if (self.races || self.weak_memory) && threads > MAX_THREADS {
            return Err(Fault::TooLargeForRaces { kernel: kernel(), threads, limit: MAX_THREADS });
        }
        if self.dynamic_shared > limit {
            let requested = self.dynamic_shared;
            return Err(Fault::DynamicSharedLimit { kernel: kernel(), requested, limit });
        }
        match self.max_resident_blocks {
            Some(resident) if self.cooperative && blocks > resident.into() => {
                Err(Fault::CooperativeTooLarge {
                    kernel: kernel(),
                    blocks,
                    resident: resident - resident % cluster,
                })
            }
            _ => Ok(()),
        }
    }
}

/// Statistics of one or several finished launches, including all grids that their kernels launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Grids that have finished.
    pub launches: u64,
    /// Blocks run.
    pub blocks: u64,
    /// Threads run.
    pub threads: u64,
    /// Warp steps.
    pub steps: u64,
    /// Turns of single threads.
    pub switches: u64,
    /// Checked accesses.
    pub accesses: u64,
    /// Fences.
    pub fences: u64,
    /// Block barriers, counted once per block.
    pub barriers: u64,
    /// Cluster barriers, counted once per cluster.
    pub cluster_barriers: u64,
    /// Warp collectives, counted once per group of lanes.
    pub collectives: u64,
    /// Iterations of spin loops, summed over threads.
    pub spins: u64,
    /// A hash of all scheduling decisions. Runs of the same launches with the same hash were the
    /// same run.
    pub decided: u64,
    /// The first wait for a block that had not started, in a launch that was not cooperative. On
    /// hardware the launch can hang, because a waiting block may occupy the slot that the other one
    /// needs.
    pub early_wait: Option<EarlyWait>,
    /// Counts for the warps of the last grid, if [`LaunchConfig::count`] is set.
    pub counts: Option<Counts>,
}

impl AddAssign for Stats {
    /// Adds both, but keeps only the `counts` of the grid added last.
    fn add_assign(&mut self, more: Self) {
        *self = Self {
            launches: self.launches + more.launches,
            blocks: self.blocks + more.blocks,
            threads: self.threads + more.threads,
            steps: self.steps + more.steps,
            switches: self.switches + more.switches,
            accesses: self.accesses + more.accesses,
            fences: self.fences + more.fences,
            barriers: self.barriers + more.barriers,
            cluster_barriers: self.cluster_barriers + more.cluster_barriers,
            collectives: self.collectives + more.collectives,
            spins: self.spins + more.spins,
            decided: mix(self.decided, more.decided),
            early_wait: self.early_wait.or(more.early_wait),
            counts: more.counts.or(self.counts),
        };
    }
}

/// Runs `body` once for each thread of the grid, on this OS thread, and then the grids that it has
/// launched ([`launch_child`](crate::launch_child)). Returns when all have ended.
///
/// # Errors
/// The first [`Fault`]. All threads are then unwound, so their destructors run (except after
/// [`Fault::StackOverflow`], which may leak what the threads own). Memory keeps what was written
/// before the fault, and later launches work.
#[track_caller]
pub fn launch(
    memory: &mut Memory,
    config: &LaunchConfig<'_>,
    body: &dyn Fn(),
) -> Result<Stats, Fault> {
    launch_on_gpus(memory, config, &[body])
}

/// Like [`launch`], on several GPUs at once that share `memory`: each runs a grid configured by
/// `config`, and its threads run its entry of `bodies`. The blocks of all grids take turns. Device
/// scope includes the threads of the same GPU, system scope all threads. Each GPU has room for as
/// many blocks as `config` specifies; messages name the GPU by its index in `bodies`.
///
/// A kernel has no register with its GPU's index, so pass it as an argument. The grids that kernels
/// launch run after all of these.
///
/// # Errors
/// As for [`launch`].
///
/// # Panics
/// If `bodies` is empty.
#[track_caller]
pub fn launch_on_gpus(
    memory: &mut Memory,
    config: &LaunchConfig<'_>,
    bodies: &[&dyn Fn()],
) -> Result<Stats, Fault> {
    assert!(!bodies.is_empty(), "a launch needs a GPU");
    let grid = |(body, gpu)| Grid { config: *config, gpu, after: &[], names: &[], body };
    let grids: Vec<_> = bodies.iter().copied().zip(0..).map(grid).collect();
    let stats = launch_grids(memory, &grids)?;
    // The grids of all GPUs are one launch.
    Ok(Stats { launches: stats.launches + 1 - grids.len() as u64, ..stats })
}

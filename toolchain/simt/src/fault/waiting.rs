//! The report of a deadlock: what each thread waits for, and which threads have not arrived.

use core::fmt;
use std::sync::Arc;

use crate::dim::Dim3;
use crate::place::Place;

/// A thread that did not arrive at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The thread in its block.
    pub thread: Dim3,
    /// Where it waits instead, or `None` if it has exited.
    pub stuck: Option<(WaitingFor, Place)>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stuck {
            None => write!(f, "thread {} has exited", self.thread),
            Some((what, place)) => {
                write!(f, "thread {} waits forever at {what}, at {place}", self.thread)
            }
        }
    }
}

/// Reason why a thread is stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingFor {
    /// The barrier of its block.
    BlockBarrier,
    /// A barrier of some warps of its block.
    NamedBarrier {
        /// Its number.
        number: u32,
        /// Threads that have arrived, in whole warps.
        arrived: u32,
        /// Threads that it waits for.
        threads: u32,
    },
    /// The barrier of its cluster.
    ClusterBarrier,
    /// The end of the grids that its own overlaps.
    Grids,
    /// The warp collective of this kind.
    WarpCollective(&'static str),
    /// A change of memory: the thread spins.
    Change,
    /// The end of a phase of a barrier in shared memory.
    Phase(Phase),
}

/// A barrier in shared memory (PTX ISA, "mbarrier"), in the state last seen by a thread that waits
/// for the end of its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The parity whose end the thread waits for, which is the parity of the barrier's phase.
    pub parity: u32,
    /// Arrivals per phase.
    pub arrivals: u32,
    /// Outstanding arrivals.
    pub pending: u32,
    /// Outstanding bytes of bulk copies.
    pub bytes: i64,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parity, arrivals, pending, bytes } = self;
        write!(
            f,
            "`mbarrier::wait` for the end of a phase of parity {parity} (the barrier is in a phase of parity \
             {parity}, which still needs {pending} of {arrivals} arrivals and {bytes} bytes)"
        )
    }
}

impl fmt::Display for WaitingFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockBarrier => f.write_str("the block barrier"),
            Self::NamedBarrier { number, arrived, threads } => {
                write!(f, "barrier {number}, where {arrived} of {threads} threads have arrived")
            }
            Self::ClusterBarrier => f.write_str("the cluster barrier"),
            Self::Grids => f.write_str("the wait for the previous grid"),
            Self::WarpCollective(kind) => write!(f, "warp collective {kind}"),
            Self::Change => f.write_str("a spin loop"),
            Self::Phase(phase) => write!(f, "{phase}"),
        }
    }
}

/// Threads of one block that are stuck at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The block's kernel, if several grids run on a GPU.
    pub kernel: Option<Arc<str>>,
    /// The block's GPU, in a launch on several.
    pub gpu: Option<u32>,
    /// The block in the grid.
    pub block: Dim3,
    /// The first of the threads.
    pub thread: Dim3,
    /// Number of threads of the block that are stuck there.
    pub threads: u32,
    /// The reason.
    pub what: WaitingFor,
    /// The location.
    pub place: Place,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, gpu, block, thread, threads, what, place } = self;
        if let Some(kernel) = kernel {
            write!(f, "kernel {kernel}, ")?;
        }
        if let Some(gpu) = gpu {
            write!(f, "GPU {gpu}, ")?;
        }
        write!(f, "block {block}: {threads} thread(s) from {thread} at {what}, at {place}")
    }
}

/// A grid that has not started as a whole, in a launch of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldGrid {
    /// Its kernel.
    pub kernel: Arc<str>,
    /// Blocks that never started, and blocks of the grid.
    pub never_started: u64,
    /// Blocks of the grid.
    pub blocks: u64,
    /// The reason.
    pub by: HeldBy,
}

/// Why blocks of a grid have not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// The grid of this kernel has to end first.
    End(Arc<str>),
    /// Some block of this kernel's grid has neither called
    /// [`launch_dependents`](crate::launch_dependents) nor ended.
    Trigger(Arc<str>),
    /// The live blocks fill the device.
    Full,
}

impl fmt::Display for HeldGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, never_started, blocks, by } = self;
        write!(f, "{never_started} of {blocks} blocks of kernel {kernel} never started, because ")?;
        match by {
            HeldBy::End(other) => {
                write!(f, "kernel {other} comes first: it must not wait for a later grid")
            }
            HeldBy::Trigger(other) => write!(
                f,
                "not all blocks of kernel {other} have let dependent grids start or ended: it must \
                 not wait for a later grid before that"
            ),
            HeldBy::Full => f.write_str(
                "the live blocks fill the device: launch fewer blocks, or wait only for grids that \
                 have started",
            ),
        }
    }
}

/// Waits of all threads when nothing can change any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The kernel's name in the launch. If several grids run on a GPU, that of the first that waits.
    pub kernel: Arc<str>,
    /// Where threads of the first few blocks wait.
    pub waiting: Vec<Waiting>,
    /// Blocks that have started and not exited.
    pub live_blocks: u64,
    /// Blocks that never started, because the live ones fill the device.
    pub never_started: u64,
    /// Blocks of the grid.
    pub grid_blocks: u64,
    /// The first few blocks that have exited, if all blocks have started. In a launch on several
    /// GPUs, blocks are numbered consecutively across GPUs.
    pub exited: Vec<u64>,
    /// If several grids run on a GPU: those of which some blocks never started.
    pub held: Vec<HeldGrid>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, live_blocks, never_started, grid_blocks, .. } = self;
        write!(
            f,
            "deadlock: kernel {kernel}: every live thread waits and memory no longer changes"
        )?;
        for waiting in &self.waiting {
            write!(f, "; {waiting}")?;
        }
        let left = grid_blocks - live_blocks - never_started;
        if left > 0 {
            write!(f, "; {left} of {grid_blocks} blocks have already exited")?;
            if let Some((first, others)) = self.exited.split_first() {
                write!(f, ": {first}")?;
                others.iter().try_for_each(|block| write!(f, ", {block}"))?;
                if left > self.exited.len() as u64 {
                    f.write_str(", …")?;
                }
            }
        }
        self.held.iter().try_for_each(|grid| write!(f, "; {grid}"))?;
        if *never_started > 0 && self.held.is_empty() {
            write!(
                f,
                "; {never_started} of {grid_blocks} blocks never started, because only \
                 {live_blocks} are resident at once: launch at most {live_blocks} blocks, or make \
                 all {grid_blocks} co-resident"
            )?;
        }
        Ok(())
    }
}

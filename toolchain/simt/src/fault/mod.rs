//! What can go wrong in a launch. Each fault has the location, the numbers and a remedy.

mod site;
mod waiting;

use core::fmt;
use core::mem::discriminant;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::access::Access;
use crate::dim::Dim3;
use crate::place::Place;
use crate::race::Race;

pub use site::{Arrival, Site, Target};
pub use waiting::{Deadlock, HeldBy, HeldGrid, Missing, Phase, Waiting, WaitingFor};

/// Why a launch did not finish. The message names the kernel, block, thread and location.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// An access that is not inside one live allocation of its space.
    #[error("out of bounds: {bytes}-byte {access} at {target} ({site})")]
    OutOfBounds {
        /// The thread and its location.
        site: Site,
        /// The access.
        access: Access,
        /// Its width in bytes.
        bytes: usize,
        /// Its address.
        target: Box<Target>,
    },
    /// An address that is not a multiple of the access width.
    #[error(
        "misaligned: {bytes}-byte {access} at {target}: the address must be a multiple of the width ({site})"
    )]
    Misaligned {
        /// The thread and its location.
        site: Site,
        /// The access.
        access: Access,
        /// Its width in bytes.
        bytes: usize,
        /// Its address.
        target: Box<Target>,
    },
    /// A read of bytes that were never written.
    #[error("uninitialised: {bytes}-byte {access} at {target} reads bytes never written ({site})")]
    Uninitialised {
        /// The thread and its location.
        site: Site,
        /// The access.
        access: Access,
        /// Its width in bytes.
        bytes: usize,
        /// Its address.
        target: Box<Target>,
    },
    /// Static and dynamic shared memory together exceed the launch's limit.
    #[error(
        "shared memory: {name} brings the block to {requested} bytes, the limit is {limit}: raise shared_per_block or use less ({site})"
    )]
    SharedLimit {
        /// The thread and its location.
        site: Site,
        /// The static variable that exceeds it.
        name: &'static str,
        /// Bytes of the block including it.
        requested: usize,
        /// The launch's limit.
        limit: usize,
    },
    /// One static shared variable requested with two sizes or alignments.
    #[error(
        "shared memory: {name} has {first} bytes, but {now} bytes were requested: give each variable its own name ({site})"
    )]
    SharedConflict {
        /// The thread and its location.
        site: Site,
        /// The variable.
        name: &'static str,
        /// Its size in bytes at the first request.
        first: usize,
        /// Its size at this request. Equal to `first` if only the alignment differs.
        now: usize,
    },
    /// A warp collective called by a lane that is not in its own mask (undefined on hardware).
    #[error("{kind}: lane {lane} is not in its own mask {mask:#010x} ({site})")]
    NotInMask {
        /// The thread and its location.
        site: Site,
        /// The collective.
        kind: &'static str,
        /// The caller's lane.
        lane: u32,
        /// The mask that it passed.
        mask: u32,
    },
    /// A warp collective that names a lane that has exited.
    #[error("{kind}: mask {mask:#010x} names lane {lane}, which has exited ({site})")]
    LaneExited {
        /// A waiting lane.
        site: Site,
        /// The collective.
        kind: &'static str,
        /// The lane that has exited.
        lane: u32,
        /// The mask that names it.
        mask: u32,
    },
    /// Lanes that wait for each other at different collectives.
    #[error("warp mismatch: {} meets {}: lanes that name each other must call the same collective with the same mask", .arrivals[0], .arrivals[1])]
    WarpMismatch {
        /// The later and the earlier arrival.
        arrivals: Box<[Arrival; 2]>,
    },
    /// A block barrier that a thread of the block can never reach.
    #[error(
        "barrier skipped: waits at the block barrier, but {missing} ({site}): every thread of a block must reach the same barriers"
    )]
    BarrierSkipped {
        /// A waiting thread.
        site: Site,
        /// A thread that will not arrive.
        missing: Box<Missing>,
    },
    /// Lanes of one warp that reach a block or cluster barrier through different calls (undefined
    /// on hardware: `bar.sync` and `barrier.cluster` are `.aligned`).
    #[error(
        "{barrier}: lanes of one warp reach it by different calls ({} and {}): all lanes of a warp must execute the same one, so move it out of the branch", .sites[0], .sites[1]
    )]
    BarrierDiverged {
        /// The barrier.
        barrier: WaitingFor,
        /// The later lane and the first one.
        sites: Box<[Site; 2]>,
    },
    /// A thread that waits at the cluster barrier without having arrived (undefined on hardware).
    #[error("cluster barrier: waits without having arrived ({site}): arrive once before each wait")]
    ClusterNotArrived {
        /// The thread and its location.
        site: Site,
    },
    /// A thread that arrives at the cluster barrier again without having waited (undefined on
    /// hardware).
    #[error(
        "cluster barrier: arrives again without having waited since it arrived at {first} ({site}): wait once after each arrival"
    )]
    ClusterArrivedTwice {
        /// The thread, and where it arrives again.
        site: Site,
        /// Where it arrived before.
        first: Place,
    },
    /// An access to the shared memory of a block of the cluster before that block has started, or
    /// after it has ended (undefined on hardware).
    #[error(
        "cluster: {access} in the shared memory of block {rank} of the cluster, which has {} ({site}): {}",
        if *.ended { "ended" } else { "not started yet" },
        if *.ended { "a block must cross a cluster barrier after the last access to it, before it ends" } else { "cross a cluster barrier before the first access to another block" }
    )]
    ClusterBlockAbsent {
        /// The thread and its location.
        site: Site,
        /// The access.
        access: Access,
        /// The rank of the block in its cluster.
        rank: usize,
        /// Whether that block has ended (otherwise it has not started).
        ended: bool,
    },
    /// Two accesses that nothing orders. Checked for if [`LaunchConfig::races`] is set. If only
    /// [`LaunchConfig::weak_memory`] is set, only accesses separated by a proxy are found
    /// ([`MissingOrder::Proxy`], [`MissingOrder::ReadOnly`]).
    ///
    /// [`LaunchConfig::races`]: crate::LaunchConfig::races
    /// [`LaunchConfig::weak_memory`]: crate::LaunchConfig::weak_memory
    /// [`MissingOrder::Proxy`]: crate::MissingOrder::Proxy
    /// [`MissingOrder::ReadOnly`]: crate::MissingOrder::ReadOnly
    #[error("{0}")]
    Race(Box<Race>),
    /// Every live thread waits, and nothing changes.
    #[error("{0}")]
    Deadlock(Box<Deadlock>),
    /// A thread that accesses the same memory repeatedly while nothing changes: a loop that waits
    /// for another thread without [`spin`](crate::spin).
    #[error(
        "no progress: the thread has polled memory that does not change {looks} times without yielding ({site}): call `spin` in each iteration of a loop that waits for another thread"
    )]
    NoProgress {
        /// The thread and its location.
        site: Site,
        /// Number of its accesses in a row.
        looks: u32,
    },
    /// More steps than the launch allows.
    #[error("step limit: kernel {kernel} still runs after {limit} steps, {}: fix a loop that never ends, or raise step_limit", .site.as_ref().map_or("whose next thread has not started".to_owned(), ToString::to_string))]
    StepLimit {
        /// The kernel.
        kernel: Arc<str>,
        /// The limit.
        limit: u64,
        /// The thread that would have run next, if it has started.
        site: Option<Site>,
    },
    /// A stack frame beyond the emulated thread's stack.
    #[error(
        "stack overflow: the thread needs more than {bytes} bytes of stack: raise stack_bytes ({site})"
    )]
    StackOverflow {
        /// The thread and its last in-thread call.
        site: Site,
        /// Stack of each thread.
        bytes: usize,
    },
    /// The kernel called [`trap`](crate::trap).
    #[error("trap: {message} ({site})")]
    Trap {
        /// The thread and its location.
        site: Site,
        /// The message.
        message: String,
    },
    /// A Rust panic in kernel code.
    #[error("panic at {at}: {message} (last in-thread call: {site})")]
    Panicked {
        /// The thread, and its last in-thread call before the panic.
        site: Site,
        /// The panic's message.
        message: String,
        /// The panic's own location, `file:line:column`. Unknown if another panic hook was set
        /// after the first launch, and for `resume_unwind`.
        at: String,
    },
    /// A grid or block without threads.
    #[error(
        "kernel {kernel}: grid {grid} of blocks {block} has no threads or more than 2^63: every extent must be at least 1"
    )]
    EmptyLaunch {
        /// The kernel.
        kernel: Arc<str>,
        /// Extents of the grid.
        grid: Dim3,
        /// Extents of the block.
        block: Dim3,
    },
    /// A grid that is not a whole number of clusters.
    #[error(
        "kernel {kernel}: a grid of {grid} blocks cannot be cut into clusters of {cluster} along x: the cluster must have a number of blocks that divides {}", .grid.x
    )]
    PartialCluster {
        /// The kernel.
        kernel: Arc<str>,
        /// Extents of the grid.
        grid: Dim3,
        /// Requested blocks per cluster.
        cluster: u32,
    },
    /// A block beyond the hardware's limit.
    #[error("kernel {kernel}: blocks of {threads} threads, the limit is {limit}")]
    BlockTooLarge {
        /// The kernel.
        kernel: Arc<str>,
        /// Threads requested.
        threads: u64,
        /// The maximum.
        limit: u64,
    },
    /// Dynamic shared memory beyond the limit, before any thread runs.
    #[error(
        "kernel {kernel}: {requested} bytes of dynamic shared memory, the limit is {limit}: raise shared_per_block or use less"
    )]
    DynamicSharedLimit {
        /// The kernel.
        kernel: Arc<str>,
        /// Bytes requested.
        requested: usize,
        /// The launch's limit.
        limit: usize,
    },
    /// A cooperative launch whose blocks cannot all be resident
    /// (`CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`).
    #[error(
        "kernel {kernel}: a cooperative grid of {blocks} blocks, but only {resident} can be resident: launch at most {resident}"
    )]
    CooperativeTooLarge {
        /// The kernel.
        kernel: Arc<str>,
        /// Blocks requested.
        blocks: u64,
        /// Blocks that can be resident.
        resident: u32,
    },
    /// A launch with too many threads for race detection.
    #[error(
        "kernel {kernel}: {threads} threads, but checks for data races support {limit} at most: launch fewer, or leave `races` off"
    )]
    TooLargeForRaces {
        /// The kernel.
        kernel: Arc<str>,
        /// Threads of the grid.
        threads: u64,
        /// The maximum.
        limit: u64,
    },
    /// A launch with too many warps for a search.
    #[error(
        "kernel {kernel}: {warps} warps at once, but a search supports {limit} at most: launch fewer, or draw schedules"
    )]
    TooLargeForSearch {
        /// The kernel.
        kernel: Arc<str>,
        /// Warps that would be resident at once.
        warps: u64,
        /// The maximum.
        limit: u64,
    },
    /// A launch from inside a kernel.
    #[error("kernel {kernel}: launched from inside an emulated thread, which is not supported")]
    Nested {
        /// The inner kernel.
        kernel: Arc<str>,
    },
    /// The operating system had no memory for stacks.
    #[error(
        "kernel {kernel}: no memory for stacks ({bytes} bytes more, errno {errno}): lower stack_bytes, or let fewer blocks be resident at once"
    )]
    StackMapping {
        /// The kernel.
        kernel: Arc<str>,
        /// Bytes of the mapping that failed.
        bytes: usize,
        /// The system's error number.
        errno: i32,
    },
}

impl fmt::Debug for Fault {
    /// Same as `Display`, because `expect` and a `main` that returns an error print errors with
    /// `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Fault {
    /// The thread and location to blame, if the fault has one.
    pub fn site(&self) -> Option<&Site> {
        match self {
            Self::OutOfBounds { site, .. }
            | Self::Misaligned { site, .. }
            | Self::Uninitialised { site, .. }
            | Self::SharedLimit { site, .. }
            | Self::SharedConflict { site, .. }
            | Self::NotInMask { site, .. }
            | Self::LaneExited { site, .. }
            | Self::BarrierSkipped { site, .. }
            | Self::ClusterNotArrived { site }
            | Self::ClusterArrivedTwice { site, .. }
            | Self::ClusterBlockAbsent { site, .. }
            | Self::NoProgress { site, .. }
            | Self::StackOverflow { site, .. }
            | Self::Trap { site, .. }
            | Self::Panicked { site, .. } => Some(site),
            Self::StepLimit { site, .. } => site.as_ref(),
            Self::WarpMismatch { arrivals } => Some(&arrivals[0].site),
            Self::BarrierDiverged { sites, .. } => Some(&sites[0]),
            Self::Race(race) => Some(&race.later.site),
            Self::Deadlock(_)
            | Self::TooLargeForRaces { .. }
            | Self::TooLargeForSearch { .. }
            | Self::EmptyLaunch { .. }
            | Self::PartialCluster { .. }
            | Self::BlockTooLarge { .. }
            | Self::DynamicSharedLimit { .. }
            | Self::CooperativeTooLarge { .. }
            | Self::Nested { .. }
            | Self::StackMapping { .. } => None,
        }
    }

    /// Whether `other` is of the same kind and at the same lines. Threads, addresses and counts may
    /// differ.
    pub fn is_like(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other) && self.places() == other.places()
    }

    /// All source locations in the fault.
    fn places(&self) -> BTreeSet<Place> {
        match self {
            Self::Race(race) => [&race.earlier, &race.later].map(|it| it.site.place).into(),
            Self::Deadlock(stuck) => stuck.waiting.iter().map(|it| it.place).collect(),
            Self::WarpMismatch { arrivals } => arrivals.iter().map(|it| it.site.place).collect(),
            Self::BarrierDiverged { sites, .. } => sites.iter().map(|site| site.place).collect(),
            _ => self.site().map(|site| site.place).into_iter().collect(),
        }
    }

    /// Whether the grid had started. If so, memory is as it was when the grid stopped. All other
    /// faults are refusals: nothing has run.
    pub fn had_started(&self) -> bool {
        !matches!(
            self,
            Self::EmptyLaunch { .. }
                | Self::PartialCluster { .. }
                | Self::BlockTooLarge { .. }
                | Self::DynamicSharedLimit { .. }
                | Self::CooperativeTooLarge { .. }
                | Self::TooLargeForRaces { .. }
                | Self::TooLargeForSearch { .. }
                | Self::Nested { .. }
        )
    }
}

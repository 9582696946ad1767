//! Configuration of the emulator.

use super::PtxKernels;
use crate::device::Properties;
use simt::{LaunchConfig, Policy, Schedule, Weaken};

/// The emulated machine, how its threads are scheduled, and which errors are checked for.
///
/// Fields may be added later: end the literal with `..EmulatorConfig::default()`.
#[derive(Clone, Copy, Debug)]
pub struct EmulatorConfig {
    /// Number of GPUs of the machine. A [`Device`](crate::device::Device) is the first one, and
    /// [`Devices::of`](crate::device::Devices::of) returns all. Each has the multiprocessors and
    /// the memory below.
    pub gpus: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub memory_bytes: usize,
    /// The most bytes of shared memory per block.
    pub shared_per_block: u32,
    /// The kernels to run in place of the source of those that are launched. Without them the
    /// source runs, unless the process has [others](PtxKernels::run_by_default).
    pub ptx: Option<&'static PtxKernels>,
    /// Which thread runs when.
    pub schedule: Schedule,
    /// Whether to check for data races. The first race found is the error of its launch. With this
    /// check, a launch of more than 2^17 threads is refused, and an access takes about twice as
    /// long.
    pub races: bool,
    /// Whether a read of bytes that were never written returns zeros instead of being a fault. A
    /// thread that reads too early then shows up as a race with the write.
    pub zeroed: bool,
    /// Whether memory is weak: a read may return an older value, and writes may be reordered, as
    /// far as PTX's memory model allows. The schedule's seed decides. The results of a kernel then
    /// show the effect of a missing ordering. A launch may have 2^17 threads.
    pub weak_memory: bool,
    /// Whether launches run when the host next uses memory or waits, together with those of all
    /// streams before then: the kernels of two streams without an event between them at the same
    /// time, and an [overlapping](crate::device::Geometry::overlapping) one while the previous one
    /// still runs. A fault is then the error of the call that runs them. Otherwise each launch runs
    /// immediately, and kernels never overlap.
    pub concurrent: bool,
    /// Whether to record the source locations that order memory or wait.
    /// [`Device::order_sites`](crate::device::Device::order_sites) returns them.
    pub sites: bool,
    /// Makes one of these operations weaker than written.
    pub weaken: Option<Weaken>,
    /// Whether each launch counts the operations of its warps.
    /// [`Stats::counts`](simt::Stats::counts) has the counts of the last launch. The lanes of a
    /// warp then move in lockstep.
    pub count: bool,
    /// Stack bytes per thread. An unused part occupies addresses of the host, but no memory.
    pub stack_bytes: usize,
    /// Warp steps after which a launch is given up. Accesses count too where they are not steps, as
    /// under [`Policy::Coarse`].
    pub step_limit: u64,
    /// After this many rounds in which all threads spin and memory does not change, a launch counts
    /// as deadlocked. With fewer than about 40, the clock may not reach a timeout of the kernel
    /// itself.
    pub patience: u32,
}

impl EmulatorConfig {
    /// The configuration that finds most errors: it checks for data races, under the schedule drawn
    /// from this seed.
    ///
    /// A schedule shows some errors and hides others, so run a kernel under several seeds, as the
    /// examples do. A launch may have 2^17 threads.
    #[must_use]
    pub fn checking(seed: u64) -> Self {
        Self { schedule: Schedule::from_seed(seed), races: true, ..Self::default() }
    }
}

impl Default for EmulatorConfig {
    /// A small GPU, for large inputs: 8 multiprocessors, 48 KiB of shared memory per block, and 4
    /// GiB of memory, of which only the used part occupies host memory. The schedule is the fast
    /// one, which switches threads only at synchronisation, without a check for races. For small
    /// inputs, [`checking`](Self::checking) is better.
    fn default() -> Self {
        let LaunchConfig { stack_bytes, step_limit, patience, .. } = LaunchConfig::new("", 1, 1);
        Self {
            gpus: 1,
            multiprocessors: 8,
            memory_bytes: 4 << 30,
            shared_per_block: 48 << 10,
            ptx: PtxKernels::by_default(),
            schedule: Schedule::new(Policy::Coarse),
            races: false,
            zeroed: false,
            weak_memory: false,
            concurrent: false,
            sites: false,
            weaken: None,
            count: false,
            stack_bytes,
            step_limit,
            patience,
        }
    }
}

/// Clusters, and otherwise the smallest limits of compute capability 7.5 and later (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability").
pub(super) fn properties(config: &EmulatorConfig, gpu: u32) -> Properties {
    let compute = config.ptx.map_or(0, PtxKernels::compute);
    // The kernels for Hopper count on what all GPUs since then have.
    let least = if compute >= HOPPER { 227 << 10 } else { 0 };
    let shared = config.shared_per_block.max(least);
    Properties {
        name: name(config, gpu),
        emulated: true,
        compute,
        multiprocessors: config.multiprocessors,
        memory_bytes: config.memory_bytes as u64,
        warp_size: 32,
        max_grid_x: i32::MAX as u32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 1024,
        max_blocks_per_multiprocessor: 16,
        registers_per_block: 65_536,
        registers_per_multiprocessor: 65_536,
        shared_per_block: 48 << 10,
        shared_per_block_optin: shared,
        shared_per_multiprocessor: shared.max(64 << 10),
        cooperative: true,
        cluster: config.ptx.is_none() || compute >= HOPPER,
        ..Properties::default()
    }
}

/// The name of a GPU of the machine.
fn name(config: &EmulatorConfig, gpu: u32) -> String {
    let of = config.ptx.map_or(String::new(), |ptx| format!(" of compute_{}", ptx.compute()));
    if config.gpus == 1 { format!("emulator{of}") } else { format!("emulator{of}:{gpu}") }
}

/// The compute capability from which a GPU has clusters and kernels that overlap, and the second image
/// is for.
pub(super) const HOPPER: u32 = 90;

//! Latency of each kind of memory: the wait of a thread with one load in flight.

use super::cycle::Cycle;
use super::error::{MemoryError, expect};
use super::sizes::{Sizes, size};
use super::slopes;
use crate::bench::Spread;
use crate::display::svg::Estimate;
use crate::fences;
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync_lab_kernels::memory::latency::{
    memory_barrier, memory_shuffle, memory_spread, memory_walk_cluster, memory_walk_l1,
    memory_walk_l2, memory_walk_shared,
};
use gridsync_lab_kernels::memory::{LINE, SHARED_WORDS};
use serde::{Deserialize, Serialize};

/// Bytes of a line.
const LINE_BYTES: usize = LINE * size_of::<u32>();

/// Lines of the walks in shared memory and in the L1.
const NEAR_LINES: usize = SHARED_WORDS / LINE;

/// Lines of the walk in the L2: 1 MiB, more than any L1 and less than any L2.
const L2_LINES: usize = (1 << 20) / LINE_BYTES;

/// Threads of the block whose barrier is measured.
pub const BARRIER_THREADS: u32 = 256;

/// Words, final index, cycles, first index, warm-up steps, steps.
pub type WalkArgs = (Global<u32>, Global<u32>, Global<u64>, u32, u32, u32);

/// Result of each thread, cycles, steps.
pub type RepeatArgs = (Global<u32>, Global<u64>, u32);

/// The names of the latencies that the page compares.
pub(super) const SHUFFLE: &str = "warp shuffle";
pub(super) const SHARED: &str = "shared memory";
pub(super) const L1: &str = "L1";
pub(super) const L2: &str = "L2";
pub(super) const OTHER_SHARED: &str = "shared memory of another SM";

/// The name of the barrier's latency.
pub(super) fn barrier() -> String {
    format!("barrier of {BARRIER_THREADS} threads")
}

/// The latency of an operation that one thread or one block waits for. What it adds to a loop may
/// be less than nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Latency {
    /// A memory, a shuffle, a barrier of a block, or the instruction of a fence or an atomic.
    pub of: String,
    /// Cycles of a multiprocessor, the median.
    pub cycles: f64,
    /// The least sample.
    pub cycles_min: f64,
    /// The greatest sample.
    pub cycles_max: f64,
    /// How many samples there were.
    pub samples: usize,
    /// The median in nanoseconds.
    pub ns: f64,
    /// Bytes of the array in device memory, or 0.
    #[serde(skip)]
    pub bytes: usize,
}

impl Latency {
    /// A latency at a clock of `mhz` MHz.
    pub(super) fn new(of: impl Into<String>, cycles: Spread, mhz: f64) -> Self {
        Self {
            of: of.into(),
            cycles: cycles.median,
            cycles_min: cycles.min,
            cycles_max: cycles.max,
            samples: cycles.samples,
            ns: cycles.median * 1e3 / mhz,
            bytes: 0,
        }
    }

    /// The latency of a load from an array of `bytes` bytes in device memory.
    pub(super) fn of_array(bytes: usize, cycles: Spread, mhz: f64) -> Self {
        let latency = Self::new(format!("device memory, {}", size(bytes)), cycles, mhz);
        Self { bytes, ..latency }
    }

    /// The cycles with the range of their samples, for a chart.
    pub(super) fn estimate(&self) -> Estimate {
        Estimate::between(self.cycles, self.cycles_min, self.cycles_max)
    }
}

/// Measures all latencies at a clock of `mhz` MHz, sorted from short to long. The smaller array in
/// device memory is a few times as large as the L2. Loads from the larger one also have to
/// translate more addresses. Fences have no store in flight.
pub(super) fn measure(
    device: &Device,
    sizes: &Sizes,
    mhz: f64,
) -> Result<Vec<Latency>, MemoryError> {
    let one = Geometry::new(1, 1);
    let near = Walk::new(device, NEAR_LINES)?;
    let latency = |of: &str, cycles| Latency::new(of, cycles, mhz);
    let mut latencies = Vec::new();
    if device.properties().cluster {
        let cycles = near.slopes::<memory_walk_cluster>(&two_multiprocessors(device), 0)?;
        latencies.push(latency(OTHER_SHARED, cycles));
    }
    let l2 = Walk::new(device, L2_LINES)?;
    let shuffle = slopes(|steps| repeat::<memory_shuffle>(device, 32, steps))?;
    let of_barrier = slopes(|steps| repeat::<memory_barrier>(device, BARRIER_THREADS, steps))?;
    latencies.extend([
        latency(SHUFFLE, shuffle),
        latency(&barrier(), of_barrier),
        latency(SHARED, near.slopes::<memory_walk_shared>(&one, 0)?),
        latency(L1, near.slopes::<memory_walk_l1>(&one, NEAR_LINES as u32)?),
        latency(L2, l2.slopes::<memory_walk_l2>(&one, L2_LINES as u32)?),
    ]);
    for bytes in [sizes.few_caches, sizes.many_caches] {
        latencies.push(Latency::of_array(bytes, from_memory(device, bytes, sizes)?, mhz));
    }
    let operations = fences::costs(device, (1, 1), || ())?;
    let alone = operations.iter().filter(|cost| cost.stores == 0);
    latencies.extend(alone.map(|cost| latency(cost.instruction, cost.cycles)));
    latencies.sort_by(|a, b| a.cycles.total_cmp(&b.cycles));
    Ok(latencies)
}

/// A cluster of two blocks, each with more than half of a multiprocessor's shared memory, so that
/// they run on two multiprocessors.
#[must_use]
pub fn two_multiprocessors(device: &Device) -> Geometry {
    let half = device.properties().shared_per_multiprocessor / 2;
    Geometry::new(2, 1).clusters_of(2).with_dynamic_shared(half)
}

/// Walks in an array of `bytes` bytes, none of which is in the L2. Together, the walks visit a line
/// at most once.
fn from_memory(device: &Device, bytes: usize, sizes: &Sizes) -> Result<Spread, MemoryError> {
    let walk = Walk::new(device, bytes / LINE_BYTES)?;
    // These zeros evict the cycle from the L2.
    drop(device.zeroed::<u8>(sizes.few_caches)?);
    walk.slopes::<memory_walk_l2>(&Geometry::new(1, 1), 0)
}

/// A cycle over lines of device memory.
#[derive(Debug)]
pub struct Walk {
    device: Device,
    cycle: Cycle,
    words: Buffer<u32>,
}

impl Walk {
    /// A random cycle over `lines` lines.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, lines: usize) -> Result<Self, DeviceError> {
        const THREADS: u32 = 256;
        let cycle = Cycle::new(lines);
        let next = device.upload(cycle.next())?;
        let words = device.zeroed::<u32>(lines * LINE)?;
        let blocks = (lines as u32).div_ceil(THREADS).min(8 * device.properties().multiprocessors);
        let geometry = Geometry::new(blocks, THREADS);
        // SAFETY: there is a line for each element of the cycle. Both buffers outlive the launch,
        // because dropping one waits for the stream.
        unsafe { device.launch::<memory_spread>(&geometry, (next.view(), words.view()))? };
        Ok(Self { device: device.clone(), cycle, words })
    }

    /// Walks from line `first`: `warm` steps, then `steps` timed steps. Returns the final line, and
    /// the cycles of the timed steps.
    ///
    /// # Errors
    /// [`MemoryError::Wrong`] if the final line is wrong; or if the device fails.
    ///
    /// # Panics
    /// If `first` is out of range.
    pub fn run<K: Kernel<Args = WalkArgs>>(
        &self,
        geometry: &Geometry,
        first: u32,
        warm: u32,
        steps: u32,
    ) -> Result<(u32, u64), MemoryError> {
        let line = self.cycle.after(first, warm + steps);
        let found = self.device.zeroed::<u32>(1)?;
        let cycles = self.device.zeroed::<u64>(1)?;
        let index = |line| line * LINE as u32;
        let args = (self.words.view(), found.view(), cycles.view(), index(first), warm, steps);
        // SAFETY: the words hold a cycle of indices, and `first` is one of them. There is one
        // element for the final index and one for the cycles. All outlive the launch, because the
        // downloads wait for it.
        unsafe { self.device.launch::<K>(geometry, args)? };
        expect(K::NAME, found.download()?[0], index(line))?;
        Ok((line, cycles.download()?[0]))
    }

    /// Cycles per step. Each walk starts where the last one ended.
    fn slopes<K: Kernel<Args = WalkArgs>>(
        &self,
        geometry: &Geometry,
        warm: u32,
    ) -> Result<Spread, MemoryError> {
        let mut line = 0;
        slopes(|steps| {
            let (end, cycles) = self.run::<K>(geometry, line, warm, steps)?;
            line = end;
            Ok(cycles as f64)
        })
    }
}

/// A kernel for [`repeat`], and its result.
pub trait Repeated: Kernel<Args = RepeatArgs> {
    /// Result of thread `thread` after `steps` steps.
    fn found(thread: u32, steps: u32) -> u32;
}

impl Repeated for memory_shuffle {
    fn found(lane: u32, steps: u32) -> u32 {
        (lane + steps) % 32
    }
}

impl Repeated for memory_barrier {
    fn found(_: u32, steps: u32) -> u32 {
        steps
    }
}

/// Runs a kernel that repeats something `steps` times, in one block of `threads` threads (32 for
/// the shuffle). Returns the cycles of the first thread.
///
/// # Errors
/// [`MemoryError::Wrong`] if a thread has a wrong result; or if the device fails.
pub fn repeat<K: Repeated>(device: &Device, threads: u32, steps: u32) -> Result<f64, MemoryError> {
    let found = device.zeroed::<u32>(threads as usize)?;
    let cycles = device.zeroed::<u64>(threads as usize)?;
    let args = (found.view(), cycles.view(), steps);
    // SAFETY: there is an element for each thread of the one block. Both buffers outlive the
    // launch, because the downloads wait for it.
    unsafe { device.launch::<K>(&Geometry::new(1, threads), args)? };
    for (thread, found) in found.download()?.into_iter().enumerate() {
        expect(K::NAME, found, K::found(thread as u32, steps))?;
    }
    Ok(cycles.download()?[0] as f64)
}

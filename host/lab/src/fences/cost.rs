//! Measures the cost of an operation.
//!
//! The kernel reads the cycle counter; the thread in the middle is used. A cost is a **slope**: the
//! cycles of a launch of [`MANY`] rounds, minus those of a launch of [`FEW`], divided by the
//! difference in rounds, and minus the same slope of the stores alone. It includes the few cycles
//! of the loop around the operation. If the operation delays later stores, that shows only if the
//! next round waits for them.

use crate::bench::{FEW, MANY, SAMPLES, Spread};
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_lab_kernels::fences::{
    MAX_STORES, WORDS_PER_BLOCK, cost_of_atom_relaxed, cost_of_fence_acq_rel_block,
    cost_of_fence_acq_rel_device, cost_of_fence_acq_rel_system, cost_of_fence_sc_block,
    cost_of_fence_sc_device, cost_of_fence_sc_system, cost_of_load_acquire, cost_of_none,
    cost_of_red_relaxed, cost_of_red_release,
};

/// Numbers of lines that are stored to before each operation.
pub const STORES: [u32; 3] = [0, 1, MAX_STORES];

/// Words, cycles, stores, rounds.
type Args = (Global<u32>, Global<u64>, u32, u32);

/// A measured operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its instruction; empty for the stores alone.
    pub instruction: &'static str,
    /// Kernel that repeats it.
    pub kernel: &'static str,
    launch: unsafe fn(&Device, &Geometry, Args) -> Result<(), DeviceError>,
}

/// Only the stores.
pub const NOTHING: Operation = Operation::of::<cost_of_none>("");

/// The measured operations: the fences, then the operations that a block arrives at a barrier and
/// waits with.
pub const OPERATIONS: [Operation; 10] = [
    Operation::of::<cost_of_fence_acq_rel_block>("fence.acq_rel.cta"),
    Operation::of::<cost_of_fence_acq_rel_device>("fence.acq_rel.gpu"),
    Operation::of::<cost_of_fence_acq_rel_system>("fence.acq_rel.sys"),
    Operation::of::<cost_of_fence_sc_block>("fence.sc.cta"),
    Operation::of::<cost_of_fence_sc_device>("fence.sc.gpu"),
    Operation::of::<cost_of_fence_sc_system>("fence.sc.sys"),
    Operation::of::<cost_of_red_relaxed>("red.relaxed.gpu.global.add.u32"),
    Operation::of::<cost_of_red_release>("red.release.gpu.global.add.u32"),
    Operation::of::<cost_of_atom_relaxed>("atom.relaxed.gpu.global.add.u32"),
    Operation::of::<cost_of_load_acquire>("ld.acquire.gpu.global.b32"),
];

/// The result of one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The words, laid out as described in [the kernels](gridsync_lab_kernels::fences).
    pub words: Vec<u32>,
    /// Cycles of each thread.
    pub cycles: Vec<u64>,
    /// Device time of the whole launch, µs.
    pub time: f64,
}

/// Cost of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The instruction.
    pub instruction: &'static str,
    /// Lines that each thread stored to before the operation.
    pub stores: u32,
    /// Cycles in addition to those of the stores alone.
    pub cycles: Spread,
}

impl Operation {
    const fn of<K: Kernel<Args = Args>>(instruction: &'static str) -> Self {
        Self { instruction, kernel: K::NAME, launch: Device::launch::<K> }
    }

    /// Makes each thread of `blocks` blocks store to `stores` lines and then run the operation,
    /// `rounds` times.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If a block has more than 32 `threads`, or `stores` is more than [`MAX_STORES`].
    pub fn run(
        &self,
        device: &Device,
        (blocks, threads): (u32, u32),
        stores: u32,
        rounds: u32,
    ) -> Result<Run, DeviceError> {
        assert!(
            threads <= 32 && stores <= MAX_STORES,
            "{threads} threads and {stores} stores should be at most 32 and {MAX_STORES}"
        );
        let words = device.zeroed::<u32>(blocks as usize * WORDS_PER_BLOCK)?;
        let cycles = device.zeroed::<u64>(blocks as usize * threads as usize)?;
        let geometry = Geometry::new(blocks, threads);
        let time = device.time(|| {
            let args = (words.view(), cycles.view(), stores, rounds);
            // SAFETY: threads and stores are within the bounds above. The buffers have the words of
            // each block, all 0, and the cycles of each thread. They outlive the launch, because
            // `time` waits for it.
            unsafe { (self.launch)(device, &geometry, args) }
        })?;
        Ok(Run { words: words.download()?, cycles: cycles.download()?, time })
    }

    /// Cycles and microseconds per round, by slopes, after one launch that is not counted.
    fn slopes(
        &self,
        device: &Device,
        grid: (u32, u32),
        stores: u32,
    ) -> Result<Vec<(f64, f64)>, DeviceError> {
        self.run(device, grid, stores, FEW)?;
        let rounds = f64::from(MANY - FEW);
        (0..SAMPLES)
            .map(|_| {
                let few = self.run(device, grid, stores, FEW)?;
                let many = self.run(device, grid, stores, MANY)?;
                let cycles = many.middle_cycles() - few.middle_cycles();
                Ok((cycles / rounds, (many.time - few.time) / rounds))
            })
            .collect()
    }
}

impl Run {
    /// Cycles of the thread in the middle.
    fn middle_cycles(&self) -> f64 {
        spread(self.cycles.iter().map(|&cycles| cycles as f64)).median
    }
}

/// Number of measurements in [`costs`]: each operation, and the stores alone, for each number of
/// stores.
pub const STEPS: usize = STORES.len() * (1 + OPERATIONS.len());

/// Costs of [`OPERATIONS`] in a grid of `grid` (blocks, threads per block), after each number of
/// [`STORES`]. Calls `step` after each of the [`STEPS`].
///
/// # Errors
/// If the device fails.
pub fn costs(
    device: &Device,
    grid: (u32, u32),
    mut step: impl FnMut(),
) -> Result<Vec<Cost>, DeviceError> {
    let mut cycles = |operation: &Operation, stores| {
        let slopes = operation.slopes(device, grid, stores)?;
        step();
        Ok::<_, DeviceError>(spread(slopes.into_iter().map(|(cycles, _)| cycles)))
    };
    let mut costs = Vec::new();
    for stores in STORES {
        let alone = cycles(&NOTHING, stores)?.median;
        for operation in &OPERATIONS {
            let with = cycles(operation, stores)?;
            costs.push(Cost {
                instruction: operation.instruction,
                stores,
                cycles: Spread {
                    median: with.median - alone,
                    min: with.min - alone,
                    max: with.max - alone,
                    ..with
                },
            });
        }
    }
    Ok(costs)
}

/// The clock of a multiprocessor in MHz while these kernels run: cycles divided by the device time
/// between events, in one thread that only runs `fence.sc.gpu`.
///
/// # Errors
/// If the device fails.
pub fn clock_mhz(device: &Device) -> Result<f64, DeviceError> {
    let fence = Operation::of::<cost_of_fence_sc_device>("fence.sc.gpu");
    let slopes = fence.slopes(device, (1, 1), 0)?;
    Ok(spread(slopes.into_iter().map(|(cycles, time)| cycles / time)).median)
}

fn spread(samples: impl Iterator<Item = f64>) -> Spread {
    Spread::of(samples.collect()).expect("there should be a sample")
}

//! Strided loads of a warp from shared memory.

use super::{LANES, middle, passes, slope};
use crate::Cycles;
use crate::bench::{FEW, MANY, Spread};
use crate::counting::counts;
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_lab_kernels::banks::{ELEMENTS, banks_load_4, banks_load_8, banks_load_16};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Distances between the elements of adjacent lanes. At 0 all lanes load the same element.
pub const STRIDES: RangeInclusive<u32> = 0..=33;

/// Warps that load at the same time: those of the largest block, which is enough to hide the
/// latency.
pub const WARPS: u32 = 32;

/// Loaded values, cycles, stride, rounds.
type Args = (Global<u32>, Global<u64>, u32, u32);

/// Number of bytes that a lane loads at once.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// The bytes.
    pub bytes: u32,
    launch: unsafe fn(&Device, &Geometry, Args) -> Result<(), DeviceError>,
}

/// All widths of a load instruction.
pub const WIDTHS: [Width; 3] =
    [Width::of::<banks_load_4>(4), Width::of::<banks_load_8>(8), Width::of::<banks_load_16>(16)];

/// A load of a warp. Each lane loads element lane × stride.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Load {
    /// Bytes of an element: 4, 8 or 16.
    pub bytes: u32,
    /// Elements from lane to lane. At 0 all lanes load one element.
    pub stride: u32,
    /// Passes through the banks, by the rule.
    pub rule: u64,
    /// Passes counted by the emulator.
    pub counted: u64,
    /// Whether every lane of every launch found its element.
    pub right: bool,
    /// Warps that load together where `cycles`, `min` and `max` are measured: [`WARPS`].
    pub warps: u32,
    /// From one load to the next, with [`WARPS`] warps on the multiprocessor: the cost of a load.
    #[serde(flatten)]
    pub together: Cycles,
    /// Cycles from one load of a warp to its next, which needs the result, with no other warp on the
    /// multiprocessor: the latency of a load, the median. Null in the emulator.
    pub alone: Option<f64>,
}

/// The result of one launch.
struct Run {
    cycles: f64,
    right: bool,
}

impl Width {
    const fn of<K: Kernel<Args = Args>>(bytes: u32) -> Self {
        Self { bytes, launch: Device::launch::<K> }
    }

    /// Makes `warps` warps of one block load at `stride`, `rounds` times.
    fn run(
        &self,
        device: &Device,
        warps: u32,
        stride: u32,
        rounds: u32,
    ) -> Result<Run, DeviceError> {
        let threads = warps * LANES;
        let found = device.zeroed::<u32>(threads as usize)?;
        let cycles = device.zeroed::<u64>(threads as usize)?;
        let geometry = Geometry::new(1, threads).with_dynamic_shared(ELEMENTS * self.bytes);
        let args = (found.view(), cycles.view(), stride, rounds);
        // SAFETY: the block has whole warps and the shared memory of the array. Strides are at most
        // 33, and there is an element for each thread. The buffers outlive the launch, because the
        // downloads wait for it.
        unsafe { (self.launch)(device, &geometry, args)? };
        let expected = (0..threads).map(|thread| thread % LANES * stride);
        Ok(Run {
            right: found.download()?.into_iter().eq(expected),
            cycles: middle(cycles.download()?),
        })
    }
}

/// Cost of a load of `width` at `stride`: by the rule, in the emulator `counting`, and on `gpu` if
/// there is one.
///
/// # Errors
/// If a device fails.
///
/// # Panics
/// If `stride` is not in [`STRIDES`].
pub fn load(
    gpu: Option<&Device>,
    counting: &Device,
    width: &Width,
    stride: u32,
) -> Result<Load, DeviceError> {
    assert!(STRIDES.contains(&stride), "stride {stride} should be one of {STRIDES:?}");
    let mut right = true;
    // The difference between one round and three excludes the stores that fill the array.
    let mut count = |rounds| {
        right &= width.run(counting, 1, stride, rounds)?.right;
        Ok::<_, DeviceError>(counts(counting))
    };
    let (few, many) = (count(1)?, count(3)?);
    let conflicts = many.bank_conflicts - few.bank_conflicts;
    let loads = many.shared_loads - few.shared_loads;

    let mut cycles = |gpu, warps| {
        slope(FEW, MANY, |rounds| {
            let run = width.run(gpu, warps, stride, rounds)?;
            right &= run.right;
            Ok(run.cycles)
        })
    };
    let (together, alone) = match gpu {
        None => (Cycles::default(), None),
        Some(gpu) => {
            let round = cycles(gpu, WARPS)?;
            // Each warp loads once per round.
            let each = |cycles| cycles / f64::from(WARPS);
            let together = Spread {
                median: each(round.median),
                quartile_range: each(round.quartile_range),
                min: each(round.min),
                max: each(round.max),
                ..round
            };
            (together.into(), Some(cycles(gpu, 1)?.median))
        }
    };
    let bytes = width.bytes as usize;
    let addresses: Vec<_> = (0..LANES).map(|lane| (lane * stride) as usize * bytes).collect();
    // The emulator counts the passes of each part of the warp after the first.
    let parts = u64::from(width.bytes) / 4;
    Ok(Load {
        bytes: width.bytes,
        stride,
        rule: passes(&addresses, bytes),
        counted: parts + conflicts / loads,
        right,
        warps: WARPS,
        together,
        alone,
    })
}

//! The cost of an atomic addition.
//!
//! A cost is a **slope** over the rounds of a launch. It excludes everything that a thread does
//! only once, such as the final addition of a block that adds up in shared memory.

use super::{NUMBERS, TARGETS, Target};
use crate::bench::Spread;
use crate::display::svg::Estimate;
use gridsync::device::{Device, DeviceError, Geometry};
use serde::{Deserialize, Serialize};

/// The cost of an addition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Cost {
    /// The type of the numbers: u32, u64, f32 or f64.
    #[serde(rename = "type")]
    pub dtype: String,
    /// The name of the [`Target`].
    pub target: String,
    /// Whether each thread uses the result, the value before the addition.
    pub with_result: bool,
    /// The number of addresses that the grid adds to.
    pub addresses: u32,
    /// Whether all sums and all results were right.
    pub right: bool,
    /// The measured rate, or counts.
    #[serde(flatten)]
    pub found: Found,
}

/// Findings about an addition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Found {
    /// On a GPU.
    Rate(Rate),
    /// In the emulator.
    Counted(Counted),
}

/// The rate of additions on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Additions of the whole grid per nanosecond, the median.
    pub additions_per_ns: f64,
    /// The least sample.
    pub min: f64,
    /// The greatest sample.
    pub max: f64,
    /// How many samples there were.
    pub samples: usize,
    /// Nanoseconds from one addition to the next at one address.
    pub ns_at_address: f64,
    /// The same in clocks.
    pub clocks_at_address: f64,
}

/// Counts of 32 additions, one by each lane of a warp. All fields count instructions of a warp,
/// except for the sectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counted {
    /// The additions: 32.
    pub per_additions: u32,
    /// Accesses to device memory.
    pub global_accesses: f64,
    /// Sectors of 32 bytes that these accesses touch.
    pub sectors: f64,
    /// Accesses to shared memory.
    pub shared_accesses: f64,
    /// Shuffles.
    pub shuffles: f64,
}

impl Rate {
    /// The rate `spread` of a grid that adds to `addresses` addresses, at a clock of `mhz` MHz.
    #[must_use]
    pub fn new(spread: Spread, addresses: u32, mhz: f64) -> Self {
        let Spread { median, min, max, samples, .. } = spread;
        let ns = f64::from(addresses) / median;
        Self {
            additions_per_ns: median,
            min,
            max,
            samples,
            ns_at_address: ns,
            clocks_at_address: ns * mhz / 1e3,
        }
    }
}

impl Cost {
    /// The rate on a GPU.
    #[must_use]
    pub const fn rate(&self) -> Option<&Rate> {
        match &self.found {
            Found::Rate(rate) => Some(rate),
            Found::Counted(_) => None,
        }
    }

    /// Additions per nanosecond with the range of the samples, for a chart.
    pub(super) fn rates(&self) -> Option<Estimate> {
        let Rate { additions_per_ns, min, max, .. } = *self.rate()?;
        Some(Estimate::between(additions_per_ns, min, max))
    }

    /// Counts of the emulator.
    #[must_use]
    pub const fn counted(&self) -> Option<&Counted> {
        match &self.found {
            Found::Rate(_) => None,
            Found::Counted(counted) => Some(counted),
        }
    }

    /// Whether this is an addition to `target`, with or without the result used.
    pub(super) fn is_of(&self, target: Target, with_result: bool) -> bool {
        self.target == target.name() && self.with_result == with_result
    }
}

/// Number of [`Cost`]s that [`costs`] returns: for each type, each target without the result, and
/// each target except the cures with the result.
pub const STEPS: usize = NUMBERS.len() * (2 * TARGETS.len() - 2);

/// Cost of an addition for each type and target, first without and then with the result, in a grid
/// of `blocks` blocks of `threads` threads. On a GPU, `mhz` is its clock; an emulator counts. Calls
/// `step` after each of the [`STEPS`].
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// If `threads` is not a multiple of 32, or the grid has more than [`MOST_THREADS`] threads.
pub fn costs(
    device: &Device,
    (blocks, threads): (u32, u32),
    mhz: Option<f64>,
    mut step: impl FnMut(),
) -> Result<Vec<Cost>, DeviceError> {
    assert!(threads.is_multiple_of(32), "{threads} threads should be whole warps");
    let all = u64::from(blocks) * u64::from(threads);
    assert!(all <= MOST_THREADS, "{all} threads should be at most {MOST_THREADS}");
    let geometry = Geometry::new(blocks, threads);
    let mut costs = Vec::new();
    for with_result in [false, true] {
        for target in TARGETS.into_iter().filter(|target| !(with_result && target.is_cure())) {
            for number in NUMBERS {
                costs.push((number.cost)(device, geometry, (target, with_result), mhz)?);
                step();
            }
        }
    }
    Ok(costs)
}

/// Maximum number of threads of a grid. This many can add a few rounds to one address before an f32
/// is inexact.
pub const MOST_THREADS: u64 = 1 << 20;

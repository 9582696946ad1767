//! Cost of an atomic addition, by its target: [`costs`].
//!
//! A cost is a **slope** over the rounds of a launch. It excludes everything that a thread does
//! only once, such as the final addition of a block that adds up in shared memory.

mod job;
mod number;

pub use number::{NUMBERS, Type};

use crate::bench::Spread;
use gridsync::device::{Device, DeviceError, Geometry};

/// Bytes of a cache line: the distance between words that should not share a line.
const LINE: usize = 128;

/// The target of a grid's additions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One address.
    Grid,
    /// An address for each block, each in a separate line.
    Block,
    /// An address for each warp, each in a separate line.
    Warp,
    /// An address for each lane, adjacent.
    Lane,
    /// An address for each lane, each in a separate line.
    LaneLine,
    /// One word of shared memory in each block, whose sum is added to one address.
    SharedFirst,
    /// The sum of a warp, by shuffles, is added to one address.
    WarpFirst,
}

/// All targets; the cures come last.
pub const TARGETS: [Target; 7] = [
    Target::Grid,
    Target::Block,
    Target::Warp,
    Target::Lane,
    Target::LaneLine,
    Target::SharedFirst,
    Target::WarpFirst,
];

/// Cost of an addition.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Type of the addition.
    pub ty: Type,
    /// Target of the addition.
    pub target: Target,
    /// Whether each thread uses the result, the value before the addition.
    pub with_result: bool,
    /// Number of addresses that the grid adds to.
    pub addresses: u32,
    /// Measured rate, or counts.
    pub found: Found,
    /// Whether all sums and all results were right.
    pub right: bool,
}

/// Findings about an addition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// On a GPU: additions of the whole grid, 10⁹ per second.
    Rate(Spread),
    /// In the emulator.
    Counted(Counted),
}

/// Counts of 32 additions, one by each lane of a warp. All fields count instructions of a warp,
/// except for the sectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Accesses to device memory.
    pub global_accesses: f64,
    /// Sectors of 32 bytes that these accesses touch.
    pub sectors: f64,
    /// Accesses to shared memory.
    pub shared_accesses: f64,
    /// Shuffles.
    pub shuffles: f64,
}

impl Target {
    /// Name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grid => "one for all",
            Self::Block => "one for each block",
            Self::Warp => "one for each warp",
            Self::Lane => "one for each lane",
            Self::LaneLine => "a line for each lane",
            Self::SharedFirst => "shared memory first",
            Self::WarpFirst => "warp first",
        }
    }

    /// Whether it is a cure for many additions to one address. Cures return no results.
    #[must_use]
    pub const fn is_cure(self) -> bool {
        matches!(self, Self::SharedFirst | Self::WarpFirst)
    }

    /// Threads that share an address.
    fn threads_per_word(self, geometry: &Geometry) -> u32 {
        let block = geometry.block.volume() as u32;
        match self {
            Self::Grid | Self::SharedFirst | Self::WarpFirst => {
                block * geometry.grid.volume() as u32
            }
            Self::Block => block,
            Self::Warp => 32,
            Self::Lane | Self::LaneLine => 1,
        }
    }

    /// Distance between two addresses, in numbers of `bytes` bytes.
    const fn apart(self, bytes: usize) -> usize {
        match self {
            Self::Lane => 1,
            _ => LINE / bytes,
        }
    }
}

impl Cost {
    /// Additions of the whole grid on a GPU, 10⁹ per second: the median.
    #[must_use]
    pub const fn rate(&self) -> Option<f64> {
        match self.found {
            Found::Rate(rate) => Some(rate.median),
            Found::Counted(_) => None,
        }
    }

    /// Counts of the emulator.
    #[must_use]
    pub const fn counted(&self) -> Option<Counted> {
        match self.found {
            Found::Rate(_) => None,
            Found::Counted(counted) => Some(counted),
        }
    }

    /// Nanoseconds from one addition to the next at one address, on a GPU.
    #[must_use]
    pub fn ns_at_address(&self) -> Option<f64> {
        self.rate().map(|rate| f64::from(self.addresses) / rate)
    }
}

/// Number of [`Cost`]s that [`costs`] returns: for each type, each target without the result, and
/// each target except the cures with the result.
pub const STEPS: usize = NUMBERS.len() * (2 * TARGETS.len() - 2);

/// Cost of an addition for each type and target, first without and then with the result, in a grid
/// of `blocks` blocks of `threads` threads. Calls `step` after each of the [`STEPS`].
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// If `threads` is not a multiple of 32, or the grid has more than [`MOST_THREADS`] threads.
pub fn costs(
    device: &Device,
    (blocks, threads): (u32, u32),
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
                costs.push((number.cost)(device, geometry, target, with_result)?);
                step();
            }
        }
    }
    Ok(costs)
}

/// Maximum number of threads of a grid. This many can add a few rounds to one address before an f32
/// is inexact.
pub const MOST_THREADS: u64 = 1 << 20;

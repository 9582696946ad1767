//! What an atomic addition costs, by where it goes: [`costs`].
//!
//! A cost is a **slope** over the rounds of a launch. So what a thread does only once is not in it,
//! such as the addition with which a block ends after it has added up in shared memory.

mod job;
mod number;

pub use number::{NUMBERS, Type};

use crate::bench::Spread;
use gridsync::device::{Device, DeviceError, Geometry};

/// Bytes of a cache line. Words that should not share a line are so far apart.
const LINE: usize = 128;

/// Where the additions of a grid go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One address.
    Grid,
    /// An address for each block, in lines of their own.
    Block,
    /// An address for each warp, in lines of their own.
    Warp,
    /// An address for each lane, next to each other.
    Lane,
    /// An address for each lane, in lines of their own.
    LaneLine,
    /// One word of shared memory in each block, and its sum to one address.
    SharedFirst,
    /// The sum of a warp, by shuffles, to one address.
    WarpFirst,
}

/// All targets, the cures last.
pub const TARGETS: [Target; 7] = [
    Target::Grid,
    Target::Block,
    Target::Warp,
    Target::Lane,
    Target::LaneLine,
    Target::SharedFirst,
    Target::WarpFirst,
];

/// What an addition costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// What is added.
    pub ty: Type,
    /// Where it goes.
    pub target: Target,
    /// Whether each thread uses the result, the number before the addition.
    pub with_result: bool,
    /// Addresses that the grid adds to.
    pub addresses: u32,
    /// What was found about it.
    pub found: Found,
    /// Whether all sums were right, and all results.
    pub right: bool,
}

/// What was found about an addition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// On a GPU: additions of the whole grid, 10⁹ per second.
    Rate(Spread),
    /// In the emulator.
    Counted(Counted),
}

/// What 32 additions take, one of each lane of a warp. Each number is that of instructions of a
/// warp, except for the sectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Accesses to device memory.
    pub global_accesses: f64,
    /// Sectors of 32 bytes that those touch.
    pub sectors: f64,
    /// Accesses to shared memory.
    pub shared_accesses: f64,
    /// Shuffles.
    pub shuffles: f64,
}

impl Target {
    /// What it is called.
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

    /// Whether it is a cure for many additions to one address. Cures give no results.
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

    /// Numbers of `bytes` bytes from one address to the next.
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

    /// What was counted, in the emulator.
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

/// How many [`Cost`]s [`costs`] finds: each target without a result, and each that is no cure with
/// one, for each type.
pub const STEPS: usize = NUMBERS.len() * (2 * TARGETS.len() - 2);

/// What an addition costs for each type and target, first without and then with the result, in a
/// grid of `blocks` blocks of `threads` threads. `step` is called after each of the [`STEPS`].
///
/// # Errors
/// Those of the device.
///
/// # Panics
/// If `threads` is no multiple of 32, or there are more than [`MOST_THREADS`] threads in all.
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

/// Threads of a grid at most. So many can add a few rounds to one address before an f32 is inexact.
pub const MOST_THREADS: u64 = 1 << 20;

//! What no rung can pass, and what a device has no rung for.

use crate::bench::Measurement;
use gridsync::device::DeviceError;

/// Grids of the kernel that makes the roof: so many times the blocks that are resident.
pub(super) const TIMES_RESIDENT: [u32; 4] = [1, 2, 4, 8];

/// The best rate of a kernel that does nothing with the memory that all rungs have to go through.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// Blocks of its grid, the best of those tried.
    pub blocks: u32,
    /// Its time, µs.
    pub measured: Measurement,
    /// What it reads and writes, GB/s (10⁹ bytes).
    pub gb_per_s: f64,
}

impl Roof {
    /// The best of grids of so many blocks, each of which goes through `bytes`.
    pub(super) fn best_of(
        grids: impl IntoIterator<Item = u32>,
        bytes: usize,
        mut measure: impl FnMut(u32) -> Result<Measurement, DeviceError>,
    ) -> Result<Option<Self>, DeviceError> {
        let mut best: Option<Self> = None;
        for blocks in grids {
            let measured = measure(blocks)?;
            let gb_per_s = bytes as f64 / measured.time.median / 1e3;
            if best.as_ref().is_none_or(|best| best.gb_per_s < gb_per_s) {
                best = Some(Self {
                    blocks,
                    measured,
                    gb_per_s,
                });
            }
        }
        Ok(best)
    }
}

/// A rung that the device has no kernel for.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    /// Its number.
    pub number: u32,
    /// What it is called.
    pub name: &'static str,
    /// Why.
    pub error: DeviceError,
}

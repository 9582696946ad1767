//! The rate that no rung can exceed.

use super::Ladder;
use crate::bench::{Measurement, Sampling, once};
use cuda_std::launch::Kernel;
use gridsync::device::{Device, DeviceError};
use gridsync::launch::resident_blocks;
use gridsync_lab_kernels::ladder::THREADS;

/// Grids to try, as multiples of the number of resident blocks.
const TIMES_RESIDENT: [u32; 4] = [1, 2, 4, 8];

/// The best rate of a kernel that only moves the bytes that every rung has to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// Blocks of the best grid.
    pub blocks: u32,
    /// Its time, µs.
    pub measured: Measurement,
    /// Rate of its reads and writes, GB/s (10⁹ bytes).
    pub gb_per_s: f64,
}

impl Roof {
    /// The roof of `ladder` for `len` elements. `None` in the emulator, where times are
    /// meaningless.
    pub(super) fn of<L: Ladder>(
        device: &Device,
        ladder: &L,
        len: usize,
        sampling: &Sampling,
    ) -> Result<Option<Self>, DeviceError> {
        if device.properties().is_emulated() {
            return Ok(None);
        }
        let mut best: Option<Self> = None;
        for blocks in ladder.roof_grids(len)? {
            let measured = once(device, sampling, || ladder.launch_roof(len, blocks))?;
            let gb_per_s = (len * L::BYTES) as f64 / measured.time.median / 1e3;
            if best.as_ref().is_none_or(|best| best.gb_per_s < gb_per_s) {
                best = Some(Self { blocks, measured, gb_per_s });
            }
        }
        Ok(best)
    }
}

/// Some multiples of the number of resident blocks of `K`.
pub(super) fn grids<K: Kernel>(device: &Device) -> Result<Vec<u32>, DeviceError> {
    let resident = resident_blocks::<K>(device, THREADS, 0)?.max(1);
    Ok(TIMES_RESIDENT.map(|times| times * resident).to_vec())
}

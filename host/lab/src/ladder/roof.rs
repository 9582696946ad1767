//! The rate that no rung can exceed.

use super::Ladder;
use crate::bench::{Sampling, once};
use cuda_std::launch::Kernel;
use gridsync::device::{Device, DeviceError};
use gridsync::launch::resident_blocks;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::scans::kernels::ladder_scan_copy;

/// Grids to try, as multiples of the number of resident blocks.
const TIMES_RESIDENT: [u32; 4] = [1, 2, 4, 8];

/// Bytes that a thread of a copy has in flight: four packs.
const COPIED_AT_ONCE: usize = 64;

/// Blocks of the best grid of the kernel that only moves the bytes of `len` elements, and its rate
/// in GB/s (10⁹ bytes). `None` in the emulator, where times are meaningless.
pub(super) fn best_roof<L: Ladder>(
    device: &Device,
    ladder: &L,
    len: usize,
    sampling: &Sampling,
) -> Result<Option<(u32, f64)>, DeviceError> {
    if device.properties().is_emulated() {
        return Ok(None);
    }
    let mut best: Option<(u32, f64)> = None;
    for blocks in ladder.roof_grids(len)? {
        let measured = once(device, sampling, || ladder.launch_roof(len, blocks))?;
        let gb_per_s = (len * L::KIND.bytes) as f64 / measured.time.median / 1e3;
        if best.is_none_or(|(_, best)| best < gb_per_s) {
            best = Some((blocks, gb_per_s));
        }
    }
    Ok(best)
}

/// Some multiples of the number of resident blocks of `K`.
pub(super) fn grids<K: Kernel>(device: &Device) -> Result<Vec<u32>, DeviceError> {
    let resident = resident_blocks::<K>(device, THREADS, 0)?.max(1);
    Ok(TIMES_RESIDENT.map(|times| times * resident).to_vec())
}

/// The grids to try for a copy of `len` elements of 4 bytes. One of them copies everything in one
/// pass.
pub(super) fn copy_grids(device: &Device, len: usize) -> Result<Vec<u32>, DeviceError> {
    let mut grids = grids::<ladder_scan_copy>(device)?;
    let at_once = COPIED_AT_ONCE * THREADS as usize;
    grids.push((len * size_of::<u32>()).div_ceil(at_once) as u32);
    Ok(grids)
}

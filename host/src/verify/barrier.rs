//! Cases of the grid barrier.

use super::CaseError;
use crate::device::Device;
use crate::launch::{Blocks, cooperative};
use gridsync_kernels::entry::barrier::barrier_rounds;

/// Crosses the grid barrier `rounds` times in each of `launches` launches over one barrier word,
/// and checks after each crossing what every block wrote before it.
///
/// # Errors
/// [`CaseError::Wrong`] with the number of stale values, and those of the device.
pub fn barrier_case(
    device: &Device,
    blocks: Blocks,
    threads: u32,
    launches: u32,
    rounds: u32,
) -> Result<(), CaseError> {
    let geometry = cooperative::<barrier_rounds>(device, blocks, threads, 0)?;
    let grid_threads = (geometry.grid.volume() * geometry.block.volume()) as usize;
    let barrier = device.zeroed::<u32>(1)?;
    let cells = device.zeroed::<u32>(grid_threads)?;
    let errors = device.zeroed::<u32>(1)?;
    for launch in 0..launches {
        let args = (
            barrier.view(),
            cells.view(),
            errors.view(),
            1 + launch * rounds,
            rounds,
        );
        // SAFETY: one barrier word that starts at 0, a cell for each thread, one counter, and a
        // geometry in which all blocks are resident; the buffers outlive the launches.
        unsafe { device.launch::<barrier_rounds>(&geometry, args)? };
    }
    match errors.download()?[0] {
        0 => Ok(()),
        stale => Err(CaseError::Wrong(format!(
            "{stale} stale values seen past the grid barrier: {geometry}, {launches} launches of {rounds} rounds"
        ))),
    }
}

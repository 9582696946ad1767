//! Cases of the grid barrier.

use super::CaseError;
use crate::device::Device;
use crate::launch::{Blocks, cooperative};
use gridsync_kernels::entry::barrier::Measured;

/// Crosses the grid barrier `B` `rounds` times in each of `launches` launches over one state,
/// and checks after each crossing what every block wrote before it.
///
/// # Errors
/// [`CaseError::Wrong`] with the number of stale values, and those of the device.
pub fn barrier_case<B: Measured>(
    device: &Device,
    blocks: Blocks,
    threads: u32,
    launches: u32,
    rounds: u32,
) -> Result<(), CaseError> {
    let geometry = cooperative::<B::Rounds>(device, blocks, threads, 0)?;
    let grid_threads = (geometry.grid.volume() * geometry.block.volume()) as usize;
    let barrier = device.zeroed::<u32>(B::WORDS)?;
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
        // SAFETY: the barrier's words, which start at 0, a cell for each thread, one counter, and a
        // geometry in which all blocks are resident; the buffers outlive the launches.
        unsafe { device.launch::<B::Rounds>(&geometry, args)? };
    }
    match errors.download()?[0] {
        0 => Ok(()),
        stale => Err(CaseError::Wrong(format!(
            "{stale} stale values seen past the grid barrier: {geometry}, {launches} launches of {rounds} rounds"
        ))),
    }
}

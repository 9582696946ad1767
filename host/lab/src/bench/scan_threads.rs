//! The suite `scan-threads`: every thread of the grid gets the sum of the numbers of all preceding
//! threads, repeatedly. The peer does the same with cooperative groups' `grid.sync()`.

use super::suite::if_resident;
use super::{Design, FEW, MANY, Measurement, PeerProgram, Sampling, Shape, Suite, slope};
use gridsync::device::{Device, DeviceError, KernelInfo};
use gridsync::launch::{Blocks, cooperative};
use gridsync_kernels::grid::barrier::Exchange;
use gridsync_lab_kernels::barrier::exchange_scan_threads_only;

/// The suite.
pub const SCAN_THREADS: Suite = Suite {
    name: "scan-threads",
    designs: &[Design {
        name: "exchange",
        kernel: KernelInfo::of::<exchange_scan_threads_only>(),
        cluster: None,
        measure: exchange,
    }],
    peer: PeerProgram {
        name: "grid.sync",
        source: include_str!("../../peers/grid_sync_scan_threads.cu"),
        flags: &["-rdc=true"],
    },
};

/// With the barrier that carries data.
fn exchange(
    device: &Device,
    _cluster: Option<u32>,
    Shape { blocks, threads }: Shape,
    sampling: &Sampling,
) -> Result<Option<Measurement>, DeviceError> {
    let exactly = Blocks::Exactly(blocks);
    let geometry = cooperative::<exchange_scan_threads_only>(device, exactly, threads, 0);
    let Some(geometry) = if_resident(geometry)? else {
        return Ok(None);
    };
    let words = device.zeroed::<u64>(Exchange::words(blocks as usize))?;
    let numbers = device.zeroed::<u32>((blocks * threads) as usize)?;
    let measured = slope(device, FEW, MANY, sampling, |rounds| {
        let args = (words.view(), numbers.view(), rounds);
        // SAFETY: the exchange's words start at 0, there is a number for each thread, and all
        // blocks of the geometry are resident. Both buffers outlive the launches.
        unsafe { device.launch::<exchange_scan_threads_only>(&geometry, args) }
    })?;
    Ok(Some(measured))
}

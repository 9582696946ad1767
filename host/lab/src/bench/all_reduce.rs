//! The suite `all-reduce`: combines one number per block and broadcasts the result to every block,
//! repeatedly. The peer does the same with cooperative groups' `grid.sync()`: a store, the barrier,
//! and a warp of each block that loads and adds up all numbers.

use super::suite::if_resident;
use super::{Design, FEW, MANY, Measurement, PeerProgram, Sampling, Shape, Suite, slope};
use cuda_std::launch::Kernel;
use gridsync::device::{Device, DeviceError, KernelInfo};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync_kernels::grid::barrier::{Exchange, GridBarrier};
use gridsync_lab_kernels::barrier::{exchange_by_barrier_only, exchange_only};

/// The suite.
pub const ALL_REDUCE: Suite = Suite {
    name: "all-reduce",
    designs: &[
        of::<exchange_only>("exchange", exchange),
        of::<exchange_by_barrier_only>("barrier", by_barrier),
    ],
    peer: PeerProgram {
        name: "grid.sync",
        source: include_str!("../../peers/grid_sync_all_reduce.cu"),
        flags: &["-rdc=true"],
    },
};

const fn of<K: Kernel>(name: &'static str, measure: super::suite::Measure) -> Design {
    Design { name, kernel: KernelInfo::of::<K>(), cluster: None, measure }
}

/// With the barrier that carries data.
fn exchange(
    device: &Device,
    _cluster: Option<u32>,
    Shape { blocks, threads }: Shape,
    sampling: &Sampling,
) -> Result<Option<Measurement>, DeviceError> {
    let geometry = cooperative::<exchange_only>(device, Blocks::Exactly(blocks), threads, 0);
    let Some(geometry) = if_resident(geometry)? else {
        return Ok(None);
    };
    let words = device.zeroed::<u64>(Exchange::words(blocks as usize))?;
    let means = device.zeroed::<f32>(blocks as usize)?;
    let measured = slope(device, FEW, MANY, sampling, |rounds| {
        let args = (words.view(), means.view(), rounds);
        // SAFETY: the exchange's words start at 0, there is a number for each block, and all blocks
        // of the geometry are resident. Both buffers outlive the launches.
        unsafe { device.launch::<exchange_only>(&geometry, args) }
    })?;
    Ok(Some(measured))
}

/// With our own barrier, used in the same way as the peer's.
fn by_barrier(
    device: &Device,
    _cluster: Option<u32>,
    Shape { blocks, threads }: Shape,
    sampling: &Sampling,
) -> Result<Option<Measurement>, DeviceError> {
    let exactly = Blocks::Exactly(blocks);
    let geometry = cooperative::<exchange_by_barrier_only>(device, exactly, threads, 0);
    let Some(geometry) = if_resident(geometry)? else {
        return Ok(None);
    };
    let words = barrier_words::<GridBarrier>(device, &geometry)?;
    let numbers = device.zeroed::<f32>(2 * blocks as usize)?;
    let means = device.zeroed::<f32>(blocks as usize)?;
    let measured = slope(device, FEW, MANY, sampling, |rounds| {
        let args = (words.view(), numbers.view(), means.view(), rounds);
        // SAFETY: the barrier's words start at 0, there are two numbers and a mean for each block,
        // and all blocks of the geometry are resident. The buffers outlive the launches.
        unsafe { device.launch::<exchange_by_barrier_only>(&geometry, args) }
    })?;
    Ok(Some(measured))
}

//! The suite `all-reduce`: one number of each block, combined and brought to every block, again and
//! again. The peer is the same built from cooperative groups' `grid.sync()`: a store, the barrier,
//! and a warp of each block that loads and adds up all numbers.

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
        source: include_str!("../../../../bench/peers/grid_sync_all_reduce.cu"),
        flags: &["-rdc=true"],
    },
};

const fn of<K: Kernel>(name: &'static str, measure: super::suite::Measure) -> Design {
    Design {
        name,
        kernel: KernelInfo::of::<K>(),
        cluster: None,
        measure,
    }
}

/// By the barrier that carries data.
fn exchange(
    device: &Device,
    _cluster: Option<u32>,
    Shape { blocks, threads }: Shape,
    sampling: &Sampling,
) -> Result<Option<Measurement>, DeviceError> {
    let geometry = match cooperative::<exchange_only>(device, Blocks::Exactly(blocks), threads, 0) {
        Err(DeviceError::GridTooLarge { .. } | DeviceError::BadBlock { .. }) => return Ok(None),
        geometry => geometry?,
    };
    let words = device.zeroed::<u64>(Exchange::words(blocks as usize))?;
    let means = device.zeroed::<f32>(blocks as usize)?;
    let measured = slope(device, FEW, MANY, sampling, |rounds| {
        let args = (words.view(), means.view(), rounds);
        // SAFETY: the exchange's words, which start at 0, a number for each block, and a geometry
        // whose blocks are all resident; both buffers outlive the launches.
        unsafe { device.launch::<exchange_only>(&geometry, args) }
    })?;
    Ok(Some(measured))
}

/// By our own barrier, as the peer does it by its.
fn by_barrier(
    device: &Device,
    _cluster: Option<u32>,
    Shape { blocks, threads }: Shape,
    sampling: &Sampling,
) -> Result<Option<Measurement>, DeviceError> {
    let exactly = Blocks::Exactly(blocks);
    let geometry = match cooperative::<exchange_by_barrier_only>(device, exactly, threads, 0) {
        Err(DeviceError::GridTooLarge { .. } | DeviceError::BadBlock { .. }) => return Ok(None),
        geometry => geometry?,
    };
    let words = barrier_words::<GridBarrier>(device, &geometry)?;
    let numbers = device.zeroed::<f32>(2 * blocks as usize)?;
    let means = device.zeroed::<f32>(blocks as usize)?;
    let measured = slope(device, FEW, MANY, sampling, |rounds| {
        let args = (words.view(), numbers.view(), means.view(), rounds);
        // SAFETY: the barrier's words, which start at 0, two numbers and one for each block, and a
        // geometry whose blocks are all resident; the buffers outlive the launches.
        unsafe { device.launch::<exchange_by_barrier_only>(&geometry, args) }
    })?;
    Ok(Some(measured))
}

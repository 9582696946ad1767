//! The suite `barrier`: each design of a grid barrier, compared with cooperative groups'
//! `grid.sync()`.

use super::suite::if_resident;
use super::{Design, FEW, MANY, Measurement, PeerProgram, Sampling, Shape, Suite, slope};
use gridsync::device::{Device, DeviceError, KernelInfo};
use gridsync::launch::{Blocks, barrier_words, cooperative, cooperative_in_clusters};
use gridsync_kernels::grid::barrier::{GridBarrier, LateBarrier, SplitBarrier};
use gridsync_lab_kernels::barrier::Measured;
use gridsync_lab_kernels::barrier::{
    ClusterBarrier, FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, PhaseBarrier,
    Ptx, ReleaseBarrier, TreeBarrier, Volatile,
};

/// The suite.
pub const BARRIER: Suite = Suite {
    name: "barrier",
    designs: DESIGNS,
    peer: PeerProgram {
        name: "grid.sync",
        source: include_str!("../../peers/grid_sync.cu"),
        flags: &["-rdc=true"],
    },
};

const DESIGNS: &[Design] = &[
    of::<GridBarrier>("grid"),
    of::<SplitBarrier<2>>("split"),
    of::<SplitBarrier<4>>("split-4"),
    of::<LateBarrier>("late"),
    of::<PhaseBarrier>("phase"),
    of::<FlipBarrier>("flip"),
    of::<GrowingBarrier>("growing"),
    of::<GrowingBarrier<Volatile>>("growing-volatile"),
    of::<GrowingBarrier<Ptx>>("growing-ptx"),
    of::<GenerationBarrier>("generation"),
    of::<ReleaseBarrier>("release"),
    of::<TreeBarrier>("tree"),
    of::<LockFreeBarrier>("lock-free"),
    of::<ClusterBarrier>("cluster-2").in_clusters_of(2),
    of::<ClusterBarrier>("cluster-4").in_clusters_of(4),
];

/// The design `B` with the name `name`.
const fn of<B: Measured>(name: &'static str) -> Design {
    Design { name, kernel: KernelInfo::of::<B::Only>(), cluster: None, measure: measure::<B> }
}

/// µs per crossing of `B`, back to back. `None` if the grid cannot be resident.
fn measure<B: Measured>(
    device: &Device,
    cluster: Option<u32>,
    Shape { blocks, threads }: Shape,
    sampling: &Sampling,
) -> Result<Option<Measurement>, DeviceError> {
    let blocks = Blocks::Exactly(blocks);
    let geometry = match cluster {
        None => cooperative::<B::Only>(device, blocks, threads, 0),
        Some(size) => cooperative_in_clusters::<B::Only>(device, blocks, threads, 0, size),
    };
    let Some(geometry) = if_resident(geometry)? else {
        return Ok(None);
    };
    let state = barrier_words::<B>(device, &geometry)?;
    let measured = slope(device, FEW, MANY, sampling, |rounds| {
        // SAFETY: the barrier's words start at 0 and outlive the launches, and all blocks of the
        // geometry are resident.
        unsafe { device.launch::<B::Only>(&geometry, (state.view(), rounds)) }
    })?;
    Ok(Some(measured))
}

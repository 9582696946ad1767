//! The compared forms.

use cuda_std::memory::Global;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync_kernels::grid::barrier::GridBarrier;
use gridsync_lab_kernels::barrier::{
    FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, Ptx, TreeBarrier, Volatile,
};
use gridsync_lab_kernels::xpx::Transforms;
use serde::{Deserialize, Serialize};

/// A way to run X→P→X repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A launch for each stage.
    Launches,
    /// The same launches recorded in a graph, which one call puts into the stream.
    Graph,
    /// A launch for each stage, which may start before the previous launch has ended (programmatic
    /// dependent launch, compute capability 9.0).
    Overlapped,
    /// The overlapping launches recorded in one graph.
    OverlappedGraph,
    /// One launch for everything, with a grid barrier between the stages.
    #[serde(untagged)]
    Barrier(Design),
}

/// A grid barrier between the stages of a single launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// [`GridBarrier`], the recommended one.
    Grid,
    /// [`FlipBarrier`], the design of cooperative groups.
    Flip,
    /// [`GrowingBarrier`] that polls with volatile loads.
    GrowingVolatile,
    /// [`GrowingBarrier`] that polls in a loop of inline PTX.
    GrowingPtx,
    /// [`GenerationBarrier`].
    Generation,
    /// [`LockFreeBarrier`].
    LockFree,
    /// [`TreeBarrier`].
    Tree,
}

impl Form {
    /// One launch with the [`GridBarrier`].
    pub const GRID: Self = Self::Barrier(Design::Grid);

    /// All forms: many launches first, then one.
    pub const ALL: [Self; 11] = [
        Self::Launches,
        Self::Graph,
        Self::Overlapped,
        Self::OverlappedGraph,
        Self::Barrier(Design::Grid),
        Self::Barrier(Design::Flip),
        Self::Barrier(Design::GrowingVolatile),
        Self::Barrier(Design::GrowingPtx),
        Self::Barrier(Design::Generation),
        Self::Barrier(Design::LockFree),
        Self::Barrier(Design::Tree),
    ];

    /// Name of the form. For a barrier, it is the name in `gridsync bench barrier`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Launches => "launches",
            Self::Graph => "graph",
            Self::Overlapped => "overlapped",
            Self::OverlappedGraph => "overlapped-graph",
            Self::Barrier(Design::Grid) => "grid",
            Self::Barrier(Design::Flip) => "flip",
            Self::Barrier(Design::GrowingVolatile) => "growing-volatile",
            Self::Barrier(Design::GrowingPtx) => "growing-ptx",
            Self::Barrier(Design::Generation) => "generation",
            Self::Barrier(Design::LockFree) => "lock-free",
            Self::Barrier(Design::Tree) => "tree",
        }
    }
}

/// X, P, the words of the barrier, rounds.
pub(super) type Args = (Global<f32>, Global<f32>, Global<u32>, u32);

/// The functions that launch the kernel of a design.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    /// The geometry for this many blocks and threads per block, if all can be resident.
    pub(super) geometry: fn(&Device, u32, u32) -> Result<Geometry, DeviceError>,
    /// The words of the barrier.
    pub(super) words: fn(&Device, &Geometry) -> Result<Buffer<u32>, DeviceError>,
    /// Launches the kernel.
    pub(super) launch: unsafe fn(&Device, &Geometry, Args) -> Result<(), DeviceError>,
}

impl Single {
    const fn of<B: Transforms>() -> Self {
        Self {
            geometry: |device, blocks, threads| {
                cooperative::<B::Xpx>(device, Blocks::Exactly(blocks), threads, 0)
            },
            words: barrier_words::<B>,
            launch: Device::launch::<B::Xpx>,
        }
    }
}

impl Design {
    /// The functions that launch its kernel.
    pub(super) const fn single(self) -> Single {
        match self {
            Self::Grid => Single::of::<GridBarrier>(),
            Self::Flip => Single::of::<FlipBarrier>(),
            Self::GrowingVolatile => Single::of::<GrowingBarrier<Volatile>>(),
            Self::GrowingPtx => Single::of::<GrowingBarrier<Ptx>>(),
            Self::Generation => Single::of::<GenerationBarrier>(),
            Self::LockFree => Single::of::<LockFreeBarrier>(),
            Self::Tree => Single::of::<TreeBarrier>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_its_name_in_json() {
        for form in Form::ALL {
            let json = serde_json::to_value(form).expect("JSON");
            assert_eq!(json, form.name());
            assert_eq!(serde_json::from_value::<Form>(json).ok(), Some(form));
        }
    }
}

//! Cases of the grid barriers: correct ones have to hold, and broken ones have to be caught.

use super::CaseError;
use cuda_std::launch::Kernel;
use gridsync::device::{Device, DeviceError};
use gridsync::launch::{Blocks, barrier_words, cooperative, cooperative_in_clusters};
use gridsync_kernels::grid::barrier::{GridBarrier, LateBarrier, SplitBarrier};
use gridsync_lab_kernels::barrier::{
    BlockScopeFence, EqualGoal, Mutant, NoFirstBarrier, NoLastBarrier, OneBit, RelaxedArrival,
    RelaxedLook, ShortGoal, Stressed, WeakLook,
};
use gridsync_lab_kernels::barrier::{
    ClusterBarrier, FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, PhaseBarrier,
    Ptx, ReleaseBarrier, ResetBarrier, TreeBarrier, Volatile,
};

/// Parameters of a test that crosses a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// Blocks of the grid.
    pub blocks: Blocks,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a cluster, if there are clusters. The grid is rounded up to whole clusters.
    pub cluster: Option<u32>,
    /// Words that each thread writes before each barrier.
    pub cells: u32,
    /// The most cycles by which a warp reaches a barrier late.
    pub skew: u32,
    /// Words of memory that the threads store to, all over, before they write their own cells. On a
    /// GPU, other threads then see unreleased stores late. No such stores if 0.
    pub far: usize,
    /// Launches, all with the same state.
    pub launches: u32,
    /// Rounds of each launch, of two crossings each.
    pub rounds: u32,
}

impl Crossing {
    /// Two launches of ten rounds, with one word for each thread and no delays.
    #[must_use]
    pub const fn of(blocks: Blocks, threads: u32) -> Self {
        Self { blocks, threads, cluster: None, cells: 1, skew: 0, far: 0, launches: 2, rounds: 10 }
    }
}

/// The result of crossing a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No error.
    Held,
    /// Number of times that a thread read a value from another round.
    Stale(u32),
    /// Number of waits that were given up. A barrier without a bound would never return from these.
    GivenUp(u32),
}

/// A barrier that can be crossed.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// Name.
    pub name: &'static str,
    /// The kernel that checks it.
    pub kernel: &'static str,
    /// Crosses it (see [`cross`]).
    pub cross: fn(&Device, &Crossing) -> Result<Outcome, DeviceError>,
}

impl Contender {
    const fn of<B: Stressed>(name: &'static str) -> Self {
        Self { name, kernel: B::Rounds::NAME, cross: cross::<B> }
    }

    /// The cluster barrier in clusters of `BLOCKS` blocks.
    const fn in_clusters_of<const BLOCKS: u32>(name: &'static str) -> Self {
        let cross = |device: &Device, crossing: &Crossing| {
            let cluster = Some(BLOCKS);
            cross::<ClusterBarrier>(device, &Crossing { cluster, ..*crossing })
        };
        Self { cross, ..Self::of::<ClusterBarrier>(name) }
    }

    /// Crosses the barrier, and fails with the error if it did not hold.
    ///
    /// # Errors
    /// [`CaseError::Wrong`] with the outcome, or if the device fails.
    pub fn case(&self, device: &Device, crossing: &Crossing) -> Result<(), CaseError> {
        match (self.cross)(device, crossing)? {
            Outcome::Held => Ok(()),
            outcome => Err(CaseError::Wrong(format!(
                "the {} barrier did not hold: {outcome:?}, {crossing:?}",
                self.name
            ))),
        }
    }
}

/// The designs, all correct. The cluster barrier needs compute capability 9.0.
pub const DESIGNS: &[Contender] = &[
    Contender::of::<GridBarrier>("grid"),
    Contender::of::<SplitBarrier<2>>("split"),
    Contender::of::<SplitBarrier<4>>("split-4"),
    Contender::of::<LateBarrier>("late"),
    Contender::of::<PhaseBarrier>("phase"),
    Contender::of::<FlipBarrier>("flip"),
    Contender::of::<GrowingBarrier>("growing"),
    Contender::of::<GrowingBarrier<Volatile>>("growing-volatile"),
    Contender::of::<GrowingBarrier<Ptx>>("growing-ptx"),
    Contender::of::<GenerationBarrier>("generation"),
    Contender::of::<ReleaseBarrier>("release"),
    Contender::of::<TreeBarrier>("tree"),
    Contender::of::<LockFreeBarrier>("lock-free"),
    Contender::in_clusters_of::<1>("cluster-1"),
    Contender::in_clusters_of::<2>("cluster-2"),
    Contender::in_clusters_of::<4>("cluster-4"),
];

/// Broken barriers. The more of these a test catches, the stronger the evidence from a design
/// that passes it.
pub const MUTANTS: &[Contender] = &[
    Contender::of::<ResetBarrier>("reset under its waiters"),
    Contender::of::<Mutant<NoFirstBarrier>>("no block barrier first"),
    Contender::of::<Mutant<NoLastBarrier>>("no block barrier last"),
    Contender::of::<Mutant<RelaxedArrival>>("relaxed arrival"),
    Contender::of::<Mutant<BlockScopeFence>>("fence of block scope"),
    Contender::of::<Mutant<RelaxedLook>>("relaxed look"),
    Contender::of::<Mutant<WeakLook>>("plain look"),
    Contender::of::<Mutant<ShortGoal>>("one arrival too few"),
    Contender::of::<Mutant<EqualGoal>>("goal by =="),
    Contender::of::<OneBit>("two counters, one bit"),
];

/// Crosses `B` according to `crossing`, and checks after each crossing what every block wrote
/// before it.
///
/// # Errors
/// If the device fails.
pub fn cross<B: Stressed>(device: &Device, crossing: &Crossing) -> Result<Outcome, DeviceError> {
    let Crossing { blocks, threads, .. } = *crossing;
    let geometry = match crossing.cluster {
        None => cooperative::<B::Rounds>(device, blocks, threads, 0)?,
        Some(cluster) => {
            let blocks = match blocks {
                Blocks::Exactly(blocks) => Blocks::Exactly(blocks.next_multiple_of(cluster)),
                Blocks::AtMost(blocks) => Blocks::AtMost(blocks.next_multiple_of(cluster)),
                rounded_down => rounded_down,
            };
            cooperative_in_clusters::<B::Rounds>(device, blocks, threads, 0, cluster)?
        }
    };
    let grid_threads = (geometry.grid.volume() * geometry.block.volume()) as usize;
    let barrier = barrier_words::<B>(device, &geometry)?;
    let cells = device.zeroed::<u32>(grid_threads * crossing.cells as usize)?;
    let errors = device.zeroed::<u32>(1 + crossing.far)?;
    for launch in 0..crossing.launches {
        let args = (
            barrier.view(),
            cells.view(),
            errors.view(),
            1 + launch * crossing.rounds,
            crossing.rounds,
            crossing.skew,
        );
        // SAFETY: the buffers have the barrier's words, which start at 0, a multiple of as many
        // cells as threads, a counter, and the words of the far stores. All blocks of the geometry
        // are resident. The buffers outlive the launches.
        unsafe { device.launch::<B::Rounds>(&geometry, args)? };
    }
    let stale = errors.download_part(0..1)?[0];
    Ok(match B::waits_given_up(&barrier.download()?) {
        0 if stale == 0 => Outcome::Held,
        0 => Outcome::Stale(stale),
        given_up => Outcome::GivenUp(given_up),
    })
}

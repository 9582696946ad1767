//! The ring of stages, each with the memory of a tile and the values derived from it.

use super::{SCANNERS, STAGES};
use cuda_std::mbarrier;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp};

// The barriers of a stage are `STAGES` apart. Each lane that has read or written arrives itself.
/// The tile is loaded. The loader and the bytes of the tile arrive.
pub(super) const FULL: u32 = 0;
/// The totals of the strips are written. The reducers arrive.
pub(super) const REDUCED: u32 = STAGES;
/// The prefix and the value before each strip are written. Looker and first reducer arrive.
pub(super) const PREFIX: u32 = 2 * STAGES;
/// The stage may be loaded again. The scanners, the looker and the first reducer arrive.
pub(super) const EMPTY: u32 = 3 * STAGES;

shared_array! {
    /// The barriers of the stages.
    pub(super) fn gridsync_scan_ring() -> [u64; 4 * STAGES as usize];
    /// The tile in each stage.
    pub(super) fn gridsync_scan_tiles() -> [u32; STAGES as usize];
    /// The combined value of each strip of the tile in each stage.
    pub(super) fn gridsync_scan_strips() -> [u64; (STAGES * SCANNERS) as usize];
    /// The combined value before each strip in its tile.
    pub(super) fn gridsync_scan_before() -> [u64; (STAGES * SCANNERS) as usize];
    /// The prefix of the tile in each stage.
    pub(super) fn gridsync_scan_prefix() -> [u64; STAGES as usize];
}

/// A turn of the ring.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) stage: u32,
    pub(super) parity: u32,
}

impl Turn {
    /// Turn `number`, from 0.
    #[inline(always)]
    pub(super) fn of(number: u32) -> Self {
        Self { stage: number % STAGES, parity: number / STAGES % 2 }
    }

    /// Waits for one of this stage's barriers. Called by all lanes of a warp.
    #[device]
    pub(super) fn wait(self, barrier: u32) {
        mbarrier::wait(gridsync_scan_ring(), (barrier + self.stage) as usize, self.parity);
        sync_warp(FULL_MASK);
    }

    /// Arrives at one of this stage's barriers.
    #[device]
    pub(super) fn arrive(self, barrier: u32) {
        mbarrier::arrive(gridsync_scan_ring(), (barrier + self.stage) as usize);
    }

    /// Waits for the tile of this turn and returns its number. Called by all lanes of a warp.
    #[device]
    pub(super) fn tile(self) -> u32 {
        self.wait(FULL);
        gridsync_scan_tiles().read(self.stage as usize)
    }

    /// The index of a strip among those of all stages.
    #[inline(always)]
    pub(super) fn strip(self, strip: u32) -> usize {
        (self.stage * SCANNERS + strip) as usize
    }
}

//! The tiles of a scan or a selection, one per block: which tile a block processes, and the
//! combined value of the tiles before it.
//!
//! A tile's number is a **ticket**, which the block draws when it starts. A tile waits only for
//! smaller tickets, which were drawn by blocks that have started. So the wait ends however few
//! blocks are resident, and in whatever order the hardware starts them. `README.md` of the scan
//! documents the words, which blocks write them, and why that suffices.

mod across_warps;
mod prefix;
mod strip;

pub(super) use across_warps::{across_warps, segmented_across_warps};
pub(super) use strip::Strip;

use super::stamped::{OneGpu, Readers, Stamped};
use super::workspace::{Workspace, draw, last_stamp};
use crate::block::ThreadPosition;
use crate::op::Carried;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// The most warps of a block.
pub(super) const MOST_WARPS: u32 = 8;

/// The most tiles of a group: each thread of a block polls up to four.
pub const MOST_GROUP: u32 = 1024;

/// The most tiles of a group that one thread polls.
const LOOKS: u32 = MOST_GROUP / (MOST_WARPS * WARP_SIZE);

/// Words of the state: the number of tiles handed out, the stamp of the last launch, and the number
/// of blocks that have ended (counted only in a launch with the last stamp).
pub(super) const TICKET: usize = 0;
pub(super) const STAMP: usize = 1;
pub(super) const ENDED: usize = 2;
/// The number of these words.
pub(super) const STATE: usize = 3;

shared_array! {
    /// The number of the tile, and the stamp of the launch.
    fn gridsync_scan_turn() -> [u32; 2];
}

/// A tile of this block, and the words that tiles send to each other.
#[derive(Clone, Copy)]
pub(super) struct Tiles<R = OneGpu> {
    pub(super) tile: u32,
    count: u32,
    /// The number of tiles in a group: a power of two, up to [`LOOKS`] per thread.
    group: u32,
    /// The values that tiles send: the aggregate of tile t at index t, the base of group g at index
    /// `count` + g.
    values: Stamped<R>,
}

impl Tiles {
    /// Draws the tile of this block, in a launch with one block per tile. Called by all threads of
    /// the block. It contains a block barrier unless the array is one tile.
    #[device]
    pub(super) fn draw(
        Workspace { words, state }: Workspace,
        count: u32,
        group: u32,
        at: ThreadPosition,
    ) -> Self {
        let (tile, stamp) = ticket_and_stamp(state, count, at);
        Self::of(tile, count, group, Stamped::new(words, 1, stamp))
    }
}

impl<R: Readers> Tiles<R> {
    /// Tile `tile` of `count`.
    #[inline(always)]
    pub(super) fn of(tile: u32, count: u32, group: u32, values: Stamped<R>) -> Self {
        Self { tile, count, group, values }
    }

    #[device]
    pub(super) fn is_alone(self) -> bool {
        self.count == 1
    }

    #[device]
    pub(super) fn is_last(self) -> bool {
        self.tile == self.count - 1
    }

    /// The index of the tile in its group.
    #[device]
    fn in_group(self) -> u32 {
        self.tile & (self.group - 1)
    }

    /// The index of its group.
    #[device]
    fn group_number(self) -> u32 {
        self.tile >> self.group.trailing_zeros()
    }

    /// Whether this is the last tile of its group and another group follows. Then it computes the
    /// base of that group.
    #[device]
    pub(super) fn ends_a_group(self) -> bool {
        self.in_group() == self.group - 1 && !self.is_last()
    }

    /// The index of the aggregate of tile `number`, a `T`.
    #[device]
    fn aggregate<T: Carried>(self, number: u32) -> usize {
        number as usize * T::WORDS
    }

    /// The index of the base of group `number`, a `T`.
    #[device]
    fn base<T: Carried>(self, number: u32) -> usize {
        (self.count as usize + number as usize) * T::WORDS
    }
}

/// This block's ticket and the stamp of the launch, for all threads of the block.
#[device]
fn ticket_and_stamp(state: Global<u32>, count: u32, at: ThreadPosition) -> (u32, u32) {
    if count == 1 {
        return (0, 0);
    }
    let turn = gridsync_scan_turn();
    if at.thread == 0 {
        let tile = draw(state, TICKET, count);
        let last = last_stamp(state, STAMP);
        turn.write(0, tile);
        turn.write(1, last + 1);
    }
    thread::sync_threads();
    (turn.read(0), turn.read(1))
}

//! The tiles of a scan or a selection, one for each block: which tile a block has, and what the tiles
//! before it come to.
//!
//! The number of a tile is a **ticket**: the block draws it when it starts. A tile waits for smaller
//! tickets only, and those belong to blocks that run already or have ended. So the wait ends however few
//! blocks are resident, and in whichever order the hardware starts them. The words, who writes them and
//! why that suffices: `README.md` of the scan.

mod across_warps;
mod prefix;
mod strip;

pub(super) use across_warps::across_warps;
pub(super) use strip::Strip;

use super::stamped::Stamped;
use super::workspace::{Workspace, draw, last_stamp};
use crate::block::ThreadPosition;
use crate::op::Carried;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Warps of a block, at most.
pub(super) const MOST_WARPS: u32 = 8;

/// Tiles of a group, at most: four for each thread of a block, which looks at them.
pub const MOST_GROUP: u32 = 1024;

/// Tiles of a group that a thread looks at, at most.
const LOOKS: u32 = MOST_GROUP / (MOST_WARPS * WARP_SIZE);

/// Words of the state: how many tiles have been given out, the stamp of the last launch, and how many
/// blocks have ended (counted in a launch with the last stamp only).
pub(super) const TICKET: usize = 0;
pub(super) const STAMP: usize = 1;
pub(super) const ENDED: usize = 2;
/// How many words these are.
pub(super) const STATE: usize = 3;

shared_array! {
    /// The number of the tile, and the stamp of the launch.
    fn gridsync_scan_turn() -> [u32; 2];
}

/// The tile of this block among all tiles of the launch, and the words that they send each other.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    /// The number of this block's tile.
    pub(super) tile: u32,
    /// How many tiles there are.
    count: u32,
    /// How many of them are a group: a power of two, up to [`LOOKS`] for each thread.
    group: u32,
    /// The values that tiles send: the aggregate of tile t at place t, the base of group g at place
    /// `count` + g.
    values: Stamped,
    state: Global<u32>,
}

impl Tiles {
    /// Draws the tile of this block, of a launch that has a block for each tile. By all threads of the
    /// block; with a barrier of the block inside, unless there is one tile only.
    #[device]
    pub(super) fn draw(
        Workspace { words, state }: Workspace,
        count: u32,
        group: u32,
        at: ThreadPosition,
    ) -> Self {
        let (tile, stamp) = ticket_and_stamp(state, count, at);
        Self { tile, count, group, values: Stamped { words, apart: 1, stamp }, state }
    }

    /// Whether there is no other tile.
    #[device]
    pub(super) fn is_alone(self) -> bool {
        self.count == 1
    }

    /// Whether no tile comes after this one.
    #[device]
    pub(super) fn is_last(self) -> bool {
        self.tile == self.count - 1
    }

    /// The number of the tile in its group.
    #[device]
    fn in_group(self) -> u32 {
        self.tile & (self.group - 1)
    }

    /// The number of its group.
    #[device]
    fn group_number(self) -> u32 {
        self.tile >> self.group.trailing_zeros()
    }

    /// Whether it is the last tile of its group, and another group follows. Then it finds the base of
    /// that group.
    #[device]
    fn ends_a_group(self) -> bool {
        self.in_group() == self.group - 1 && !self.is_last()
    }

    /// Where the aggregate of tile `number` is, of a `T`.
    #[device]
    fn aggregate<T: Carried>(self, number: u32) -> usize {
        number as usize * T::WORDS
    }

    /// Where the base of group `number` is, of a `T`.
    #[device]
    fn base<T: Carried>(self, number: u32) -> usize {
        (self.count as usize + number as usize) * T::WORDS
    }
}

/// The ticket of this block and the stamp of this launch, for all threads of the block.
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

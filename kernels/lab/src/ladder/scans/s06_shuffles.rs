//! Rung 6: in registers. A thread scans its own elements, a warp scans the sums of its threads with
//! shuffles, and a block scans the sums of its warps.
//!
//! Changed: each thread loads two packs of four elements and adds up each alone. 32 neighbouring
//! packs are a row. The lanes scan the totals of their packs with five shuffles, for both rows of
//! the warp at once. Only the totals of the warps go through shared memory. Why: additions within a
//! thread cost other threads nothing, and only one barrier is left. 256 elements need 23 warp
//! operations instead of 87 and 1 block barrier instead of 19, with four times the bytes in flight,
//! and fewer levels, because a tile has 2048 elements.
//!
//! Words moved: 4n, and 4 for each 2048. Work: n in the packs, n·log₂ 32 / 4 in the shuffles, n to
//! add the earlier sums of the tile, n for the blocks before. Span: 3 + 2·log₂ 32 a level.
//!
//! Launched: as rung 3, with a thread for eight elements.

use super::super::THREADS;
use super::{element, put};
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_index, warp_shuffle_idx};
use gridsync_kernels::op::Sum;
use gridsync_kernels::warp;

/// Elements of a block's tile.
pub const TILE: usize = 8 * THREADS as usize;

/// Elements of a row: a pack for each lane.
const ROW: usize = 4 * WARP_SIZE as usize;

shared_array! {
    /// The total of each warp.
    fn gridsync_ladder_scan_warps() -> [u32; 32];
}

/// Scans two packs of four elements for each thread of a block into `output`, and leaves their sum
/// in the block's element of `sums`.
///
/// Called by every thread of the grid; blocks have [`THREADS`] threads. `output` may be `input`.
#[device]
pub fn shuffles(input: Global<u32>, output: Global<u32>, sums: Global<u32>) {
    let block = thread::block_index();
    let (share, total) = Share::load(input, block).scan();
    share.store(output, 0);
    if thread::is_first_in_block() {
        sums.write(block, total);
    }
}

/// Adds the sum of the blocks before to each element of `output`. For block b that is element b − 1
/// of the scanned `sums`. Called by every thread of the grid; blocks have [`THREADS`] threads.
#[device]
pub fn inject_packs(output: Global<u32>, sums: Global<u32>) {
    let block = thread::block_index();
    if block > 0 {
        let before = sums.read(block - 1);
        Share::load(output, block).store(output, before);
    }
}

/// A thread's share of a tile: its packs of the two rows of its warp.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// The first element of the pack in the first row.
    first: usize,
    packs: [[u32; 4]; 2],
}

impl Share {
    /// Loads this thread's share of `tile`. Elements after the end are 0.
    #[device]
    pub(super) fn load(input: Global<u32>, tile: usize) -> Self {
        let first = tile * TILE + warp_index() as usize * 2 * ROW + lane_id() as usize * 4;
        let load = |at: usize| match at + 4 <= input.len() {
            // Not the read-only path: the output may be the same memory.
            true => input.read_pack(at, CacheHint::Streaming),
            false => Pack::from_fn(|i| element(input, at + i)),
        };
        let packs = [load(first), load(first + ROW)];
        Self { first, packs }
    }

    /// Turns each element into the sum of the tile's elements up to it. Returns the tile's sum.
    ///
    /// Called by every thread of the block. Has a block barrier inside, but none at the end: the
    /// block needs one between two calls.
    #[device]
    pub(super) fn scan(self) -> (Self, u32) {
        let op = Sum::<u32>::new();
        let packs: [[u32; 4]; 2] = Pack::from_fn(|row| {
            let mut sum = 0u32;
            Pack::from_fn(|i| {
                sum = sum.wrapping_add(self.packs[row][i]);
                sum
            })
        });
        let lanes: [u32; 2] = warp::scan_each(op, [packs[0][3], packs[1][3]]);
        let first_row = warp::total(lanes[0]);
        let of_warp = first_row.wrapping_add(warp::total(lanes[1]));
        let (warps, total) = across_warps(of_warp);
        let before = [
            warps.wrapping_add(warp::before(op, lanes[0])),
            warps.wrapping_add(first_row).wrapping_add(warp::before(op, lanes[1])),
        ];
        let packs = Pack::from_fn(|row| added(packs[row], before[row]));
        (Self { packs, ..self }, total)
    }

    /// Adds `before` to each element of the share, and writes it.
    #[device]
    pub(super) fn store(self, output: Global<u32>, before: u32) {
        let store = |at: usize, pack: [u32; 4]| match at + 4 <= output.len() {
            true => output.write_pack(at, pack, CacheHint::Streaming),
            false => pack.for_each(|i, value| put(output, at + i, value)),
        };
        self.packs.for_each(|row, pack| store(self.first + row * ROW, added(pack, before)));
    }

    /// The sum of its elements.
    #[device]
    pub(super) fn sum(self) -> u32 {
        let [first, second] = self.packs;
        first.zip(second, u32::wrapping_add).fold(u32::wrapping_add)
    }
}

/// The pack with `before` added to each of its elements.
#[inline(always)]
fn added(pack: [u32; 4], before: u32) -> [u32; 4] {
    Pack::from_fn(|i| before.wrapping_add(pack[i]))
}

/// The sum of the warps of the block before this one, and the sum of all. `total` is this warp's
/// sum. Called by all threads of the block; has a block barrier inside.
#[device]
fn across_warps(total: u32) -> (u32, u32) {
    let (totals, warp) = (gridsync_ladder_scan_warps(), warp_index());
    if lane_id() == 0 {
        totals.write(warp as usize, total);
    }
    thread::sync_threads();
    let of_lane = match lane_id() {
        lane if lane < thread::in_32_bits::threads_per_block() / WARP_SIZE => {
            totals.read(lane as usize)
        }
        _ => 0,
    };
    let scanned = warp::scan(Sum::<u32>::new(), of_lane);
    let before = match warp {
        0 => 0,
        warp => warp_shuffle_idx(FULL_MASK, scanned, warp - 1, WARP_SIZE).0,
    };
    (before, warp::total(scanned))
}

//! The scan over all threads of the grid.

use super::{Exchange, NAME, Prefix};
use crate::block::Slots;
use crate::op::Operation;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{WARP_SIZE, lane_id, warp_index};

/// The most warps of a block.
const WARPS: usize = 32;

shared_array! {
    /// The combined values of the threads of each warp.
    fn gridsync_exchange_totals() -> [u32; 4 * WARPS];
}

shared_array! {
    /// For each warp of the block, the combined values of the warps before it.
    fn gridsync_exchange_warps() -> [u32; 4 * WARPS];
}

impl Exchange {
    /// Combines one value per thread with `op`, in the order of the threads: the blocks by their
    /// ranks, and within a block by [`thread::index_in_block`]. Every thread gets the combined
    /// values of the threads before it, and those of all threads.
    ///
    /// Called by every thread of each block that takes part. It has two block barriers.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// // Each thread has as many elements as its number modulo 4: 0 + 1 + 2 + 3 in four threads.
    /// let elements = thread::index() as u32 % 4;
    /// let places = exchange.scan_threads(Sum::<u32>::new(), elements);
    /// assert_eq!(places.all, 6 * 192 / 4);
    /// if thread::index() == 102 {
    ///     assert_eq!(places.before, 6 * 25 + 0 + 1);
    /// }
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn scan_threads<O: Operation>(
        &mut self,
        op: O,
        value: O::Accumulator,
    ) -> Prefix<O::Accumulator> {
        let (totals, warps) = (
            Slots::<4>::new(gridsync_exchange_totals()),
            Slots::<4>::new(gridsync_exchange_warps()),
        );
        let (index, lane) = (warp_index() as usize, lane_id() as usize);
        let scanned = warp::scan(op, value);
        if lane == WARP_SIZE as usize - 1 {
            totals.write(index, scanned);
        }
        thread::sync_threads();
        let mut of_block = op.identity();
        if index == 0 {
            let is_there = lane < (thread::in_32_bits::threads_per_block() / WARP_SIZE) as usize;
            let total = if is_there { totals.read(lane) } else { op.identity() };
            let in_block = warp::scan(op, total);
            of_block = warp::total(in_block);
            let before = warp::before(op, in_block);
            if is_there {
                // The other warps read it after the barrier of the crossing.
                warps.write(lane, before);
            }
        }
        let blocks = self.scan(op, of_block);
        let in_warp = warp::before(op, scanned);
        let in_block = op.combine(warps.read(index), in_warp);
        Prefix { before: op.combine(blocks.before, in_block), all: blocks.all }
    }
}

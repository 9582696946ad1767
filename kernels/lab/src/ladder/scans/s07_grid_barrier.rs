//! Rung 7: first reduce, then scan, with a grid barrier in between.
//!
//! Changed: each block of a resident grid has a run of consecutive tiles. It adds them up and
//! writes only their sum. When all sums have been written, it adds up the sums of the blocks before
//! it. Then it processes its run again, to scan. Why: the first pass writes no elements, and one
//! launch is enough for any length. It moves 3n words instead of 4n, and data that is still in the
//! L2 is not read from device memory again. But it needs a barrier, and all blocks must be
//! co-resident.
//!
//! Words moved: 3n. Work: n to reduce, n + n·log₂ 32 / 4 + n to scan as in rung 6. Span: n / (G·B)
//! tiles, twice, for G blocks.
//!
//! Launched: cooperatively, with as many blocks of 256 threads as are resident, but no more than
//! the number of tiles.

use super::s06_shuffles::{Share, TILE};
use crate::ladder::sums::r03_strided::strided_sum;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_kernels::op::Sum;

shared_array! {
    /// The sum of everything before the block's tile, or before its run of tiles.
    pub(super) fn gridsync_ladder_scan_before() -> [u32; 1];
}

/// Scans `input` into `output`.
///
/// Called by every thread of the grid. Blocks have 256 threads and are co-resident. `partials` has
/// an element for each block, `barrier` has the words of a [`GridBarrier`].
#[device]
pub fn grid_barrier(
    input: Global<u32>,
    output: Global<u32>,
    partials: Global<u32>,
    barrier: Global<u32>,
) {
    let (block, blocks) = (thread::block_index(), thread::block_count());
    let tiles = input.len().div_ceil(TILE);
    let run = tiles.div_ceil(blocks);
    let own = (block * run).min(tiles)..((block + 1) * run).min(tiles);

    let mut sum = 0u32;
    for tile in own.clone() {
        sum = sum.wrapping_add(Share::load(input, tile).sum());
    }
    let sum = block::reduce(Sum::<u32>::new(), sum);
    if thread::is_first_in_block() {
        partials.write(block, sum);
    }
    GridBarrier::attach(barrier).sync();

    let mut before = before_block(partials);
    for tile in own {
        let (share, total) = Share::load(input, tile).scan();
        share.store(output, before);
        before = before.wrapping_add(total);
        // Warps may still be reading the totals of this tile, which the next tile's totals replace.
        thread::sync_threads();
    }
}

/// The sum of the `partials` of all earlier blocks. Called by all threads of the block; has block
/// barriers inside.
#[device]
fn before_block(partials: Global<u32>) -> u32 {
    let earlier = partials.part(0, thread::block_index());
    let (me, threads) =
        (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
    let of_thread = strided_sum(earlier, me as usize, threads as usize);
    let of_block = block::reduce(Sum::<u32>::new(), of_thread);
    let before = gridsync_ladder_scan_before();
    if thread::is_first_in_block() {
        before.write(0, of_block);
    }
    thread::sync_threads();
    before.read(0)
}

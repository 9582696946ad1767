//! Rung 7: first reduce, then scan, with a barrier of the grid between.
//!
//! Changed: each block of a resident grid has a run of tiles side by side. It adds them up and writes
//! nothing but their sum. When all sums are there, it adds up those of the blocks before it, and goes
//! through its run again, now to scan. Why: the first pass need not write, and one launch is enough,
//! whatever the length. Moves the words from 4n to 3n, and of the second reading what the L2 still
//! has costs no device memory. It costs a barrier, and blocks that can all be resident.
//!
//! Moves: 3n words. Work: n to reduce, n + n·log₂ 32 / 4 + n to scan as rung 6 does. Span: n / (G·B)
//! tiles, twice, for G blocks.
//!
//! Launched: as many blocks of 256 threads as are resident, and no more than tiles; cooperatively.
//! Reached on: an H200, 2026-11-21: 813 µs, 2641 GB/s of 2^28 u32.

use super::s06_shuffles::{Share, TILE};
use crate::ladder::sums::r03_strided::strided_sum;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_kernels::op::Sum;

shared_array! {
    /// What lies before the block's tile, or before its run of tiles.
    pub(super) fn gridsync_ladder_scan_before() -> [u32; 1];
}

/// Scans `input` into `output`.
///
/// Called by every thread of the grid, whose blocks are all resident and have 256 threads. `partials`
/// has an element for each block, `barrier` the words of a [`GridBarrier`].
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
        // Before the next tile's totals come to where warps still read those of this one.
        thread::sync_threads();
    }
}

/// The sum of `partials` before that of this block. By all threads of the block, with barriers of the
/// block inside.
#[device]
fn before_block(partials: Global<u32>) -> u32 {
    let earlier = partials.part(0, thread::block_index());
    let (me, threads) = (thread::index_in_block(), thread::threads_per_block());
    let of_thread = strided_sum(earlier, me as usize, threads as usize);
    let of_block = block::reduce(Sum::<u32>::new(), of_thread);
    let before = gridsync_ladder_scan_before();
    if thread::is_first_in_block() {
        before.write(0, of_block);
    }
    thread::sync_threads();
    before.read(0)
}

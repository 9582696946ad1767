//! The grid barrier in two phases, and barriers for half of the blocks.

use super::stress::{come_late, count_stale, write_own};
use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier, Members};

/// Checks a barrier like the other kernels, but each thread does other work between arrive and
/// wait. `work` counts it: at the end each element is twice `rounds`.
///
/// # Safety
///
/// Same as for those kernels; `work` has an element for each thread of the grid, 0 at the start.
#[kernel(cooperative)]
pub unsafe fn phased_barrier_rounds(
    barrier: Global<u32>,
    cells: Global<u32>,
    errors: Global<u32>,
    work: Global<u32>,
    rounds: u32,
    skew: u32,
) {
    let mut barrier = GridBarrier::attach(barrier);
    let me = thread::index();
    let mut wrong = 0;
    for round in 1..=rounds {
        come_late(round, skew);
        write_own(cells, round);
        barrier.arrive();
        work.write(me, work.read(me) + 1);
        barrier.wait();
        wrong += count_stale(cells, round);
        barrier.arrive();
        work.write(me, work.read(me) + 1);
        barrier.wait();
    }
    if wrong > 0 {
        errors.fetch_add(0, wrong, Ordering::Relaxed, Scope::Device);
    }
}

/// The even blocks cross one barrier for `rounds` rounds, the odd blocks another for twice as many.
/// So neither half may wait for the other. Each block counts the stale cells of its half.
///
/// # Safety
///
/// Same as for the kernels that check a barrier, but `barrier` has the words of two barriers; the
/// grid has at least two blocks.
#[kernel(cooperative)]
pub unsafe fn subset_barrier_rounds(
    barrier: Global<u32>,
    cells: Global<u32>,
    errors: Global<u32>,
    rounds: u32,
    skew: u32,
) {
    let (block, blocks) = (thread::block_index() as u32, thread::block_count() as u32);
    let threads = thread::in_32_bits::threads_per_block() as usize;
    let odd = block % 2;
    let members = Members::new(block / 2, (blocks - odd).div_ceil(2));

    let words = barrier.len() / 2;
    let state = barrier.part(odd as usize * words, words);
    let mut barrier = GridBarrier::attach_among(state, members);

    // The cells of the even blocks come first, then those of the odd blocks.
    let evens = blocks.div_ceil(2) as usize * threads;
    let start = odd as usize * evens;
    let cells = cells.part(start, members.count() as usize * threads);
    let own = members.rank() as usize * threads + thread::in_32_bits::index_in_block() as usize;

    let mut wrong = 0;
    for round in 1..=rounds << odd {
        come_late(round, skew);
        cells.write(own, round);
        barrier.sync();
        wrong += count_stale(cells, round);
        barrier.sync();
    }
    if wrong > 0 {
        errors.fetch_add(0, wrong, Ordering::Relaxed, Scope::Device);
    }
}

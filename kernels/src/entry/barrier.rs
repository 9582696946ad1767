//! Putting a grid barrier to the test.

use crate::grid::barrier::{Barrier, PhaseBarrier};
use cuda_std::prelude::*;

/// Crosses the grid barrier `rounds` times, and checks each time that it held.
///
/// In every round each thread writes the number of the round to its own `cells` element by a plain
/// store; past the barrier it reads the cells of threads all over the grid, by plain loads, and
/// counts in `errors[0]` those that are not of this round. A second barrier keeps the next round's
/// writes from overtaking these reads.
///
/// # Safety
///
/// `barrier` is one word for a [`PhaseBarrier`], `cells` has one element per thread of the grid,
/// `errors` has one element, 0 before; all blocks are co-resident.
#[kernel(cooperative)]
pub unsafe fn barrier_rounds(
    barrier: Global<u32>,
    cells: Global<u32>,
    errors: Global<u32>,
    first_round: u32,
    rounds: u32,
) {
    let mut barrier = PhaseBarrier::attach(barrier);
    let (me, threads) = (thread::index(), thread::thread_count());
    let mut wrong = 0;
    for round in 0..rounds {
        let round = first_round.wrapping_add(round);
        cells.write(me, round);
        barrier.sync();
        // One cell of every block, each thread of a block a different one.
        let mut other = me % thread::threads_per_block() as usize;
        while other < threads {
            wrong += u32::from(cells.read(other) != round);
            other += thread::threads_per_block() as usize;
        }
        barrier.sync();
    }
    if wrong > 0 {
        errors.fetch_add(0, wrong, Ordering::Relaxed, Scope::Device);
    }
}

/// Crosses the grid barrier `rounds` times and does nothing else: for measuring it.
///
/// # Safety
///
/// `barrier` is one word for a [`PhaseBarrier`]; all blocks are co-resident.
#[kernel(cooperative)]
pub unsafe fn barrier_only(barrier: Global<u32>, rounds: u32) {
    let mut barrier = PhaseBarrier::attach(barrier);
    for _ in 0..rounds {
        barrier.sync();
    }
}

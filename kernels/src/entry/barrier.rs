//! Putting the grid barriers to the test, and to the clock: two kernels for each design.

use crate::grid::barrier::{Barrier, GridBarrier, PhaseBarrier};
use cuda_std::prelude::*;

macro_rules! kernels {
    ($($design:ident: $rounds:ident, $only:ident;)*) => {$(
        #[doc = concat!("Crosses a [`", stringify!($design), "`] `rounds` times twice over, and checks each time that it held.")]
        ///
        /// In every round each thread writes the number of the round to its own `cells` element by a
        /// plain store; past the barrier it reads the cells of threads all over the grid, by plain
        /// loads, and counts in `errors[0]` those that are not of this round. A second barrier keeps
        /// the next round's writes from overtaking these reads.
        ///
        /// # Safety
        ///
        /// `barrier` has the words of the design, as [`Barrier::WORDS`] says; `cells` has one element
        /// per thread of the grid, `errors` has one element, 0 before; all blocks are co-resident.
        #[kernel(cooperative)]
        pub unsafe fn $rounds(
            barrier: Global<u32>,
            cells: Global<u32>,
            errors: Global<u32>,
            first_round: u32,
            rounds: u32,
        ) {
            cross_and_check($design::attach(barrier), cells, errors, first_round, rounds);
        }

        #[doc = concat!("Crosses a [`", stringify!($design), "`] `rounds` times and does nothing else: for measuring it.")]
        ///
        /// # Safety
        ///
        /// `barrier` has the words of the design; all blocks are co-resident.
        #[kernel(cooperative)]
        pub unsafe fn $only(barrier: Global<u32>, rounds: u32) {
            let mut barrier = $design::attach(barrier);
            for _ in 0..rounds {
                barrier.sync();
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl Measured for $design {
            type Rounds = $rounds;
            type Only = $only;
        }
    )*};
}
kernels! {
    GridBarrier: barrier_rounds, barrier_only;
    PhaseBarrier: phase_barrier_rounds, phase_barrier_only;
}

/// A barrier with kernels that test and measure it. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait Measured: Barrier {
    /// The kernel that checks it: `(barrier, cells, errors, first_round, rounds)`.
    type Rounds: cuda_std::launch::Kernel<Args = (Global<u32>, Global<u32>, Global<u32>, u32, u32)>;
    /// The kernel that only crosses it: `(barrier, rounds)`.
    type Only: cuda_std::launch::Kernel<Args = (Global<u32>, u32)>;
}

#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn cross_and_check(
    mut barrier: impl Barrier,
    cells: Global<u32>,
    errors: Global<u32>,
    first_round: u32,
    rounds: u32,
) {
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

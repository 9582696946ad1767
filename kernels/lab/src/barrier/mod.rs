//! Kernels that check the grid barriers and kernels that measure them, and the designs that
//! [`GridBarrier`] was chosen from.
//!
//! The protocol of each design is in `kernels/src/grid/barrier/README.md`.

mod bounded;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
mod cluster;
mod collectives;
mod exchange;
mod generation;
mod lock_free;
mod look;
mod mutants;
mod phased;
mod release;
mod reset;
mod stress;
mod system;
mod tree;
mod word;

pub use bounded::bounded_barrier_rounds;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub use cluster::ClusterBarrier;
pub use collectives::{
    block_scans, exchange_in_order, exchange_scan_threads, exchange_scan_threads_only,
    exchange_votes,
};
pub use exchange::{exchange_by_barrier_only, exchange_only, exchange_rounds};
pub use generation::GenerationBarrier;
pub use lock_free::LockFreeBarrier;
pub use look::{Acquire, Look, Ptx, Volatile};
pub use mutants::{
    BlockScopeFence, EqualGoal, Mutant, NoFirstBarrier, NoLastBarrier, OneBit, RelaxedArrival,
    RelaxedLook, ShortGoal, WeakLook, mutant_block_scope_rounds, mutant_equal_goal_rounds,
    mutant_no_first_rounds, mutant_no_last_rounds, mutant_one_bit_rounds,
    mutant_relaxed_arrival_rounds, mutant_relaxed_look_rounds, mutant_short_goal_rounds,
    mutant_weak_look_rounds,
};
pub use phased::{phased_barrier_rounds, subset_barrier_rounds};
pub use release::ReleaseBarrier;
pub use reset::ResetBarrier;
use stress::cross_and_check;
pub use system::{
    bounded_system_barrier_rounds, system_barrier_only, system_barrier_rounds,
    system_exchange_only, system_exchange_rounds, system_exchange_votes,
};
pub use tree::TreeBarrier;
pub use word::{FlipBarrier, Goal, GrowingBarrier, Phase, PhaseBarrier, Waiting, WordBarrier};

use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier, LateBarrier, SplitBarrier};

/// Rounds after which a block attaches again.
const ROUNDS_TOGETHER: u32 = 3;

macro_rules! kernels {
    ($($(#[$cfg:meta])* $design:ty: $rounds:ident, $only:ident;)*) => {$(
        #[doc = concat!("Crosses a [`", stringify!($rounds), "`] barrier `2 × rounds` times, and checks each time that it held.")]
        ///
        /// In every round each thread writes the number of the round to its own `cells` with plain
        /// stores. After the barrier each block reads the cells of all threads with plain loads,
        /// from lines that it read in the round before. It counts in `errors[0]` the cells that do
        /// not hold this round. A second barrier keeps the next round's writes after these reads.
        /// After every three rounds the block attaches again. With a `skew`, warps come up to
        /// `skew` cycles late: in even rounds each warp by its own number, in odd rounds one warp,
        /// and all warps read its cells first. Every fourth round then ends in crossings back to
        /// back. If `errors` has more elements, each thread first stores to some of them, far
        /// apart, which delays its later stores.
        ///
        /// # Safety
        ///
        /// `barrier` has the words of the design ([`Barrier::words`]); the length of `cells` is a
        /// multiple of the number of threads of the grid; `errors` has at least one element, and
        /// the first is 0 at the start; all blocks are co-resident.
        $(#[$cfg])*
        #[kernel(cooperative)]
        pub unsafe fn $rounds(
            barrier: Global<u32>,
            cells: Global<u32>,
            errors: Global<u32>,
            first_round: u32,
            rounds: u32,
            skew: u32,
        ) {
            let attach = || <$design>::attach(barrier);
            cross_and_check(attach, ROUNDS_TOGETHER, cells, errors, first_round, rounds, skew);
        }

        /// Crosses the barrier `rounds` times. Does nothing else: it is for measurements.
        ///
        /// # Safety
        ///
        /// `barrier` has the words of the design; all blocks are co-resident.
        $(#[$cfg])*
        #[kernel(cooperative)]
        pub unsafe fn $only(barrier: Global<u32>, rounds: u32) {
            let mut barrier = <$design>::attach(barrier);
            for _ in 0..rounds {
                barrier.sync();
            }
        }

        // SAFETY: the kernel crosses the barrier, and accesses only the barrier's words, the cells
        // and the errors.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Stressed for $design {
            type Rounds = $rounds;
        }

        // SAFETY: the kernel crosses the barrier and does nothing else.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Measured for $design {
            type Only = $only;
        }
    )*};
}
kernels! {
    GridBarrier: barrier_rounds, barrier_only;
    SplitBarrier<2>: split_barrier_rounds, split_barrier_only;
    SplitBarrier<4>: split_4_barrier_rounds, split_4_barrier_only;
    LateBarrier: late_barrier_rounds, late_barrier_only;
    PhaseBarrier: phase_barrier_rounds, phase_barrier_only;
    FlipBarrier: flip_barrier_rounds, flip_barrier_only;
    GrowingBarrier: growing_barrier_rounds, growing_barrier_only;
    GrowingBarrier<Volatile>: growing_volatile_barrier_rounds, growing_volatile_barrier_only;
    GrowingBarrier<Ptx>: growing_ptx_barrier_rounds, growing_ptx_barrier_only;
    GenerationBarrier: generation_barrier_rounds, generation_barrier_only;
    LockFreeBarrier: lock_free_barrier_rounds, lock_free_barrier_only;
    ReleaseBarrier: release_barrier_rounds, release_barrier_only;
    TreeBarrier: tree_barrier_rounds, tree_barrier_only;
    #[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
    ClusterBarrier: cluster_barrier_rounds, cluster_barrier_only;
}

/// Checks a [`ResetBarrier`] like the kernels of the correct barriers.
///
/// # Safety
///
/// Same as for those kernels. This barrier never waits forever.
#[kernel(cooperative)]
pub unsafe fn reset_barrier_rounds(
    barrier: Global<u32>,
    cells: Global<u32>,
    errors: Global<u32>,
    first_round: u32,
    rounds: u32,
    skew: u32,
) {
    let attach = || ResetBarrier::attach(barrier);
    cross_and_check(attach, u32::MAX, cells, errors, first_round, rounds, skew);
}

// SAFETY: the kernel crosses the barrier, and accesses only the barrier's words, the cells and the
// errors.
#[cfg(not(target_arch = "nvptx64"))]
unsafe impl Stressed for ResetBarrier {
    type Rounds = reset_barrier_rounds;

    fn waits_given_up(words: &[u32]) -> u32 {
        Self::misses(words)
    }
}

/// A barrier with a kernel that checks it. Host only.
///
/// # Safety
///
/// A safe function launches the kernel. The kernel accesses only the memory of its arguments, and
/// only the [`words`](Barrier::words) of the barrier's memory.
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Stressed: Barrier {
    /// The kernel that checks it.
    type Rounds: cuda_std::launch::Kernel<Args = RoundsArgs>;

    /// The number of abandoned waits, read from the words after use. Each would have lasted
    /// forever. A correct barrier abandons none.
    fn waits_given_up(_words: &[u32]) -> u32 {
        0
    }
}

/// A barrier with a kernel that measures it. Host only.
///
/// # Safety
///
/// Same as for [`Stressed`].
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Measured: Stressed {
    /// The kernel that only crosses it: `(barrier, rounds)`.
    type Only: cuda_std::launch::Kernel<Args = (Global<u32>, u32)>;
}

/// The arguments of a kernel that checks a barrier:
/// `(barrier, cells, errors, first_round, rounds, skew)`.
#[cfg(not(target_arch = "nvptx64"))]
pub type RoundsArgs = (Global<u32>, Global<u32>, Global<u32>, u32, u32, u32);

//! Barriers that are wrong on purpose. A stress test that passes proves something only if the same
//! test catches these faults.

use super::stress::cross_and_check;
use core::marker::PhantomData;
use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Barrier, Members};

/// How a block arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// `red.release.gpu`.
    Release,
    /// `red.relaxed.gpu`, with nothing before it.
    Relaxed,
    /// `red.relaxed.gpu`, after a fence of block scope.
    BlockScopeFence,
}

/// How a block polls for the arrivals of all blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Looking {
    /// `ld.acquire.gpu`.
    Acquire,
    /// `ld.relaxed.gpu`, with nothing after it.
    Relaxed,
    /// A plain `ld`.
    Weak,
}

/// A fault of a barrier. By default there is none.
pub trait Fault {
    /// Whether the threads of a block synchronise before the block arrives.
    const FIRST_BARRIER: bool = true;
    /// Whether they synchronise after the wait.
    const LAST_BARRIER: bool = true;
    /// How the block arrives.
    const ARRIVAL: Arrival = Arrival::Release;
    /// How the block polls for the other arrivals.
    const LOOKING: Looking = Looking::Acquire;
    /// Number of arrivals that the block does not wait for.
    const SHORT: u32 = 0;
    /// Whether the counter must equal the goal. If not, it may also exceed it.
    const EQUAL: bool = false;
}

/// The amount by which the counter grows in each round.
const ROUND: u32 = 1 << 20;

/// The indices of the counter, of the number of abandoned waits, and of the second counter, if a
/// mutant has two.
const COUNTER: usize = 0;
const GIVEN_UP: usize = 1;
const SECOND: usize = 64;

/// The longest wait, in ns: far longer than a crossing. Without it a mutant could wait forever.
const PATIENCE_NS: u64 = 200_000;

/// A [`GrowingBarrier`](super::GrowingBarrier) with the fault `F`.
#[derive(Debug)]
pub struct Mutant<F: Fault> {
    state: Global<u32>,
    members: Members,
    goal: u32,
    fault: PhantomData<F>,
}

/// Waits for `condition`, but not forever: counts a wait that lasts too long. After the first of
/// these, no block waits.
#[device]
fn wait_a_while(state: Global<u32>, mut condition: impl FnMut() -> bool) {
    let given_up = || state.load(GIVEN_UP, Ordering::Relaxed, Scope::Device) != 0;
    if !spin::until_timeout(PATIENCE_NS, || condition() || given_up()) {
        state.add(GIVEN_UP, 1, Ordering::Relaxed, Scope::Device);
    }
}

impl<F: Fault> Barrier for Mutant<F> {
    fn words(_blocks: usize) -> usize {
        SECOND + 1
    }

    #[device]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        let now = state.load(COUNTER, Ordering::Relaxed, Scope::Device);
        Self { state, members, goal: (now / ROUND * ROUND).wrapping_add(ROUND), fault: PhantomData }
    }

    #[device]
    fn arrive(&mut self) {
        if F::FIRST_BARRIER {
            thread::sync_threads();
        }
        if thread::is_first_in_block() {
            if F::ARRIVAL == Arrival::BlockScopeFence {
                thread::fence(Ordering::AcqRel, Scope::Block);
            }
            let order = match F::ARRIVAL {
                Arrival::Release => Ordering::Release,
                Arrival::Relaxed | Arrival::BlockScopeFence => Ordering::Relaxed,
            };
            let arrival = self.members.arrival(ROUND);
            self.state.add(COUNTER, arrival, order, Scope::Device);
        }
    }

    #[device]
    fn wait(&mut self) {
        if thread::is_first_in_block() {
            let (state, goal) = (self.state, self.goal.wrapping_sub(F::SHORT));
            wait_a_while(state, || {
                let now = match F::LOOKING {
                    Looking::Acquire => state.load(COUNTER, Ordering::Acquire, Scope::Device),
                    Looking::Relaxed => state.load(COUNTER, Ordering::Relaxed, Scope::Device),
                    Looking::Weak => state.read(COUNTER),
                };
                if F::EQUAL { now == goal } else { now.wrapping_sub(goal) as i32 >= 0 }
            });
        }
        self.goal = self.goal.wrapping_add(ROUND);
        if F::LAST_BARRIER {
            thread::sync_threads();
        }
    }
}

/// A [`SplitBarrier`](gridsync_kernels::grid::barrier::SplitBarrier) of two counters that counts
/// rounds modulo 2 instead of 4. A slow block can miss a round of the other half's counter.
#[derive(Debug)]
pub struct OneBit {
    state: Global<u32>,
    members: Members,
    round: u32,
}

/// The bit that counts rounds.
const PHASE: u32 = 1 << 31;

impl Barrier for OneBit {
    fn words(_blocks: usize) -> usize {
        SECOND + 1
    }

    #[device]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        let own = (members.rank() % 2) as usize * SECOND;
        Self { state, members, round: state.load(own, Ordering::Relaxed, Scope::Device) & PHASE }
    }

    #[device]
    fn arrive(&mut self) {
        thread::sync_threads();
        if thread::is_first_in_block() {
            let own = (self.members.rank() % 2) as usize * SECOND;
            let arrival = self.members.part(2).arrival(PHASE);
            self.state.add(own, arrival, Ordering::Release, Scope::Device);
        }
    }

    #[device]
    fn wait(&mut self) {
        if thread::is_first_in_block() {
            let (state, round) = (self.state, self.round);
            let turned =
                |at| (state.load(at, Ordering::Acquire, Scope::Device) ^ round) & PHASE != 0;
            wait_a_while(state, || turned(COUNTER) && turned(SECOND));
        }
        self.round ^= PHASE;
        thread::sync_threads();
    }
}

macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident: $rounds:ident { $constant:item })*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}

        impl Fault for $name {
            $constant
        }

        mutants!(@kernel $(#[$doc])* Mutant<$name>: $rounds);
    )*};
    (@kernel $(#[$doc:meta])* $barrier:ty: $rounds:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Same as for the kernels that check a correct barrier. This one never waits forever.
        #[kernel(cooperative)]
        pub unsafe fn $rounds(
            barrier: Global<u32>,
            cells: Global<u32>,
            errors: Global<u32>,
            first_round: u32,
            rounds: u32,
            skew: u32,
        ) {
            let attach = || <$barrier>::attach(barrier);
            cross_and_check(attach, u32::MAX, cells, errors, first_round, rounds, skew);
        }

        // SAFETY: the kernel crosses the barrier, and accesses only the barrier's words, the cells
        // and the errors.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl super::Stressed for $barrier {
            type Rounds = $rounds;

            fn waits_given_up(words: &[u32]) -> u32 {
                words[GIVEN_UP]
            }
        }
    };
}
mutants! {
    /// The first thread arrives while other threads of its block are still writing.
    NoFirstBarrier: mutant_no_first_rounds {
        const FIRST_BARRIER: bool = false;
    }
    /// The other threads of the block continue while the first one waits.
    NoLastBarrier: mutant_no_last_rounds {
        const LAST_BARRIER: bool = false;
    }
    /// The arrival is relaxed: other blocks may see it before they see the block's writes.
    RelaxedArrival: mutant_relaxed_arrival_rounds {
        const ARRIVAL: Arrival = Arrival::Relaxed;
    }
    /// The fence before the arrival has block scope only.
    BlockScopeFence: mutant_block_scope_rounds {
        const ARRIVAL: Arrival = Arrival::BlockScopeFence;
    }
    /// The poll is relaxed: reads after the barrier may hit stale lines of the L1.
    RelaxedLook: mutant_relaxed_look_rounds {
        const LOOKING: Looking = Looking::Relaxed;
    }
    /// The poll is a plain load, which the compiler hoists out of the loop.
    WeakLook: mutant_weak_look_rounds {
        const LOOKING: Looking = Looking::Weak;
    }
    /// The barrier does not wait for one arrival.
    ShortGoal: mutant_short_goal_rounds {
        const SHORT: u32 = 1;
    }
    /// The counter must equal the goal, but when a slow block polls, the counter may already be
    /// beyond it.
    EqualGoal: mutant_equal_goal_rounds {
        const EQUAL: bool = true;
    }
}
mutants! {
    @kernel
    /// Two counters, but only one bit to count rounds.
    OneBit: mutant_one_bit_rounds
}

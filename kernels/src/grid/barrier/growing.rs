//! The growing barrier: one atomic addition per block, and a goal that grows each round.

use super::{Acquire, Barrier, Look, Members, NAME};
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// The amount by which the counter grows in each round. It is also the largest number of blocks.
const ROUND: u32 = 1 << 20;

/// A barrier with one counter that only grows. It waits with the spin of form `L`.
///
/// It is Xiao and Feng's lock-based barrier (IPDPS 2010) with three changes. As there, the counter
/// is never reset, which saves instructions and a branch. First, the arrival is a release and the
/// wait an acquire; their code has neither. Second, the wait ends when the counter is at the goal
/// *or past it*, not at `==`: a fast block may be at the next round when a slow one polls. Third, a
/// round adds a power of two, not the number of blocks: the counter may wrap and serve any grid.
// Not `Copy`: each copy would have a separate goal.
#[derive(Debug)]
pub struct GrowingBarrier<L: Look = Acquire> {
    counter: Global<u32>,
    members: Members,
    /// The value of the counter when all blocks have arrived. Valid in the first thread only.
    goal: u32,
    look: PhantomData<L>,
}

impl<L: Look> Barrier for GrowingBarrier<L> {
    fn words(_blocks: usize) -> usize {
        1
    }

    #[device(protocol = NAME)]
    fn attach_among(counter: Global<u32>, members: Members) -> Self {
        join_barrier(NAME, counter);
        // Other blocks may have arrived, but the round cannot end before this block arrives.
        let goal = if thread::is_first_in_block() {
            let now = counter.load(0, Ordering::Relaxed, Scope::Device);
            (now / ROUND * ROUND).wrapping_add(ROUND)
        } else {
            0
        };
        Self { counter, members, goal, look: PhantomData }
    }

    #[device(protocol = NAME)]
    fn arrive(&mut self) {
        // The release below then covers what all threads of the block wrote.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let arrival = self.members.arrival(ROUND);
            self.counter.add(0, arrival, Ordering::Release, Scope::Device);
        }
    }

    #[device(protocol = NAME)]
    fn wait(&mut self) {
        if thread::is_first_in_block() {
            L::until_reached(self.counter, 0, self.goal);
            self.goal = self.goal.wrapping_add(ROUND);
        }
        // Passes what the first thread acquired to the whole block.
        thread::sync_threads();
    }
}

//! The growing counter, the seed's lock-based barrier (row R9): one atomic addition per block, and
//! a goal that grows with it.

use super::{Acquire, Barrier, Look, Members, NAME};
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// What the counter grows by in each round; so many blocks at most.
const ROUND: u32 = 1 << 20;

/// A barrier over one counter that only grows; waits by the spin of form `L`.
///
/// The seed's counter grows by the number of blocks, waits for `==`, and is never reset; that saves
/// instructions and a branch. Two things had to change. There is a release and an acquire, where
/// the seed has neither. And the goal is reached when the counter has come to it *or past it*: a
/// slow block may look when a fast one is at the next round. Besides, the counter grows by a power
/// of two in each round, so that it may wrap around, and serve grids of any size.
// Not `Copy`: two copies would not know of each other's goal.
#[derive(Debug)]
pub struct GrowingBarrier<L: Look = Acquire> {
    counter: Global<u32>,
    members: Members,
    /// Where the counter stands when all have arrived, as the block's first thread knows it.
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
        // Others may have arrived already, but the round cannot be full before this block has.
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
        // Gathers what all threads of the block wrote, so that one release covers it.
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
        // Passes on to the whole block what the first thread acquired.
        thread::sync_threads();
    }
}

//! The release barrier: blocks arrive at one word and wait at another.

use super::{Barrier, Members, NAME, STRIDE};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// What the counter grows by in each round.
const ROUND: u32 = 1 << 31;

/// Where the counter of arrivals lies, and where the number of the last full round.
const COUNTER: usize = 0;
const RELEASED: usize = STRIDE;

/// A barrier in which the last block to arrive releases the others through a word of its own.
///
/// The waiting blocks stay out of the way of those that arrive: their looks go to another line.
/// For that the arrival has to return a value, and the release takes a second way through the L2.
// Not `Copy`: two copies would not know of each other's round.
#[derive(Debug)]
pub struct ReleaseBarrier {
    state: Global<u32>,
    members: Members,
    /// The last full round, as the block's first thread knows it.
    round: u32,
}

impl Barrier for ReleaseBarrier {
    fn words(_blocks: usize) -> usize {
        RELEASED + 1
    }

    #[device(protocol = NAME)]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        join_barrier(NAME, state);
        let round = if thread::is_first_in_block() {
            state.load(RELEASED, Ordering::Relaxed, Scope::Device)
        } else {
            0
        };
        Self { state, members, round }
    }

    #[device(protocol = NAME)]
    fn arrive(&mut self) {
        // Gathers what all threads of the block wrote, so that one release covers it.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let next = self.round.wrapping_add(1);
            // The last to arrive acquires what the others released, and releases it all again.
            if arrives_last(self.state, COUNTER, self.members) {
                self.state.store(RELEASED, next, Ordering::Release, Scope::Device);
            }
        }
    }

    #[device(protocol = NAME)]
    fn wait(&mut self) {
        if thread::is_first_in_block() {
            let (state, round) = (self.state, self.round);
            spin::until(|| state.load(RELEASED, Ordering::Acquire, Scope::Device) != round);
            self.round = round.wrapping_add(1);
        }
        // Passes on to the whole block what the first thread acquired.
        thread::sync_threads();
    }
}

/// Arrives at the counter at `at`, and says whether all the other members had: then what they
/// released is visible to the caller. The counter needs no reset.
///
/// Called by one thread of each member.
#[device]
pub(super) fn arrives_last(state: Global<u32>, at: usize, members: Members) -> bool {
    let arrival = members.arrival(ROUND);
    let before = state.fetch_add(at, arrival, Ordering::AcqRel, Scope::Device);
    before.wrapping_add(arrival).is_multiple_of(ROUND)
}

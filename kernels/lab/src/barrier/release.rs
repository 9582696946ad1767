//! The release barrier: blocks arrive at one word and wait for another.

use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;
use gridsync_kernels::grid::barrier::{Barrier, Members, NAME, STRIDE};

/// The amount by which the counter grows in each round.
const ROUND: u32 = 1 << 31;

/// Indices of the counter of arrivals and of the number of the last full round.
const COUNTER: usize = 0;
const RELEASED: usize = STRIDE;

/// A barrier in which the last block to arrive releases the others through a second word.
///
/// The waiting blocks do not disturb the arriving ones, because they poll another line. But the
/// arrival has to return a value, and the release needs a second trip through the L2.
// Not `Copy`: each copy would have a separate round.
#[derive(Debug)]
pub struct ReleaseBarrier {
    state: Global<u32>,
    members: Members,
    /// The last full round. Valid in the first thread only.
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
        // The release below then covers what all threads of the block wrote.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let next = self.round.wrapping_add(1);
            // The last block acquires what the others released, and releases it all again.
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
        // Passes what the first thread acquired to the whole block.
        thread::sync_threads();
    }
}

/// Arrives at the counter at index `at`. Returns whether this member is the last to arrive; then
/// everything that the others released is visible to the caller. The counter needs no reset.
///
/// Called by one thread of each member.
#[device]
pub(super) fn arrives_last(state: Global<u32>, at: usize, members: Members) -> bool {
    let arrival = members.arrival(ROUND);
    let before = state.fetch_add(at, arrival, Ordering::AcqRel, Scope::Device);
    before.wrapping_add(arrival).is_multiple_of(ROUND)
}

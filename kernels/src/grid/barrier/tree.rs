//! The tree barrier: blocks arrive in groups, the last of each group at the root, the last of all
//! releases them.

use super::release::arrives_last;
use super::{Barrier, Members, NAME, STRIDE};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// Blocks of a group.
// With groups of 16, 132 blocks make 9 groups: about as many arrivals at the root as in a group.
const GROUP: u32 = 16;

/// Where the counter of the root lies, the number of the last full round, and the first group's
/// counter.
const ROOT: usize = 0;
const RELEASED: usize = STRIDE;
const GROUPS: usize = 2 * STRIDE;

/// A barrier over a tree of counters (Xiao and Feng, "Inter-block GPU communication via fast
/// barrier synchronization", IPDPS 2010, with two levels).
///
/// At most 16 blocks add to one counter of a group, and one block of each group to the root: no
/// long queue at any address, and nobody looks where others arrive. It takes a returned value at
/// each level and a release: three ways through the L2 one after another instead of one.
// Not `Copy`: two copies would not know of each other's round.
#[derive(Debug)]
pub struct TreeBarrier {
    state: Global<u32>,
    members: Members,
    /// The last full round, as the block's first thread knows it.
    round: u32,
}

impl Barrier for TreeBarrier {
    fn words(blocks: usize) -> usize {
        GROUPS + blocks.div_ceil(GROUP as usize) * STRIDE
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
            let (members, state) = (self.members, self.state);
            let group = members.rank() / GROUP;
            let groups = Members::new(group, members.count().div_ceil(GROUP));
            let own = GROUPS + group as usize * STRIDE;
            if arrives_last(state, own, members.group(GROUP)) && arrives_last(state, ROOT, groups) {
                let next = self.round.wrapping_add(1);
                state.store(RELEASED, next, Ordering::Release, Scope::Device);
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

//! The tree barrier: blocks arrive in groups, the last block of each group arrives at the root, and
//! the last block there releases all.

use super::release::arrives_last;
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;
use gridsync_kernels::grid::barrier::{Barrier, Members, NAME, STRIDE};

/// The number of blocks in a group.
// With this, 132 blocks make 9 groups, so the root has about as many arrivals as a group.
const GROUP: u32 = 16;

/// Indices of the root's counter, the number of the last full round, and the first group's counter.
const ROOT: usize = 0;
const RELEASED: usize = STRIDE;
const GROUPS: usize = 2 * STRIDE;

/// A barrier over a tree of counters (Xiao and Feng, "Inter-block GPU communication via fast
/// barrier synchronization", IPDPS 2010, with two levels).
///
/// At most 16 blocks add to the counter of a group, and one block of each group to the root. So no
/// address has a long queue, and no block polls where others arrive. But each level waits for a
/// returned value, and the release follows: three trips through the L2 in a row instead of one.
// Not `Copy`: each copy would have a separate round.
#[derive(Debug)]
pub struct TreeBarrier {
    state: Global<u32>,
    members: Members,
    /// The last full round. Valid in the first thread only.
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
        // The release below then covers what all threads of the block wrote.
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
        // Passes what the first thread acquired to the whole block.
        thread::sync_threads();
    }
}

//! The seed's lock-free barrier (row R10): a flag in and a flag out for each block, and no atomic
//! read-modify-write operation.

use super::{Barrier, Members, NAME, STRIDE};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// Where the number of the last full round lies, and where the flags in begin. Those out follow.
const ROUND: usize = 0;
const FLAGS: usize = STRIDE;

/// A barrier of flags (Xiao and Feng, IPDPS 2010; with acquire and release as Sorensen et al.,
/// OOPSLA 2016, give them).
///
/// A block sets its flag in to the round. The threads of block 0 look at all flags in, each at its
/// share of them, meet, and set all flags out; each block waits for its own. Unlike the seed's it
/// takes any number of blocks of any number of threads, down to one: the seed's coordinator is
/// block 1, and has one thread for each block.
///
/// The other blocks are released while block 0 waits: if block 0 does other work between arriving
/// and waiting, all of them do it with.
// Not `Copy`: two copies would not know of each other's round.
#[derive(Debug)]
pub struct LockFreeBarrier {
    state: Global<u32>,
    members: Members,
    /// The round that this one follows.
    round: u32,
}

impl LockFreeBarrier {
    #[inline(always)]
    fn flag_in(rank: u32) -> usize {
        FLAGS + rank as usize
    }

    #[inline(always)]
    fn flag_out(&self, rank: u32) -> usize {
        let room = (self.state.len() - FLAGS) / 2;
        FLAGS + room + rank as usize
    }

    /// Waits for all flags in, and sets all flags out. By all threads of block 0.
    #[device]
    fn coordinate(&self, round: u32) {
        let (state, count) = (self.state, self.members.count());
        let (me, threads) = (thread::index_in_block(), thread::threads_per_block());
        let mut rank = me;
        while rank < count {
            let at = Self::flag_in(rank);
            spin::until(|| state.load(at, Ordering::Acquire, Scope::Device) == round);
            rank += threads;
        }
        // All have arrived: who attaches now, in this launch or a later one, goes on from this round.
        thread::sync_threads();
        if me == 0 {
            state.store(ROUND, round, Ordering::Relaxed, Scope::Device);
        }
        // What each of these threads acquired, and the round, all of them now release.
        thread::sync_threads();
        let mut rank = me;
        while rank < count {
            let at = self.flag_out(rank);
            state.store(at, round, Ordering::Release, Scope::Device);
            rank += threads;
        }
    }
}

impl Barrier for LockFreeBarrier {
    fn words(blocks: usize) -> usize {
        FLAGS + 2 * blocks
    }

    #[device(protocol = NAME)]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        join_barrier(NAME, state);
        Self { state, members, round: state.load(ROUND, Ordering::Relaxed, Scope::Device) }
    }

    #[device(protocol = NAME)]
    fn arrive(&mut self) {
        self.round = self.round.wrapping_add(1);
        // Gathers what all threads of the block wrote, so that one release covers it.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let at = Self::flag_in(self.members.rank());
            self.state.store(at, self.round, Ordering::Release, Scope::Device);
        }
    }

    #[device(protocol = NAME)]
    fn wait(&mut self) {
        if self.members.rank() == 0 {
            self.coordinate(self.round);
        } else if thread::is_first_in_block() {
            let (state, at) = (self.state, self.flag_out(self.members.rank()));
            let round = self.round;
            spin::until(|| state.load(at, Ordering::Acquire, Scope::Device) == round);
        }
        // Passes on to the whole block what its threads acquired.
        thread::sync_threads();
    }
}

//! The lock-free barrier: a flag in and a flag out for each block, and no atomic read-modify-write.

use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;
use gridsync_kernels::grid::barrier::{Barrier, Members, NAME, STRIDE};

/// Indices of the number of the last full round and of the first flag in. The flags out follow.
const ROUND: usize = 0;
const FLAGS: usize = STRIDE;

/// A barrier of flags (Xiao and Feng, IPDPS 2010; with the acquire and release of Sorensen et al.,
/// OOPSLA 2016).
///
/// A block sets its flag in to the round. Each thread of block 0 waits for its share of the flags
/// in; then these threads synchronise and set all flags out. Each other block waits for its own
/// flag out. Any number of blocks and threads works, down to one. Xiao and Feng's coordinator is
/// block 1 and needs one thread for each block.
///
/// Block 0 releases the other blocks while it waits. If it does other work between arrive and wait,
/// all blocks wait for that work.
// Not `Copy`: each copy would have a separate round.
#[derive(Debug)]
pub struct LockFreeBarrier {
    state: Global<u32>,
    members: Members,
    /// The number of the last round.
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

    /// Waits for all flags in, then sets all flags out. Called by all threads of block 0.
    #[device]
    fn coordinate(&self, round: u32) {
        let (state, count) = (self.state, self.members.count());
        let (me, threads) =
            (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
        let mut rank = me;
        while rank < count {
            let at = Self::flag_in(rank);
            spin::until(|| state.load(at, Ordering::Acquire, Scope::Device) == round);
            rank += threads;
        }
        // All have arrived. Blocks that attach later, in this launch or another, read this number.
        thread::sync_threads();
        if me == 0 {
            state.store(ROUND, round, Ordering::Relaxed, Scope::Device);
        }
        // Each thread's release then covers the round and what all of these threads acquired.
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
        // The release below then covers what all threads of the block wrote.
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
        // Passes what the waiting threads acquired to the whole block.
        thread::sync_threads();
    }
}

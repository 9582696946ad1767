//! Barriers in one word of device memory, which never needs a reset: the flip barrier, the phase
//! barrier and the growing barrier.

use super::{Acquire, Look};
use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;
use gridsync_kernels::grid::barrier::{Barrier, Members, NAME};

/// The barrier of cooperative groups' `grid.sync()` (CUDA 12 and 13 headers,
/// `cooperative_groups/details/sync.h`), for comparison. [`PhaseBarrier`] is the same without the
/// returned value.
///
/// The arrival returns the current phase, and the block waits until the phase changes. So a block
/// keeps no state between crossings, but it cannot poll before the result is back.
pub type FlipBarrier = WordBarrier<Phase, true>;

/// A barrier in one word whose top bit flips in each round.
///
/// In each round the members together add 2^31: the top bit, the phase, flips, and the other bits
/// are 0 again. A launch reads the phase from the word. This is the arithmetic of CUDA's
/// cooperative groups. But here each block keeps the current phase, so the arrival needs no result
/// (`red`), which saves a round trip to the L2.
pub type PhaseBarrier = WordBarrier<Phase, false>;

/// A barrier with one counter that only grows. It waits with the spin of form `L`.
///
/// It is Xiao and Feng's lock-based barrier (IPDPS 2010) with three changes. As there, the counter
/// is never reset, which saves instructions and a branch. First, the arrival is a release and the
/// wait an acquire; their code has neither. Second, the wait ends when the counter is at the goal
/// *or past it*, not at `==`: a fast block may be at the next round when a slow one polls. Third, a
/// round adds a power of two, not the number of blocks: the counter may wrap and serve any grid.
pub type GrowingBarrier<L = Acquire> = WordBarrier<Goal<L>, false>;

/// What a block remembers of the word, and what it waits for.
pub trait Waiting {
    /// The amount by which the word grows in each round. It is also the largest number of blocks.
    const ROUND: u32;

    /// What a block remembers if the word was `now` when it attached.
    fn of(now: u32) -> u32;

    /// Waits until the word tells that all blocks have arrived. Acquires, at device scope.
    fn until_all_arrived(word: Global<u32>, known: u32);

    /// What a block remembers in the next round.
    fn next(known: u32) -> u32;
}

/// A bit that flips in each round: a block waits until it differs from the bit it knows.
#[derive(Debug)]
pub enum Phase {}

impl Waiting for Phase {
    const ROUND: u32 = 1 << 31;

    #[inline(always)]
    fn of(now: u32) -> u32 {
        now & Self::ROUND
    }

    #[device]
    fn until_all_arrived(word: Global<u32>, known: u32) {
        spin::until(|| (word.load(0, Ordering::Acquire, Scope::Device) ^ known) & Self::ROUND != 0);
    }

    #[inline(always)]
    fn next(known: u32) -> u32 {
        known ^ Self::ROUND
    }
}

/// A goal that grows in each round: a block waits until the word has reached or passed it.
#[derive(Debug)]
pub struct Goal<L>(PhantomData<L>);

impl<L: Look> Waiting for Goal<L> {
    const ROUND: u32 = 1 << 20;

    #[inline(always)]
    fn of(now: u32) -> u32 {
        (now / Self::ROUND * Self::ROUND).wrapping_add(Self::ROUND)
    }

    #[device]
    fn until_all_arrived(word: Global<u32>, known: u32) {
        L::until_reached(word, 0, known);
    }

    #[inline(always)]
    fn next(known: u32) -> u32 {
        known.wrapping_add(Self::ROUND)
    }
}

/// A barrier in one word. Blocks wait as `W` says. If `RETURNS`, the arrival returns the word, and
/// a block remembers that; if not, a block remembers something from one round to the next.
// Not `Copy`: each copy would have a separate round.
#[derive(Debug)]
pub struct WordBarrier<W, const RETURNS: bool> {
    word: Global<u32>,
    members: Members,
    /// What this block remembers of the word. Valid in the first thread only.
    known: u32,
    waiting: PhantomData<W>,
}

impl<W: Waiting, const RETURNS: bool> Barrier for WordBarrier<W, RETURNS> {
    fn words(_blocks: usize) -> usize {
        1
    }

    #[device(protocol = NAME)]
    fn attach_among(word: Global<u32>, members: Members) -> Self {
        join_barrier(NAME, word);
        // Relaxed is enough: other blocks may have arrived, but the round cannot end before this
        // block arrives.
        let known = if !RETURNS && thread::is_first_in_block() {
            W::of(word.load(0, Ordering::Relaxed, Scope::Device))
        } else {
            0
        };
        Self { word, members, known, waiting: PhantomData }
    }

    #[device(protocol = NAME)]
    fn arrive(&mut self) {
        // The release below then covers what all threads of the block wrote.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let arrival = self.members.arrival(W::ROUND);
            if RETURNS {
                self.known = self.word.fetch_add(0, arrival, Ordering::Release, Scope::Device);
            } else {
                self.word.add(0, arrival, Ordering::Release, Scope::Device);
            }
        }
    }

    #[device(protocol = NAME)]
    fn wait(&mut self) {
        if thread::is_first_in_block() {
            W::until_all_arrived(self.word, self.known);
            if !RETURNS {
                self.known = W::next(self.known);
            }
        }
        // Passes what the first thread acquired to the whole block.
        thread::sync_threads();
    }
}

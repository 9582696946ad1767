//! The flip barrier: one word and a bit that turns over, as CUDA's cooperative groups do it.

use super::{Barrier, Members, NAME};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// The bit that turns over.
const PHASE: u32 = 1 << 31;

/// The barrier of cooperative groups' `grid.sync()` (CUDA 12 and 13 headers,
/// `cooperative_groups/details/sync.h`), to compare with: [`PhaseBarrier`](super::PhaseBarrier) is
/// the same without the returned value.
///
/// A block learns the phase that it waits to leave from what its own arrival returns, and so
/// carries no state from one crossing to the next; but it cannot look before that is back.
#[derive(Debug)]
pub struct FlipBarrier {
    word: Global<u32>,
    members: Members,
    /// The word before this block arrived, as its first thread knows it.
    before: u32,
}

impl Barrier for FlipBarrier {
    fn words(_blocks: usize) -> usize {
        1
    }

    #[device(protocol = NAME)]
    fn attach_among(word: Global<u32>, members: Members) -> Self {
        join_barrier(NAME, word);
        Self { word, members, before: 0 }
    }

    #[device(protocol = NAME)]
    fn arrive(&mut self) {
        // Gathers what all threads of the block wrote, so that one release covers it.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let arrival = self.members.arrival(PHASE);
            self.before = self.word.fetch_add(0, arrival, Ordering::Release, Scope::Device);
        }
    }

    #[device(protocol = NAME)]
    fn wait(&mut self) {
        if thread::is_first_in_block() {
            let (word, before) = (self.word, self.before);
            spin::until(|| (word.load(0, Ordering::Acquire, Scope::Device) ^ before) & PHASE != 0);
        }
        // Passes on to the whole block what the first thread acquired.
        thread::sync_threads();
    }
}

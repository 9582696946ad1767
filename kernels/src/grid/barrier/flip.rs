//! The flip barrier: one word with a bit that flips each round, as in CUDA's cooperative groups.

use super::{Barrier, Members, NAME};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// The bit that flips.
const PHASE: u32 = 1 << 31;

/// The barrier of cooperative groups' `grid.sync()` (CUDA 12 and 13 headers,
/// `cooperative_groups/details/sync.h`), for comparison. [`PhaseBarrier`](super::PhaseBarrier) is
/// the same without the returned value.
///
/// The arrival returns the current phase, and the block waits until the phase changes. So a block
/// keeps no state between crossings, but it cannot poll before the result is back.
#[derive(Debug)]
pub struct FlipBarrier {
    word: Global<u32>,
    members: Members,
    /// The word before this block arrived. Valid in the first thread only.
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
        // The release below then covers what all threads of the block wrote.
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
        // Passes what the first thread acquired to the whole block.
        thread::sync_threads();
    }
}

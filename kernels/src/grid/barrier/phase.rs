//! The phase barrier: one word. Its top bit flips each time all blocks have arrived.

use super::{Barrier, Members, NAME};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// The bit that flips.
const PHASE: u32 = 1 << 31;

/// A barrier in one word of device memory that never needs a reset.
///
/// In each round the members together add 2^31: the top bit, the phase, flips, and the other bits
/// are 0 again. A launch reads the phase from the word. This is the arithmetic of CUDA's
/// cooperative groups. But here each block keeps the current phase, so the arrival needs no result
/// (`red`), which saves a round trip to the L2.
// Not `Copy`: each copy would have a separate phase.
#[derive(Debug)]
pub struct PhaseBarrier {
    word: Global<u32>,
    members: Members,
    phase: u32,
}

impl Barrier for PhaseBarrier {
    fn words(_blocks: usize) -> usize {
        1
    }

    #[device(protocol = NAME)]
    fn attach_among(word: Global<u32>, members: Members) -> Self {
        join_barrier(NAME, word);
        // Relaxed is enough: the phase cannot flip before this block arrives.
        let phase = if thread::is_first_in_block() {
            word.load(0, Ordering::Relaxed, Scope::Device) & PHASE
        } else {
            0
        };
        Self { word, members, phase }
    }

    #[device(protocol = NAME)]
    fn arrive(&mut self) {
        // The release below then covers what all threads of the block wrote.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let arrival = self.members.arrival(PHASE);
            self.word.add(0, arrival, Ordering::Release, Scope::Device);
        }
    }

    #[device(protocol = NAME)]
    fn wait(&mut self) {
        if thread::is_first_in_block() {
            let (word, phase) = (self.word, self.phase);
            spin::until(|| (word.load(0, Ordering::Acquire, Scope::Device) ^ phase) & PHASE != 0);
            self.phase ^= PHASE;
        }
        // Passes what the first thread acquired to the whole block.
        thread::sync_threads();
    }
}

//! The phase barrier: one word, whose top bit turns over each time all blocks have arrived.

use super::{Barrier, Members, NAME};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// The bit that turns over.
const PHASE: u32 = 1 << 31;

/// A barrier in one word of device memory that needs no reset, ever.
///
/// In each round the members together add 2^31: the top bit, the phase, turns over, and the other
/// bits are 0 again. A launch reads its phase from the word. That is the arithmetic of CUDA's
/// cooperative groups; unlike there the arrival asks for no result (`red`), since each block knows
/// the phase it waits to leave: a round trip to the L2 less.
// Not `Copy`: two copies would not know of each other's phase.
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
        // Relaxed suffices: the phase cannot turn before this block has arrived.
        let phase = if thread::is_first_in_block() {
            word.load(0, Ordering::Relaxed, Scope::Device) & PHASE
        } else {
            0
        };
        Self { word, members, phase }
    }

    #[device(protocol = NAME)]
    fn arrive(&mut self) {
        // Gathers what all threads of the block wrote, so that one release covers it.
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
        // Passes on to the whole block what the first thread acquired.
        thread::sync_threads();
    }
}

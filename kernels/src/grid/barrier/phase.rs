//! The phase barrier: one word, whose top bit turns over each time all blocks have arrived.

use super::Barrier;
use cuda_std::prelude::*;

/// The bit that turns over.
const PHASE: u32 = 1 << 31;

/// What a block adds to a counter that `sharing` blocks arrive at, so that together they add
/// `round`: 1 each, and the `first` of them the rest.
#[inline(always)]
pub(super) fn arrival(round: u32, first: bool, sharing: usize) -> u32 {
    if first {
        round - (sharing as u32 - 1)
    } else {
        1
    }
}

/// A barrier in one word of device memory that needs no reset, ever.
///
/// In each round block 0 adds 2^31 − (blocks − 1) and every other block 1, so that a full round adds
/// 2^31: the top bit, the phase, turns over, and the other bits are 0 again. The word may begin at 0
/// once and then serve any number of rounds and launches, of any grids one after another: a launch
/// reads its phase from the word. (Only after a launch that was stopped by a fault must the word be
/// zeroed again.) That is the arithmetic of CUDA's cooperative groups; unlike there
/// the arrival asks for no result (`red`), since each block knows the phase it waits to leave.
// Not `Copy`: two copies would not know of each other's phase.
#[derive(Debug)]
pub struct PhaseBarrier {
    word: Global<u32>,
    phase: u32,
}

impl Barrier for PhaseBarrier {
    const WORDS: usize = 1;

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn attach(word: Global<u32>) -> Self {
        // Relaxed suffices: the phase cannot turn before this block has arrived.
        let phase = if thread::is_first_in_block() {
            word.load(0, Ordering::Relaxed, Scope::Device) & PHASE
        } else {
            0
        };
        Self { word, phase }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn arrive(&mut self) {
        // Gathers what all threads of the block wrote, so that one release covers it.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let value = arrival(PHASE, thread::block_index() == 0, thread::block_count());
            self.word.add(0, value, Ordering::Release, Scope::Device);
        }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
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

//! The phase barrier: one word, whose top bit turns over each time all blocks have arrived.

use super::Barrier;
use cuda_std::prelude::*;

const PHASE: u32 = 1 << 31;

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

impl PhaseBarrier {
    /// Attaches to the barrier in `word`, an array of one element.
    ///
    /// Called by every thread of the grid, before its block first arrives. Of all the words of the
    /// device only this launch may use this one until it has ended.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn attach(word: Global<u32>) -> Self {
        // Relaxed suffices: the phase cannot turn before this block has arrived.
        let phase = if thread::is_first_in_block() {
            word.load(0, Ordering::Relaxed, Scope::Device) & PHASE
        } else {
            0
        };
        Self { word, phase }
    }
}

impl Barrier for PhaseBarrier {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn arrive(&mut self) {
        // Gathers what all threads of the block wrote, so that one release covers it.
        thread::sync_threads();
        if thread::is_first_in_block() {
            let arrival = if thread::block_index() == 0 {
                PHASE - (thread::block_count() as u32 - 1)
            } else {
                1
            };
            self.word.add(0, arrival, Ordering::Release, Scope::Device);
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

//! The seed's barrier (row R4) as the seed has it: wrong in five ways, kept to show them.

use super::{Barrier, Members};
use cuda_std::prelude::*;

/// Where the counter lies, and where the count of misses.
const COUNT: usize = 0;
const MISSES: usize = 1;

/// How long a block looks for the zero before it takes it for missed, ns: a crossing takes 1000.
const PATIENCE_NS: u64 = 50_000;

/// The barrier of the seed: `atomicInc` wraps to 0 with the last arrival, and everybody else waits
/// to see that 0. **Not to be used.** What is wrong with it:
///
/// 1. A block that looks too late misses the 0, because a fast block is at the next round already.
///    Then all wait for ever. Here a block that has looked for 50 µs in vain counts a miss in the
///    second word and goes on, so that the fault can be counted.
/// 2. No barrier of the block stands before the arrival: the first thread may arrive while others
///    of its block still write.
/// 3. Its `init` may write its 0 over the arrivals of blocks that found 0 already.
/// 4. No fence follows its spin: what is read behind it may be older than the zero.
/// 5. It assumes that all blocks are resident, without a word.
///
/// [`GenerationBarrier`](super::GenerationBarrier) is the same, repaired.
#[derive(Debug)]
pub struct SeedBarrier {
    state: Global<u32>,
    members: Members,
    /// Whether this block was the last to arrive, as its first thread knows it.
    was_last: bool,
}

impl SeedBarrier {
    /// How many times a block missed the zero, in the words of a barrier that was used.
    #[must_use]
    pub fn misses(words: &[u32]) -> u32 {
        words[MISSES]
    }

    /// The seed's `InitSyncWholeDevice`: the first thread of the grid writes 0, and the first
    /// threads of blocks wait to see it.
    #[device]
    fn init(&self) {
        if thread::is_first_in_block() {
            if self.members.rank() == 0 {
                self.state.write_volatile(COUNT, 0);
            }
            self.wait_for_zero();
        }
        thread::sync_threads();
    }

    #[device]
    fn wait_for_zero(&self) {
        let state = self.state;
        if !spin::until_timeout(PATIENCE_NS, || state.read_volatile(COUNT) == 0) {
            state.add(MISSES, 1, Ordering::Relaxed, Scope::Device);
        }
    }
}

impl Barrier for SeedBarrier {
    fn words(_blocks: usize) -> usize {
        MISSES + 1
    }

    #[device]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        let barrier = Self { state, members, was_last: false };
        barrier.init();
        barrier
    }

    #[device]
    fn arrive(&mut self) {
        thread::device_fence();
        if thread::is_first_in_block() {
            let last = self.members.count() - 1;
            let before = self.state.fetch_inc(COUNT, last, Ordering::Relaxed, Scope::Device);
            thread::device_fence();
            self.was_last = before == last;
        }
    }

    #[device]
    fn wait(&mut self) {
        if thread::is_first_in_block() && !self.was_last {
            self.wait_for_zero();
        }
        thread::sync_threads();
    }
}

//! The reset barrier in its first published form: wrong in five ways, kept to demonstrate them.

use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Barrier, Members};

/// Indices of the counter and of the number of misses.
const COUNT: usize = 0;
const MISSES: usize = 1;

/// How long a block polls for the 0 before it counts a miss, in ns. A crossing lasts about 1000.
const PATIENCE_NS: u64 = 50_000;

/// A barrier with a counter that is reset while blocks may still wait for it: `atomicInc` wraps to
/// 0 with the last arrival, and all other blocks wait to see that 0. **Do not use it.** Its faults:
///
/// 1. A block that polls too late misses the 0, because a fast block is already at the next round.
///    Then all blocks wait forever. Here a block that has polled for 50 µs counts a miss in the
///    second word and continues, which lets tests count the fault.
/// 2. It has no block barrier before the arrival, so the first thread may arrive while others of
///    its block are still writing.
/// 3. The 0 that `init` writes may overwrite the arrivals of blocks that already saw a 0.
/// 4. It has no fence after the spin, so later reads may return data older than the 0.
/// 5. It assumes that all blocks are resident, but neither documents nor checks it.
///
/// [`GenerationBarrier`](super::GenerationBarrier) is the repaired version.
#[derive(Debug)]
pub struct ResetBarrier {
    state: Global<u32>,
    members: Members,
    /// Whether this block was the last to arrive. Valid in the first thread only.
    was_last: bool,
}

impl ResetBarrier {
    /// Returns how many times blocks missed the 0, from the `words` left by a launch.
    #[must_use]
    pub fn misses(words: &[u32]) -> u32 {
        words[MISSES]
    }

    /// `InitSyncWholeDevice` of the published form: the first thread of the grid writes 0, and the
    /// first thread of each block waits to see it.
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

impl Barrier for ResetBarrier {
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

//! The split barrier: two counters on lines of their own, looked at for the first time when the
//! arrivals are nearly sure to be in.
//!
//! What a barrier costs beyond its fence and the way to the L2 and back is contention: arrivals of
//! all blocks add up at one address, and every look of a waiting block delays them further. Two
//! counters halve the queue of arrivals; holding back the first look keeps the waiting blocks out
//! of its way. On an H200 that is 0.85 µs at 132 blocks of 256 threads and 0.90 at 528, where
//! cooperative groups' `grid.sync()` takes 1.02 and 1.28 (bench/runs/2026-11-21-nvidia-h200).

use super::Barrier;
use super::phase::arrival;
use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_vote_all};

/// How many counters there are. Block b arrives at counter b modulo this.
const COUNTERS: usize = 2;

/// What a counter grows by in each round. The bits above count rounds, modulo 4.
const ROUND: u32 = 1 << 30;

/// Words from one counter to the next: 256 bytes, so that they lie on lines of their own.
const STRIDE: usize = 64;

/// When to look first, in cycles after the arrival, by the number of blocks of the grid.
// Best of 0, 700 … 1300 at 33, 66, 132, 264 and 528 blocks of 32 to 1024 threads, back to back, on
// an H200 at 1980 MHz, 2026-11-21. A block that is the last to arrive loses nothing: its own arrival
// and first look take as long. Rejected: 1, 4, 8 and 16 counters, pauses between looks.
const FIRST_LOOK: [(usize, u64); 3] = [(66, 800), (264, 900), (usize::MAX, 1000)];

/// A barrier over two counters, never reset, for any number of rounds, launches and grids.
///
/// In each round both counters grow by 2^30, the sum of what the blocks that share them bring; so
/// the top two bits of both count rounds, modulo 4, and are the same between rounds. A block learns
/// the round from its own counter, which cannot grow past it before it has arrived. The other one
/// can, by one round: its blocks may be through this barrier and at the next before a slow block of
/// ours has looked. That is why one bit would not do: it would be back where it was.
// Not `Copy`: two copies would not know of each other's round.
#[derive(Debug)]
pub struct SplitBarrier {
    state: Global<u32>,
    /// The round that this one follows, in the top two bits, as the first warp of the block knows
    /// it.
    round: u32,
    /// When this block arrived, in cycles.
    arrived: u64,
}

impl SplitBarrier {
    /// Where the counter that this block arrives at lies.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn own_counter() -> usize {
        thread::block_index() % COUNTERS * STRIDE
    }

    /// Whether all blocks that share the counter at `at` have arrived in this round.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn is_full(&self, at: usize) -> bool {
        let now = self.state.load(at, Ordering::Acquire, Scope::Device);
        now / ROUND != self.round / ROUND
    }

    /// Waits for the first moment at which looking is worth while.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn hold_back(&self) {
        let blocks = thread::block_count();
        let [(few, soon), (more, later), (_, latest)] = FIRST_LOOK;
        let cycles = if blocks <= few {
            soon
        } else if blocks <= more {
            later
        } else {
            latest
        };
        spin::until(|| clock().wrapping_sub(self.arrived) >= cycles);
    }
}

impl Barrier for SplitBarrier {
    const WORDS: usize = COUNTERS * STRIDE;

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn attach(state: Global<u32>) -> Self {
        let round = if thread::index_in_block() < WARP_SIZE {
            state.load(Self::own_counter(), Ordering::Relaxed, Scope::Device) / ROUND * ROUND
        } else {
            0
        };
        Self {
            state,
            round,
            arrived: 0,
        }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn arrive(&mut self) {
        // Gathers what all threads of the block wrote, so that one release covers it.
        thread::sync_threads();
        self.arrived = clock();
        if thread::is_first_in_block() {
            let (block, blocks) = (thread::block_index(), thread::block_count());
            let sharing = (blocks - block % COUNTERS).div_ceil(COUNTERS);
            let value = arrival(ROUND, block < COUNTERS, sharing);
            let own = Self::own_counter();
            self.state.add(own, value, Ordering::Release, Scope::Device);
            if blocks == 1 {
                // Nobody else arrives at the other counter, which has to grow all the same.
                self.state
                    .add(STRIDE, ROUND, Ordering::Release, Scope::Device);
            }
        }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn wait(&mut self) {
        let threads = thread::threads_per_block();
        if thread::index_in_block() < WARP_SIZE {
            self.hold_back();
            let lanes = if threads < WARP_SIZE {
                (1 << threads) - 1
            } else {
                FULL_MASK
            };
            // Each lane looks at one counter; the one lane of a block of one thread at both.
            let at = lane_id() as usize % COUNTERS * STRIDE;
            spin::until(|| {
                let full = self.is_full(at) && (threads > 1 || self.is_full(STRIDE));
                warp_vote_all(lanes, full)
            });
            self.round = self.round.wrapping_add(ROUND);
        }
        // Passes on to the whole block what the first warp acquired.
        thread::sync_threads();
    }
}

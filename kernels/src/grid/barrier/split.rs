//! The split barrier: counters on lines of their own, looked at for the first time when the
//! arrivals are nearly sure to be in.
//!
//! What a barrier costs beyond its fence and the way to the L2 and back is contention: arrivals of
//! all blocks add up at one address, and every look of a waiting block delays them further. More
//! counters make the queues of arrivals shorter; holding back the first look keeps the waiting blocks
//! out of their way. The latter is worth more: one counter, looked at late, is the fastest barrier
//! of all up to two blocks of up to 512 threads for each multiprocessor of an H200, and two counters
//! are beyond.

use super::{Barrier, Members, NAME, STRIDE};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;
use cuda_std::time::clock;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_vote_all};

/// What a counter grows by in each round. The bits above count rounds, modulo 4.
const ROUND: u32 = 1 << 30;

/// When to look first, in cycles after the arrival, by the number of blocks: at one counter, and at
/// more.
// Between the best of 700, 750 … 1200 for blocks of 32, 256, 512 and 1024 threads, at 33, 66, 132,
// 264 and 528 blocks, back to back, by a forerunner in CUDA C++ on an H200 at 1980 MHz, 2026-11-21
// (bench/runs/2026-11-21-nvidia-h200/first-look.txt). A
// block that is the last to arrive loses little: its own arrival and first look take as long.
// Rejected: pauses between looks, looking from another warp than the one that arrives, 8 and 16
// counters.
const FIRST_LOOK: [[(u32, u64); 4]; 2] = [
    [(48, 800), (96, 850), (200, 920), (u32::MAX, 980)],
    [(96, 880), (200, 1000), (400, 1020), (u32::MAX, 1050)],
];

/// A barrier over so many `COUNTERS`, a power of two of at most 32, never reset, for any number of
/// rounds, launches and grids.
///
/// In each round every counter grows by 2^30, the sum of what the blocks that share it bring; so
/// the top two bits of all count rounds, modulo 4, and are the same between rounds. A block learns
/// the round from its own counter, which cannot grow past it before it has arrived. The others
/// can, by one round: their blocks may be through this barrier and at the next before a slow block
/// of ours has looked. That is why one bit would not do: it would be back where it was.
// Not `Copy`: two copies would not know of each other's round.
#[derive(Debug)]
pub struct SplitBarrier<const COUNTERS: u32>(Counters);

/// One counter, looked at late: what the late look alone is worth.
pub type LateBarrier = SplitBarrier<1>;

/// What both the split barrier and the grid barrier are made of.
#[derive(Debug)]
pub(super) struct Counters {
    state: Global<u32>,
    /// Where the counter that this block arrives at lies, and what it brings.
    own: usize,
    arrival: u32,
    /// Counters that nobody arrives at, which this block has to make grow: its first, and the end.
    idle: (u32, u32),
    /// Where the counter lies that this lane of the first warp looks at.
    watched: usize,
    /// The round that this one follows, in the top two bits, as the first warp of the block knows
    /// it.
    round: u32,
    /// When this block arrived, and how much later it looks first, in cycles.
    arrived: u64,
    holds_back: u64,
}

/// Words of so many counters.
pub(super) const fn words(counters: u32) -> usize {
    counters as usize * STRIDE
}

impl Counters {
    /// Attaches to as many `counters` of `members` in `state`.
    #[device(protocol = NAME)]
    pub(super) fn attach(state: Global<u32>, members: Members, counters: u32) -> Self {
        join_barrier(NAME, state);
        let (rank, blocks) = (members.rank(), members.count());
        // A lane looks at one counter; of a block with fewer threads than counters all arrive at
        // the first.
        let used = if thread::threads_per_block() < counters { 1 } else { counters };
        let own = words(rank % used);
        let round = if thread::index_in_block() < WARP_SIZE {
            state.load(own, Ordering::Relaxed, Scope::Device) / ROUND * ROUND
        } else {
            0
        };
        let [one, more] = FIRST_LOOK;
        let [(few, a), (some, b), (many, c), (_, d)] = if counters == 1 { one } else { more };
        let holds_back = match blocks {
            n if n <= few => a,
            n if n <= some => b,
            n if n <= many => c,
            _ => d,
        };
        Self {
            state,
            own,
            arrival: members.part(used).arrival(ROUND),
            idle: (if rank == 0 { used.min(blocks) } else { counters }, counters),
            watched: words(lane_id() % used),
            round,
            arrived: 0,
            holds_back,
        }
    }

    #[device(protocol = NAME)]
    pub(super) fn arrive(&mut self) {
        // Gathers what all threads of the block wrote, so that one release covers it.
        thread::sync_threads();
        self.arrived = clock();
        if thread::is_first_in_block() {
            self.state.add(self.own, self.arrival, Ordering::Release, Scope::Device);
            let (first, end) = self.idle;
            for idle in first..end {
                self.state.add(words(idle), ROUND, Ordering::Relaxed, Scope::Device);
            }
        }
    }

    #[device(protocol = NAME)]
    pub(super) fn wait(&mut self) {
        let threads = thread::threads_per_block();
        if thread::index_in_block() < WARP_SIZE {
            let lanes = if threads < WARP_SIZE { (1 << threads) - 1 } else { FULL_MASK };
            // The lanes that do not arrive must not spin while the one that does has yet to: the
            // compiler lets a warp that has parted stay so, and that costs 0.14 µs.
            sync_warp(lanes);
            spin::until(|| clock().wrapping_sub(self.arrived) >= self.holds_back);
            let (state, watched, round) = (self.state, self.watched, self.round);
            spin::until(|| {
                let now = state.load(watched, Ordering::Acquire, Scope::Device);
                warp_vote_all(lanes, now / ROUND != round / ROUND)
            });
            self.round = round.wrapping_add(ROUND);
        }
        // Passes on to the whole block what the first warp acquired.
        thread::sync_threads();
    }
}

impl<const COUNTERS: u32> Barrier for SplitBarrier<COUNTERS> {
    fn words(_blocks: usize) -> usize {
        words(COUNTERS)
    }

    #[device]
    fn attach_among(state: Global<u32>, members: Members) -> Self {
        const { assert!(COUNTERS.is_power_of_two() && COUNTERS <= WARP_SIZE) };
        Self(Counters::attach(state, members, COUNTERS))
    }

    #[device]
    fn arrive(&mut self) {
        self.0.arrive();
    }

    #[device]
    fn wait(&mut self) {
        self.0.wait();
    }
}

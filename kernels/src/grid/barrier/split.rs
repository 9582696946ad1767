//! The split barrier: several counters on separate lines. Blocks first poll them when all arrivals
//! are probably complete.
//!
//! Apart from its fence and the round trip to the L2, a barrier costs time by contention. The
//! arrivals of all blocks queue at one address, and each poll of a waiting block delays them
//! further. More counters make the queues shorter. A late first poll keeps the waiting blocks out
//! of the way, and this helps more: on an H200, one counter with a late poll is the fastest barrier
//! up to two blocks of up to 512 threads per multiprocessor. Beyond that, two counters are faster.

use super::{Barrier, Members, NAME, STRIDE};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;
use cuda_std::time::clock;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_vote_all};

/// The amount by which a counter grows in each round. Its top two bits count rounds, modulo 4.
const ROUND: u32 = 1 << 30;

/// When to poll first, in cycles after the arrival, up to a number of blocks: for one counter, and
/// for more.
// A compromise between the best values for blocks of 32, 256, 512 and 1024 threads, at 33, 66, 132,
// 264 and 528 blocks, back to back. A prototype in CUDA C++ tried 700, 750 … 1200 on an H200 at
// 1980 MHz, 2026-11-21 (bench/runs/2026-11-21-nvidia-h200/first-look.txt). The last block to arrive
// loses little, because its own arrival and first poll last as long. Rejected: pauses between
// polls, polls from another warp than the arriving one, 8 and 16 counters.
const FIRST_LOOK: [[(u32, u64); 4]; 2] = [
    [(48, 800), (96, 850), (200, 920), (u32::MAX, 980)],
    [(96, 880), (200, 1000), (400, 1020), (u32::MAX, 1050)],
];

/// A barrier with `COUNTERS` counters, a power of two up to 32. It is never reset, and serves any
/// number of rounds, launches and grids.
///
/// In each round the blocks that share a counter together add 2^30 to it. So the top two bits of
/// each counter count rounds, modulo 4. Between rounds they are equal. A block reads the round from
/// its own counter, which cannot pass the round before the block arrives. The other counters can,
/// by one round: their blocks may have left this barrier and arrived at the next before a slow
/// block polls. So one bit is not enough: after two rounds it would have its old value.
// Not `Copy`: each copy would have a separate round.
#[derive(Debug)]
pub struct SplitBarrier<const COUNTERS: u32>(Counters);

/// One counter with a late first poll.
pub type LateBarrier = SplitBarrier<1>;

/// The code that the split barrier and the grid barrier share.
#[derive(Debug)]
pub(super) struct Counters {
    state: Global<u32>,
    /// The index of this block's counter, and the amount that the block adds to it.
    own: usize,
    arrival: u32,
    /// The range of counters without blocks that this block has to advance.
    idle: (u32, u32),
    /// The index of the counter that this lane of the first warp polls.
    watched: usize,
    /// The last round, in the top two bits. Valid in the first warp only.
    round: u32,
    /// When this block arrived, and the delay before its first poll, in cycles.
    arrived: u64,
    holds_back: u64,
}

/// The number of words of `counters` counters.
pub(super) const fn words(counters: u32) -> usize {
    counters as usize * STRIDE
}

impl Counters {
    /// Attaches to the `counters` counters of `members` in `state`.
    #[device(protocol = NAME)]
    pub(super) fn attach(state: Global<u32>, members: Members, counters: u32) -> Self {
        join_barrier(NAME, state);
        let (rank, blocks) = (members.rank(), members.count());
        // A lane polls one counter. If a block has fewer threads than counters, all blocks arrive
        // at the first.
        let used = if thread::in_32_bits::threads_per_block() < counters { 1 } else { counters };
        let own = words(rank % used);
        let round = if thread::in_32_bits::index_in_block() < WARP_SIZE {
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
        // The release below then covers what all threads of the block wrote.
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
        let threads = thread::in_32_bits::threads_per_block();
        if thread::in_32_bits::index_in_block() < WARP_SIZE {
            let lanes = if threads < WARP_SIZE { (1 << threads) - 1 } else { FULL_MASK };
            // The other lanes must not spin before the first one has arrived, because that costs
            // time: the compiler does not reconverge a diverged warp.
            sync_warp(lanes);
            spin::until(|| clock().wrapping_sub(self.arrived) >= self.holds_back);
            let (state, watched, round) = (self.state, self.watched, self.round);
            spin::until(|| {
                let now = state.load(watched, Ordering::Acquire, Scope::Device);
                warp_vote_all(lanes, now / ROUND != round / ROUND)
            });
            self.round = round.wrapping_add(ROUND);
        }
        // Passes what the first warp acquired to the whole block.
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

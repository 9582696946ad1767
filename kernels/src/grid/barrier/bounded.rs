//! The bounded barrier: gives up after a while, and says which blocks were missing.

#[cfg(doc)]
use super::Barrier;
use super::{Members, NAME, STRIDE};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// What the counter grows by in each round; so many blocks at most.
const ROUND: u32 = 1 << 20;

/// Where the words lie: the counter of arrivals; who gave up, as its rank + 1, and in which round;
/// for each member the round it arrived at last; for each 32 members the bits of those that were
/// missing.
const COUNTER: usize = 0;
const GAVE_UP: usize = STRIDE;
const ROUND_GIVEN_UP: usize = STRIDE + 1;
const ROSTER: usize = 2 * STRIDE;

/// Not all blocks had arrived in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expired;

/// A barrier to find out why a grid hangs: its wait ends after a while, in every block.
///
/// The first block to wait for longer than the limit writes down who is missing. From then on every
/// wait that is not over ends with [`Expired`]; the kernel returns, the context lives, and the host
/// reads the names from the words ([`BoundedBarrier::missing`]), which have to be zeroed before the
/// barrier is used again. It costs a store per arrival more than
/// [`GrowingBarrier`](super::GrowingBarrier): keep it for debug builds and tests of a kernel.
// Not `Copy`: two copies would not know of each other's goal.
#[derive(Debug)]
pub struct BoundedBarrier {
    words: Global<u32>,
    members: Members,
    limit_ns: u64,
    /// Where the counter stands when all have arrived.
    goal: u32,
}

impl BoundedBarrier {
    /// How many words of device memory the barrier of up to `blocks` blocks lives in, 0 before its
    /// first use. Otherwise as [`Barrier::words`].
    #[must_use]
    pub const fn words(blocks: usize) -> usize {
        ROSTER + blocks + blocks.div_ceil(32)
    }

    /// Attaches to the barrier of `members` in `words`, whose waits last `limit_ns` nanoseconds at
    /// most.
    ///
    /// Called by every thread of each block that takes part, before the block first arrives.
    #[device(protocol = NAME)]
    pub fn attach(words: Global<u32>, members: Members, limit_ns: u64) -> Self {
        join_barrier(NAME, words);
        // Others may have arrived already, but the round cannot be full before this block has.
        let now = words.load(COUNTER, Ordering::Relaxed, Scope::Device);
        Self { words, members, limit_ns, goal: (now / ROUND * ROUND).wrapping_add(ROUND) }
    }

    /// Arrives and waits; what any thread did before is visible to every thread after, as with
    /// [`Barrier`].
    ///
    /// Every thread of every block that takes part calls it the same number of times, until it
    /// fails, and then no more.
    ///
    /// # Errors
    /// In all threads of the block: blocks are missing.
    #[device(protocol = NAME)]
    pub fn sync(&mut self) -> Result<(), Expired> {
        // Gathers what all threads of the block wrote, so that one release covers it.
        thread::sync_threads();
        let expired = thread::is_first_in_block() && !self.cross();
        self.goal = self.goal.wrapping_add(ROUND);
        // Passes on to the whole block what the first thread acquired.
        if thread::sync_threads_or(expired) { Err(Expired) } else { Ok(()) }
    }

    /// Arrives and waits, as one thread. Says whether all have arrived.
    #[device]
    fn cross(&self) -> bool {
        let (words, goal) = (self.words, self.goal);
        let me = ROSTER + self.members.rank() as usize;
        words.store(me, goal, Ordering::Relaxed, Scope::Device);
        let arrival = self.members.arrival(ROUND);
        words.add(COUNTER, arrival, Ordering::Release, Scope::Device);

        let full = || {
            let now = words.load(COUNTER, Ordering::Acquire, Scope::Device);
            now.wrapping_sub(goal) as i32 >= 0
        };
        let given_up = || words.load(GAVE_UP, Ordering::Relaxed, Scope::Device) != 0;
        if !spin::until_timeout(self.limit_ns, || full() || given_up()) {
            self.give_up();
        }
        full()
    }

    /// Writes down who is missing, unless another block does.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn give_up(&self) {
        let (words, count) = (self.words, self.members.count() as usize);
        let me = self.members.rank() + 1;
        if words.compare_exchange(GAVE_UP, 0, me, Ordering::Relaxed, Scope::Device) != 0 {
            return;
        }
        words.write(ROUND_GIVEN_UP, self.goal / ROUND);
        // If the last block comes just now, others may be at the next round already.
        let next = self.goal.wrapping_add(ROUND);
        let mut missing = 0;
        for rank in 0..count {
            let arrived = words.load(ROSTER + rank, Ordering::Relaxed, Scope::Device);
            missing |= u32::from(arrived != self.goal && arrived != next) << (rank % 32);
            if rank % 32 == 31 || rank == count - 1 {
                words.write(ROSTER + count + rank / 32, missing);
                missing = 0;
            }
        }
    }
}

/// Who was missing when a bounded barrier was given up.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The round, from 1 on since the words were 0, modulo 4096.
    pub round: u32,
    /// The rank of the block that gave up.
    pub given_up_by: u32,
    /// How many blocks take part.
    pub blocks: u32,
    /// The ranks of those that had not arrived, in order; none if the last of them came just then:
    /// the limit was too short.
    pub ranks: Vec<u32>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl core::fmt::Display for Missing {
    /// `round 3 of the grid barrier: 2 of 132 blocks had not arrived when block 5 gave up: 17, 90`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { round, given_up_by, blocks, ranks } = self;
        write!(
            f,
            "round {round} of the grid barrier: {} of {blocks} blocks had not arrived when block \
             {given_up_by} gave up",
            ranks.len()
        )?;
        if ranks.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = ranks.iter().take(SHOWN).map(u32::to_string).collect();
        write!(f, ": {}", names.join(", "))?;
        match ranks.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// So many missing blocks are named; the rest are counted.
#[cfg(not(target_arch = "nvptx64"))]
const SHOWN: usize = 16;

#[cfg(not(target_arch = "nvptx64"))]
impl BoundedBarrier {
    /// Who was missing, in the `words` of a barrier of `blocks` blocks that a launch has used; none
    /// if it was not given up.
    ///
    /// # Panics
    /// If these are not the words of so many blocks.
    #[must_use]
    pub fn missing(words: &[u32], blocks: u32) -> Option<Missing> {
        let given_up_by = words[GAVE_UP].checked_sub(1)?;
        let bits = &words[ROSTER + blocks as usize..];
        Some(Missing {
            round: words[ROUND_GIVEN_UP],
            given_up_by,
            blocks,
            ranks: (0..blocks)
                .filter(|rank| bits[*rank as usize / 32] >> (rank % 32) & 1 == 1)
                .collect(),
        })
    }
}

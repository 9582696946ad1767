//! The bounded barrier: gives up after a time limit, and reports the missing blocks.

#[cfg(doc)]
use super::Barrier;
use super::{Members, NAME, STRIDE};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// The amount by which the counter grows in each round. It is also the largest number of blocks.
const ROUND: u32 = 1 << 20;

/// Indices of the words: the counter of arrivals; the rank + 1 of the block that gave up; the round
/// in which it did; for each member the goal of its last arrival. After those, one bit for each
/// member: whether it was missing.
const COUNTER: usize = 0;
const GAVE_UP: usize = STRIDE;
const ROUND_GIVEN_UP: usize = STRIDE + 1;
const ROSTER: usize = 2 * STRIDE;

/// Not all blocks arrived in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expired;

/// A barrier to find out why a grid hangs: its wait ends after a time limit, in every block.
///
/// The first block that waits longer than the limit records which blocks are missing. After that
/// every unfinished wait ends with [`Expired`], the kernel returns, and the context survives. The
/// host reads the missing blocks from the words ([`BoundedBarrier::missing`]). Zero the words
/// before the next use. Each arrival needs one store more than a barrier without a limit, so use it
/// in debug builds and tests of a kernel.
// Not `Copy`: each copy would have a separate goal.
#[derive(Debug)]
pub struct BoundedBarrier {
    words: Global<u32>,
    members: Members,
    limit_ns: u64,
    /// The value of the counter when all blocks have arrived.
    goal: u32,
}

impl BoundedBarrier {
    /// The number of words of device memory for up to `blocks` blocks. They are 0 before the first
    /// use. See [`Barrier::words`] for the other rules.
    #[must_use]
    pub const fn words(blocks: usize) -> usize {
        ROSTER + blocks + blocks.div_ceil(32)
    }

    /// Attaches to the barrier of `members` in `words`. Each wait ends after `limit_ns`
    /// nanoseconds.
    ///
    /// Called by every thread of each block that takes part, before the block first arrives.
    #[device(protocol = NAME)]
    pub fn attach(words: Global<u32>, members: Members, limit_ns: u64) -> Self {
        join_barrier(NAME, words);
        // Other blocks may have arrived, but the round cannot end before this block arrives.
        let now = words.load(COUNTER, Ordering::Relaxed, Scope::Device);
        Self { words, members, limit_ns, goal: (now / ROUND * ROUND).wrapping_add(ROUND) }
    }

    /// Arrives and waits. The accesses of any thread before it are visible to every thread after
    /// it, as with [`Barrier`].
    ///
    /// Every thread of every block that takes part calls it the same number of times, and not again
    /// after it has failed.
    ///
    /// # Errors
    /// Fails with [`Expired`] in all threads of the block if blocks are missing.
    #[device(protocol = NAME)]
    pub fn sync(&mut self) -> Result<(), Expired> {
        // The release below then covers what all threads of the block wrote.
        thread::sync_threads();
        let expired = thread::is_first_in_block() && !self.cross();
        self.goal = self.goal.wrapping_add(ROUND);
        // Passes what the first thread acquired to the whole block.
        if thread::sync_threads_or(expired) { Err(Expired) } else { Ok(()) }
    }

    /// Arrives and waits. Returns whether all blocks have arrived. Called by one thread.
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

    /// Records which blocks are missing, unless another block does.
    fn give_up(&self) {
        let (words, count) = (self.words, self.members.count() as usize);
        let me = self.members.rank() + 1;
        if words.compare_exchange(GAVE_UP, 0, me, Ordering::Relaxed, Scope::Device) != 0 {
            return;
        }
        words.write(ROUND_GIVEN_UP, self.goal / ROUND);
        // If the last block arrives now, other blocks may already be at the next round.
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

/// The blocks that were missing when a bounded barrier gave up.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The round, counted from 1 since the words were 0, modulo 4096.
    pub round: u32,
    /// The rank of the block that gave up.
    pub given_up_by: u32,
    /// Number of blocks that take part.
    pub blocks: u32,
    /// The ranks of the blocks that had not arrived, in order. Empty if the last of them arrived
    /// just then; in that case the limit was too short.
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
        write!(f, ": {}", names(ranks))
    }
}

/// The ranks of the first blocks, and the number of the others.
#[cfg(not(target_arch = "nvptx64"))]
pub(super) fn names(blocks: &[u32]) -> String {
    let names: Vec<String> = blocks.iter().take(SHOWN).map(u32::to_string).collect();
    match blocks.len().saturating_sub(SHOWN) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// At most this many missing blocks are listed; the rest are only counted.
#[cfg(not(target_arch = "nvptx64"))]
const SHOWN: usize = 16;

#[cfg(not(target_arch = "nvptx64"))]
impl BoundedBarrier {
    /// Returns which blocks were missing, or `None` if no block gave up. `words` are those left by
    /// a launch, and `blocks` is the number of blocks that took part.
    ///
    /// # Panics
    /// If `words` is too short for `blocks` blocks.
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

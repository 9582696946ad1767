//! The bounded barrier across several GPUs: gives up after a time limit, and reports the missing
//! GPU and blocks.

use super::AcrossGpus;
use super::barrier::{NAME, arrival, has_sent};
use crate::grid::barrier::{Expired, Members};
use crate::grid::peers::{HEAD, MOST_GPUS, Peers};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;

/// The amount by which the counter grows in each round.
const ROUND: u64 = 1 << 32;

/// Indices of the words: the counter of this GPU's arrivals; the block that gave up, plus 1; the
/// round in which it did; the last round that each GPU has sent; for each block the round of its
/// last arrival.
const COUNTER: usize = HEAD;
const GAVE_UP: usize = COUNTER + 32;
const GIVEN_UP_ROUND: usize = GAVE_UP + 1;
const INBOX: usize = GAVE_UP + 32;
const ROSTER: usize = INBOX + MOST_GPUS;

/// A barrier to find out why kernels on several GPUs hang: its wait ends after a time limit, in
/// every block.
///
/// It is a [`SystemBarrier`](super::SystemBarrier) that gives up. Then every unfinished wait on
/// that GPU ends with [`Expired`], the others end by their own limits, the kernels return, and the
/// contexts survive. The host reads what was missing from the words of all GPUs
/// ([`missing`](Self::missing)). Make the words again before the next use. Each arrival needs one
/// store more, so use it in debug builds and tests of a kernel.
// Not `Copy`: each copy would count rounds separately.
#[derive(Debug)]
pub struct BoundedSystemBarrier {
    peers: Peers,
    limit_ns: u64,
    round: u32,
}

impl AcrossGpus for BoundedSystemBarrier {
    fn words(blocks: usize) -> usize {
        ROSTER + blocks
    }
}

impl BoundedSystemBarrier {
    /// Attaches to the barrier in `words`. Each wait ends after `limit_ns` nanoseconds.
    ///
    /// Called by every thread of every GPU, before its block first arrives.
    #[device(protocol = NAME)]
    pub fn attach(words: Global<u64>, limit_ns: u64) -> Self {
        let peers = Peers::of(words);
        join_barrier::<u64>(NAME, peers.words_of(0));
        // Other blocks may have arrived, but the round cannot end before this block arrives.
        let round = (words.load(COUNTER, Ordering::Relaxed, Scope::Device) / ROUND) as u32;
        Self { peers, limit_ns, round }
    }

    /// Arrives and waits. The accesses of any thread before it, on any GPU, are visible to every
    /// thread after it.
    ///
    /// Every thread of every block of every GPU calls it the same number of times, and not again
    /// after it has failed.
    ///
    /// # Errors
    /// Fails with [`Expired`] in all threads of the block if blocks are missing.
    #[device(protocol = NAME)]
    pub fn sync(&mut self) -> Result<(), Expired> {
        // The release below then covers what all threads of the block wrote.
        thread::sync_threads();
        self.round = self.round.wrapping_add(1);
        let expired = thread::is_first_in_block() && !self.cross();
        // Passes what the first thread acquired to the whole block.
        if thread::sync_threads_or(expired) { Err(Expired) } else { Ok(()) }
    }

    /// Arrives and waits. Returns whether all GPUs have sent the round. Called by one thread,
    /// unlike in the barrier without a limit: several lanes would time out by different clocks.
    #[device]
    fn cross(&self) -> bool {
        let (peers, round, words) = (self.peers, self.round, self.peers.words);
        let (me, arrival) = (ROSTER + thread::block_index(), arrival(Members::grid()));
        // Only the host reads this, after the launch.
        words.write(me, round.into());
        // Acquires for the last block, which passes on everything that the others have released.
        let before = words.fetch_add(COUNTER, arrival, Ordering::AcqRel, Scope::Device);
        if before.wrapping_add(arrival).is_multiple_of(ROUND) {
            for gpu in 0..peers.count {
                let to = INBOX + peers.own as usize;
                peers.words_of(gpu).store(to, round.into(), Ordering::Release, Scope::System);
            }
        }
        let has_come = |gpu| has_sent(words, INBOX + gpu as usize, round);
        let all_came = || (0..peers.count).all(has_come);
        let given_up = || words.load(GAVE_UP, Ordering::Relaxed, Scope::Device) != 0;
        if !spin::until_timeout(self.limit_ns, || all_came() || given_up()) {
            self.give_up();
        }
        all_came()
    }

    /// Records who gave up, unless another block of this GPU did. Called by one thread.
    #[device]
    fn give_up(&self) {
        let (words, me) = (self.peers.words, thread::block_index() as u64 + 1);
        let first = words.compare_exchange(GAVE_UP, 0, me, Ordering::Relaxed, Scope::Device);
        if first == 0 {
            words.write(GIVEN_UP_ROUND, self.round.into());
        }
    }
}

/// The GPUs and blocks that were missing when kernels on several GPUs gave up at a barrier.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemMissing {
    /// The round, counted from 1 since the words were made, modulo 2^32.
    pub round: u32,
    /// The GPU and the block that gave up first, where GPUs come in the order of their indices.
    pub given_up_by: (u32, u32),
    /// Number of blocks of each GPU.
    pub blocks: u32,
    /// The GPUs that have not sent the round, in order. Empty if the last of them did just then; in
    /// that case the limit was too short.
    pub gpus: Vec<Absent>,
}

/// A GPU whose blocks had not all arrived.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Absent {
    /// The index of the GPU.
    pub gpu: u32,
    /// The blocks that have not arrived, in order. Excludes those that arrived after the limit.
    pub blocks: Vec<u32>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl BoundedSystemBarrier {
    /// Returns what was missing, or `None` if no block gave up. `words` are those left by a launch
    /// on each GPU, and `blocks` is the number of blocks of each.
    ///
    /// # Panics
    /// If the words of a GPU are too few for `blocks` blocks.
    #[must_use]
    pub fn missing(words: &[Vec<u64>], blocks: u32) -> Option<SystemMissing> {
        let gave_up = |(gpu, words): (usize, &Vec<u64>)| {
            let block = words[GAVE_UP].checked_sub(1)?;
            Some((words[GIVEN_UP_ROUND] as u32, (gpu as u32, block as u32)))
        };
        let all = words.iter().enumerate();
        let (round, given_up_by) = all
            .clone()
            .filter_map(gave_up)
            .reduce(|a, b| if (b.0.wrapping_sub(a.0) as i32) < 0 { b } else { a })?;
        let lacks = |last: u64| ((last as u32).wrapping_sub(round) as i32) < 0;
        let absent = |(gpu, words): (usize, &Vec<u64>)| {
            let last = &words[ROSTER..ROSTER + blocks as usize];
            let blocks = (0..).zip(last).filter(|(_, last)| lacks(**last)).map(|(block, _)| block);
            Absent { gpu: gpu as u32, blocks: blocks.collect() }
        };
        let gpus = all.map(absent).filter(|absent| !absent.blocks.is_empty());
        Some(SystemMissing { round, given_up_by, blocks, gpus: gpus.collect() })
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl core::fmt::Display for SystemMissing {
    /// `round 3 of the barrier of all GPUs: block 5 of GPU 0 gave up, because of GPU 1: 2 of 132
    /// blocks had not arrived: 17, 90`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { round, given_up_by: (gpu, block), blocks, gpus } = self;
        write!(f, "round {round} of the barrier of all GPUs: block {block} of GPU {gpu} gave up")?;
        for Absent { gpu, blocks: missing } in gpus {
            write!(f, "; of GPU {gpu}, {} of {blocks} blocks had not arrived", missing.len())?;
            write!(f, ": {}", crate::grid::barrier::bounded::names(missing))?;
        }
        Ok(())
    }
}

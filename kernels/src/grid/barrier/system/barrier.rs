//! The barrier across all blocks of several GPUs.

use super::AcrossGpus;
use crate::grid::barrier::Members;
use crate::grid::peers::{HEAD, MOST_GPUS, Peers, all_lanes};
use cuda_std::prelude::*;
use cuda_std::protocol::join_barrier;
use cuda_std::warp::{WARP_SIZE, sync_warp, warp_vote_all, warp_vote_any};

/// The name in messages of the emulator.
pub(super) const NAME: &str = "the barrier of all GPUs";

/// The amount by which the counter grows in each round. Its upper half counts rounds, modulo 2^32.
const ROUND: u64 = 1 << 32;

/// Indices of the words: the counter of this GPU's arrivals; the last round that each GPU has sent.
/// Each on separate lines.
const COUNTER: usize = HEAD;
const INBOX: usize = COUNTER + 32;
pub(super) const END: usize = INBOX + MOST_GPUS;

/// A barrier across all blocks of all GPUs. It is never reset, and serves any number of rounds and
/// launches.
///
/// Memory accesses of any thread before [`arrive`](Self::arrive), on any GPU, are visible to every
/// thread of every GPU after [`wait`](Self::wait): the pair is a release and an acquire at system
/// scope. With one GPU it is a grid barrier.
///
/// The blocks of each GPU arrive at a counter of their GPU. The last one stores the number of the
/// round into the inboxes of all GPUs. Every block waits until its own inbox has the round of every
/// GPU. The `README.md` next to this file documents the accesses and their orders.
///
/// ```
/// use cuda_std::prelude::*;
/// use gridsync_kernels::grid::barrier::SystemBarrier;
///
/// /// Each GPU writes its part of `here`, and then reads the part of another one.
/// #[kernel(cooperative)]
/// pub unsafe fn pass_on(here: Global<f32>, there: Global<f32>, out: Global<f32>, words: Global<u64>) {
///     let mut barrier = SystemBarrier::attach(words);
///     let me = thread::index();
///     here.write(me, me as f32);
///     barrier.sync(); // all GPUs have written
///     out.write(me, there.read(me));
/// }
/// ```
// Not `Copy`: each copy would count rounds separately.
#[derive(Debug)]
pub struct SystemBarrier {
    peers: Peers,
    /// The last round. Valid in the first warp only.
    round: u32,
}

impl AcrossGpus for SystemBarrier {
    fn words(_blocks: usize) -> usize {
        END
    }
}

impl SystemBarrier {
    /// Attaches to the barrier in `words`.
    ///
    /// Called by every thread of every GPU, before its block first arrives. A block may attach
    /// again, except between arrive and wait, and then uses only the new barrier.
    #[device(protocol = NAME)]
    pub fn attach(words: Global<u64>) -> Self {
        let peers = Peers::of(words);
        join_barrier::<u64>(NAME, peers.words_of(0));
        // Other blocks may have arrived, but the round cannot end before this block arrives.
        let round = if thread::in_32_bits::index_in_block() < WARP_SIZE {
            (words.load(COUNTER, Ordering::Relaxed, Scope::Device) / ROUND) as u32
        } else {
            0
        };
        Self { peers, round }
    }

    /// Arrives. Waits for the threads of this block, but not for other blocks.
    ///
    /// Called by every thread of every block.
    #[device(protocol = NAME)]
    pub fn arrive(&mut self) {
        // The release below then covers what all threads of the block wrote.
        thread::sync_threads();
        if thread::in_32_bits::index_in_block() < WARP_SIZE {
            self.arrive_for_block();
        }
    }

    /// Arrives. Called by all lanes of the first warp.
    #[device]
    fn arrive_for_block(&self) {
        let words = self.peers.words;
        let is_last = thread::is_first_in_block() && {
            let arrival = arrival(Members::grid());
            // Acquires for the last block, which passes on everything that the others have
            // released.
            let before = words.fetch_add(COUNTER, arrival, Ordering::AcqRel, Scope::Device);
            before.wrapping_add(arrival).is_multiple_of(ROUND)
        };
        if warp_vote_any(all_lanes(), is_last) {
            // The vote orders nothing: this passes what the first lane acquired to all lanes that
            // send.
            sync_warp(all_lanes());
            let (at, round) = (INBOX + self.peers.own as usize, self.round.wrapping_add(1));
            self.peers
                .send(|words| words.store(at, round.into(), Ordering::Release, Scope::System));
        }
    }

    /// Waits until all blocks of all GPUs have arrived.
    ///
    /// Called by every thread of every block.
    #[device(protocol = NAME)]
    pub fn wait(&mut self) {
        if thread::in_32_bits::index_in_block() < WARP_SIZE {
            let (peers, goal) = (self.peers, self.round.wrapping_add(1));
            let has_come = |gpu| has_sent(peers.words, INBOX + gpu as usize, goal);
            spin::until(|| warp_vote_all(all_lanes(), peers.all(has_come)));
            self.round = goal;
        }
        // Passes what the first warp acquired to the whole block.
        thread::sync_threads();
    }

    /// Arrives and waits.
    #[device(protocol = NAME)]
    pub fn sync(&mut self) {
        self.arrive();
        self.wait();
    }
}

/// The amount that a block adds to the counter of its GPU: one, and the first block the rest of a
/// round.
#[device]
pub(super) fn arrival(members: Members) -> u64 {
    if members.rank() == 0 { ROUND - u64::from(members.count() - 1) } else { 1 }
}

/// Whether a GPU has sent this round to index `at`, or a later one: a fast GPU may be one ahead.
/// Acquires what that GPU has released.
#[device]
pub(super) fn has_sent(words: Global<u64>, at: usize, round: u32) -> bool {
    let now = words.load(at, Ordering::Acquire, Scope::System) as u32;
    now.wrapping_sub(round) as i32 >= 0
}

//! The exchange of values between all blocks of several GPUs.

use super::AcrossGpus;
use crate::block::Slots;
use crate::grid::barrier::exchange::AnyBits;
use crate::grid::barrier::{Exchange, Prefix};
use crate::grid::peers::{HEAD, MOST_GPUS, Peers};
use crate::op::{And, Carried, Operation, Or, Sum, for_each_word, words_of};
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_vote_all};

/// The name in messages of the emulator.
const NAME: &str = "the exchange of all GPUs";

/// The most words of a value.
const WORDS: usize = 4;

/// Words of the inbox for one crossing: those of the values of all GPUs.
const CROSSING: usize = WORDS * MOST_GPUS;

/// Indices of the words: the inbox, for even crossings and for odd ones; the exchange of this GPU.
const INBOX: usize = HEAD;
const OF_GPU: usize = INBOX + 2 * CROSSING;

shared_array! {
    /// The results of an exchange: of all GPUs, and of the earlier ones.
    fn gridsync_system_exchange() -> [u32; 2 * WORDS];
}

/// A barrier across all blocks of all GPUs to which each block contributes a value and from which
/// it gets all values combined.
///
/// Blocks are ordered by GPU, and then by their index. Each method is one crossing: no block of any
/// GPU leaves before all have arrived. Only the values are carried. Other memory accesses are *not*
/// made visible: use the [`SystemBarrier`](super::SystemBarrier) for that.
///
/// The order of combining depends only on the numbers of GPUs and blocks, so floating-point sums
/// have the same bits in every block and every run. Operations need not commute.
///
/// First the blocks of each GPU exchange their values ([`Exchange`]). Then the first block sends
/// the combined value into the inboxes of all GPUs, as words that carry the number of the crossing,
/// and every block combines the values in its own inbox.
///
/// ```
/// use cuda_std::prelude::*;
/// use gridsync_kernels::block;
/// use gridsync_kernels::grid::barrier::SystemExchange;
/// use gridsync_kernels::op::Sum;
///
/// /// The sum of the values of all GPUs, for every thread.
/// #[kernel(cooperative)]
/// pub unsafe fn sum(values: Global<f32>, sums: Global<f32>, words: Global<u64>) {
///     let mut exchange = SystemExchange::attach(words);
///     let of_block = block::reduce(Sum::<f32>::new(), values.read(thread::index()));
///     let all = exchange.all_reduce(Sum::<f32>::new(), of_block);
///     sums.write(thread::index(), all);
/// }
/// ```
// Not `Copy`: each copy would count crossings separately.
#[derive(Debug)]
pub struct SystemExchange {
    peers: Peers,
    of_gpu: Exchange,
}

// As in `Exchange`: a higher word of a value counts as new at crossing 2^32 if all values before
// had fewer words.
impl AcrossGpus for SystemExchange {
    fn words(blocks: usize) -> usize {
        OF_GPU + Exchange::words(blocks)
    }
}

impl SystemExchange {
    /// Attaches to the exchange in `words`.
    ///
    /// Called by every thread of every GPU, before its block first crosses. It has a block barrier.
    /// Blocks are a multiple of 32 threads, at most 8192 of them on a GPU. A block uses one such
    /// exchange at a time, and at the same time no exchange of its GPU with the number 0
    /// ([`Exchange::attach_nth`]).
    #[device(protocol = NAME)]
    pub fn attach(words: Global<u64>) -> Self {
        let of_gpu = Exchange::attach(words.part(OF_GPU, words.len() - OF_GPU));
        Self { peers: Peers::of(words), of_gpu }
    }

    /// Combines one value per block with `op`, in the order of GPUs and blocks, and returns the
    /// result to every thread of every block.
    ///
    /// Called by every thread of every block. Only the `value` of the block's first thread counts.
    /// It has two block barriers.
    #[device(protocol = NAME)]
    pub fn all_reduce<O: Operation>(&mut self, op: O, value: O::Accumulator) -> O::Accumulator {
        let of_gpu = self.of_gpu.all_reduce(op, value);
        self.across::<O, false>(op, of_gpu).all
    }

    /// Like [`all_reduce`](Self::all_reduce), and also returns the combined values of the blocks
    /// before: those of the GPUs before, and those of this GPU with lower indices.
    #[device(protocol = NAME)]
    pub fn scan<O: Operation>(&mut self, op: O, value: O::Accumulator) -> Prefix<O::Accumulator> {
        let of_gpu = self.of_gpu.scan(op, value);
        let gpus = self.across::<O, true>(op, of_gpu.all);
        Prefix { before: op.combine(gpus.before, of_gpu.before), all: gpus.all }
    }

    /// Returns the value of block `root` of GPU `gpu` to every thread of every block.
    ///
    /// Called like [`all_reduce`](Self::all_reduce). It is a crossing, so `root` waits too.
    #[device(protocol = NAME)]
    pub fn broadcast<T: Carried>(&mut self, gpu: u32, root: u32, value: T) -> T {
        let is_root = self.peers.own == gpu && thread::block_index() == root as usize;
        AnyBits::value(self.all_reduce(AnyBits::<T>::new(), AnyBits::of(is_root, value)))
    }

    /// Whether `vote` holds in any thread of any GPU.
    ///
    /// Called by every thread of every block. It has three block barriers.
    #[device(protocol = NAME)]
    pub fn any(&mut self, vote: bool) -> bool {
        let vote = thread::sync_threads_or(vote);
        self.all_reduce(Or::<u32>::new(), vote.into()) != 0
    }

    /// Whether `vote` holds in all threads of all GPUs.
    ///
    /// Called by every thread of every block. It has three block barriers.
    #[device(protocol = NAME)]
    pub fn all(&mut self, vote: bool) -> bool {
        let vote = thread::sync_threads_and(vote);
        self.all_reduce(And::<u32>::new(), vote.into()) != 0
    }

    /// The number of threads of all GPUs for which `vote` holds.
    ///
    /// Called by every thread of every block. It has three block barriers.
    #[device(protocol = NAME)]
    pub fn count(&mut self, vote: bool) -> u64 {
        let votes = thread::sync_threads_count(vote);
        self.all_reduce(Sum::<u64>::new(), votes.into())
    }

    /// Combines the combined values of the GPUs; if `PREFIX`, also those of the GPUs before. Every
    /// thread passes the value of its GPU, and gets the result.
    #[device]
    fn across<O: Operation, const PREFIX: bool>(
        &self,
        op: O,
        of_gpu: O::Accumulator,
    ) -> Prefix<O::Accumulator> {
        let results = Slots::<WORDS>::new(gridsync_system_exchange());
        if thread::in_32_bits::index_in_block() < WARP_SIZE {
            // A GPU may be one crossing ahead, never two: see the README.
            let crossing = self.of_gpu.crossing();
            let inbox = INBOX + (crossing % 2) as usize * CROSSING;
            if thread::block_index() == 0 {
                send(self.peers, inbox, crossing as u32, of_gpu);
            }
            let value = receive(self.peers, inbox, crossing as u32, op.identity());
            let before = match PREFIX && lane_id() < self.peers.own {
                true => value,
                false => op.identity(),
            };
            let all = warp::reduce(op, value);
            let before = if PREFIX { warp::reduce(op, before) } else { before };
            if lane_id() == 0 {
                results.write(0, all);
                results.write(1, before);
            }
        }
        // The next results are written after the next block barrier, in the exchange of the GPU. So
        // one slot is enough.
        thread::sync_threads();
        let before = if PREFIX { results.read(1) } else { op.identity() };
        Prefix { before, all: results.read(0) }
    }
}

/// Sends the value of this GPU to all inboxes. Called by all lanes of a warp.
#[device]
fn send<T: Carried>(peers: Peers, inbox: usize, crossing: u32, value: T) {
    let first = inbox + peers.own as usize;
    peers.send(|words| {
        for_each_word(value, |i, word| {
            let word = u64::from(crossing) << 32 | u64::from(word);
            // Relaxed: the word publishes only itself.
            words.store(first + i * MOST_GPUS, word, Ordering::Relaxed, Scope::System);
        });
    });
}

/// Waits for the value of each GPU. Called by all lanes of a warp: the lane with the index of a GPU
/// gets the value of that GPU, and the others get `otherwise`.
#[device]
fn receive<T: Carried>(peers: Peers, inbox: usize, crossing: u32, otherwise: T) -> T {
    // No lane spins before the first ones have sent.
    sync_warp(FULL_MASK);
    let (lane, count) = (lane_id(), peers.count);
    let look = |i: usize| match i < T::WORDS && lane < count {
        true => {
            let at = inbox + lane as usize + i * MOST_GPUS;
            peers.words.load(at, Ordering::Relaxed, Scope::System)
        }
        false => u64::from(crossing) << 32,
    };
    let mut looked = [0; WORDS];
    spin::until(|| {
        looked = [look(0), look(1), look(2), look(3)];
        let [a, b, c, d] = looked.map(|word| (word >> 32) as u32 == crossing);
        warp_vote_all(FULL_MASK, a & b & c & d)
    });
    match lane < count {
        true => T::from_words(words_of(looked.map(|word| word as u32))),
        false => otherwise,
    }
}

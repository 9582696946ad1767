//! The barrier that carries data: every block contributes a value, and gets all values combined.
//!
//! With a store, a barrier and loads, a block sends its value to the L2, waits until it has arrived
//! there, announces it, waits for the other announcements, and loads the other values. Here the
//! value is its own announcement: each 32-bit word of it travels in one 64-bit word with the number
//! of the crossing, so a reader that sees the number sees the value. This needs no fence, no reset,
//! and one trip through the L2 instead of three. (NCCL's LL protocol and CUB's look-back also put a
//! flag into the word of the data.)

mod arrival;
mod collectives;
mod row;
mod threads;

pub use crate::block::Prefix;
pub use arrival::Arrival;
pub(super) use collectives::AnyBits;
pub use collectives::Gathered;

use super::{Members, STRIDE};
use crate::block::Slots;
use crate::op::Operation;
use cuda_std::prelude::*;
use cuda_std::time::clock;

/// Up to this many members, each reads the words of all others. More cross in two steps.
// In a prototype on an H200, 264 blocks took 1.08 µs in one step and 1.12 in two; 528 took 2.35 and
// 1.40.
const DIRECT: u32 = row::LONGEST;

/// The number of members in a group of the two steps.
const GROUP: u32 = 32;

/// Exchanges that a block can use at the same time.
const AT_ONCE: usize = 4;

/// Words of shared memory for the results of an exchange.
const RESULTS: usize = 16;

shared_array! {
    /// For each exchange its results, from the first warp to the threads of its block. Odd and even
    /// crossings have two slots each, so the next crossing does not overwrite a result that a
    /// thread is still reading.
    fn gridsync_exchange() -> [u32; AT_ONCE * RESULTS];
}

/// A barrier to which each block contributes a value and from which it gets all values combined.
///
/// | result | for each | method |
/// |---|---|---|
/// | all values combined | block | [`all_reduce`](Self::all_reduce) |
/// | also the combined values of the blocks before | block | [`scan`](Self::scan) |
/// | the value of one block | block | [`broadcast`](Self::broadcast) |
/// | the values of all blocks | block | [`gather`](Self::gather) |
/// | whether any vote is true, or all are; the number of true votes | thread | [`any`](Self::any), [`all`](Self::all), [`count`](Self::count) |
/// | all values combined, and those of the threads before | thread | [`scan_threads`](Self::scan_threads) |
/// | work between arrive and wait | block | [`arrive`](Self::arrive) |
///
/// Each operation is one crossing. No block leaves before all have arrived. But only the values are
/// carried: other memory accesses of the blocks are *not* made visible. Use the
/// [barriers](super::Barrier) for that.
///
/// The order of combining depends only on the number of blocks, so floating-point sums have the
/// same bits in every block and every run. Operations need not commute: the values are then
/// combined in the order of the ranks.
///
/// A kernel uses a barrier to share memory, and an exchange to share one value per block:
///
/// ```
/// use cuda_std::prelude::*;
/// use gridsync_kernels::block;
/// use gridsync_kernels::grid::barrier::{Barrier, Exchange, GridBarrier};
/// use gridsync_kernels::op::Max;
///
/// /// Smooths a ring of values, one for each thread, until none changes much.
/// #[kernel(cooperative)]
/// pub unsafe fn smooth(values: Global<f32>, barrier: Global<u32>, words: Global<u64>) {
///     let mut barrier = GridBarrier::attach(barrier);
///     let mut exchange = Exchange::attach(words);
///     let me = thread::index();
///     loop {
///         let (old, next) = (values.read(me), values.read((me + 1) % values.len()));
///         barrier.sync(); // all have read
///         let new = 0.5 * (old + next);
///         values.write(me, new);
///         let of_block = block::reduce(Max::<f32>::new(), (new - old).abs());
///         let greatest = exchange.arrive(Max::<f32>::new(), of_block);
///         barrier.sync(); // all have written
///         if greatest.wait() < 1e-3 {
///             break;
///         }
///     }
/// }
/// ```
///
/// In the examples of the methods, the grid has 3 blocks of 64 threads.
// Not `Copy`: each copy would count crossings separately.
#[derive(Debug)]
pub struct Exchange {
    words: Global<u64>,
    members: Members,
    /// The number of the last crossing.
    crossing: u64,
    /// The index of this exchange among those of the block.
    nth: usize,
}

/// The name of the exchange in messages of the emulator.
const NAME: &str = "the exchange";

/// Indices of the number of member 0's last crossing, and of the first of the members' words. At
/// the end are the numbers of the last crossings of the other members.
const CROSSING: usize = 0;
const MEMBER_WORDS: usize = STRIDE / 2;

/// The index of the number of the last crossing that member `rank` was part of. Member 0 is part of
/// every crossing.
#[inline(always)]
fn last_crossing(words: Global<u64>, rank: u32) -> usize {
    match rank {
        0 => CROSSING,
        rank => words.len() - rank as usize,
    }
}

/// The distance in words between two rows of groups' words: a whole number of lines.
const fn row_stride(groups: usize) -> usize {
    groups.next_multiple_of(16)
}

impl Exchange {
    /// The number of words of device memory for an exchange of up to `blocks` blocks.
    ///
    /// They are 0 before the first use, and only one launch, of up to `blocks` blocks, may use them
    /// at a time. A word that was not written for exactly 2^32 crossings in a row would count as
    /// new: the word of a member that did not take part, or a higher word if all values in between
    /// had fewer words. Any other use is safe from wrap-around.
    #[must_use]
    pub const fn words(blocks: usize) -> usize {
        let rows = GROUP as usize * row_stride(blocks.div_ceil(GROUP as usize));
        MEMBER_WORDS + 8 * (blocks + rows) + blocks
    }

    /// Attaches to the exchange of the whole grid in `words`.
    ///
    /// Called by every thread of the grid, before its block first crosses. It has two block
    /// barriers. Blocks are a multiple of 32 threads, and the grid has at most 8192 of them. A
    /// block may attach again later in the launch, and then uses only the new exchange. To use
    /// several at the same time, see [`attach_nth`](Self::attach_nth).
    #[device]
    pub fn attach(words: Global<u64>) -> Self {
        Self::attach_among(words, Members::grid())
    }

    /// Like [`attach`](Self::attach), for the exchange of `members`.
    #[device]
    pub fn attach_among(words: Global<u64>, members: Members) -> Self {
        Self::attach_nth::<0>(words, members)
    }

    /// Like [`attach_among`](Self::attach_among), for a block that uses up to four exchanges at the
    /// same time. Each has separate words, and a different number `NTH` below 4, because they pass
    /// their results through shared memory. The other constructors use number 0.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, other_words| {
    /// let mut other = Exchange::attach_nth::<1>(other_words, Members::grid());
    /// let greatest = exchange.arrive(Max::<f32>::new(), thread::block_index() as f32);
    /// let blocks = other.all_reduce(Sum::<u32>::new(), 1);
    /// assert_eq!((greatest.wait(), blocks), (2.0, 3));
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn attach_nth<const NTH: usize>(words: Global<u64>, members: Members) -> Self {
        const { assert!(NTH < AT_ONCE, "a block uses four exchanges at once, at most") };
        // A crossing in this launch has ended with a block barrier. So every thread sees the number
        // that the block has recorded.
        let look = |rank| words.load(last_crossing(words, rank), Ordering::Relaxed, Scope::Device);
        // Member 0 is part of every crossing, so it has the last number. Its writes in earlier
        // launches are visible, those in this launch may not be. But this block sees its own
        // number, and no crossing completes without this block.
        let crossing = look(0).max(look(members.rank()));
        // A crossing can complete once the first warp has sent. All threads must read the numbers
        // before that.
        thread::sync_threads();
        Self { words, members, crossing, nth: NTH }
    }

    /// Combines one value per block with `op`, in the order of the blocks, and returns the result
    /// to every thread of every block.
    ///
    /// Called by every thread of each block that takes part. Only the `value` of the block's first
    /// thread counts. It has one block barrier inside, but none at its start.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// // The values within each block are combined first.
    /// let of_block = gridsync_kernels::block::reduce(Max::<f32>::new(), thread::index() as f32);
    /// let greatest = exchange.all_reduce(Max::<f32>::new(), of_block);
    /// assert_eq!(greatest, 191.0);
    ///
    /// // The maps x ← 2·x + block do not commute. That of block 0 comes first.
    /// let (op, block) = (Compose::new(), thread::block_index() as u64);
    /// let all = exchange.all_reduce(op, op.lift(block << 32 | 2, 0));
    /// assert_eq!((all.factor, all.summand), (8, 4));
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn all_reduce<O: Operation>(&mut self, op: O, value: O::Accumulator) -> O::Accumulator {
        self.arrive(op, value).wait()
    }

    /// Sends the value of this block without waiting. The block may do other work before it
    /// [waits](Arrival::wait) for the others, also with its other exchanges.
    ///
    /// Called by every thread of each block that takes part. Only the `value` of the block's first
    /// thread counts. It has no block barrier.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// let arrival = exchange.arrive(Sum::<u64>::new(), thread::block_index() as u64);
    /// let own_work: u32 = (0..100).sum();
    /// assert_eq!((arrival.wait(), own_work), (0 + 1 + 2, 4950));
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn arrive<O: Operation>(&mut self, op: O, value: O::Accumulator) -> Arrival<'_, O> {
        self.crossing += 1;
        let began = clock();
        if thread::is_first_in_block() {
            // In one step and in two, the row with one value per member comes first.
            self.row(0, self.members.count() as usize).send(self.members.rank() as usize, value);
        }
        Arrival { exchange: self, op, began }
    }

    /// The number of the last crossing.
    #[inline(always)]
    pub(super) fn crossing(&self) -> u64 {
        self.crossing
    }

    /// The shared memory for the results of this exchange: two slots for even crossings, then two
    /// for odd ones.
    #[device]
    fn results(&self) -> Slots {
        Slots::<4>::new(gridsync_exchange().part(RESULTS * self.nth, RESULTS))
    }

    /// Records the number of this crossing for the next time that this block attaches. Called by
    /// one lane.
    #[device]
    fn has_crossed(&self) {
        let last = last_crossing(self.words, self.members.rank());
        self.words.store(last, self.crossing, Ordering::Relaxed, Scope::Device);
    }
}

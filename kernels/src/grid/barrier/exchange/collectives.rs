//! Collectives of one crossing each: scan, broadcast, gather, votes.

use super::row::Row;
use super::{Exchange, NAME, Prefix};
use crate::op::{And, Carried, Operation, Or, Sum, Words, from_each_word, words_of};
use core::marker::PhantomData;
use cuda_std::prelude::*;

impl Exchange {
    /// Combines one value per block with `op`, in the order of the blocks. Every thread gets the
    /// combined values of the blocks before its own, and those of all blocks.
    ///
    /// Called like [`all_reduce`](Self::all_reduce). If the value is the number of elements that
    /// each block keeps, `before` is the index at which the block writes them, and `all` is the
    /// number of all of them:
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// let kept_by_this_block = 10 * thread::block_index() as u32;
    /// let kept = exchange.scan(Sum::<u32>::new(), kept_by_this_block);
    /// let before = [0, 0, 10][thread::block_index()];
    /// assert_eq!((kept.before, kept.all), (before, 30));
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn scan<O: Operation>(&mut self, op: O, value: O::Accumulator) -> Prefix<O::Accumulator> {
        self.arrive(op, value).wait_prefix()
    }

    /// Returns the value of the member of rank `root` to every thread of every block.
    ///
    /// Called like [`all_reduce`](Self::all_reduce). It is a crossing, so `root` waits too.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// let said = exchange.broadcast(1, thread::block_index() as f32);
    /// assert_eq!(said, 1.0);
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn broadcast<T: Carried>(&mut self, root: u32, value: T) -> T {
        let is_root = self.members.rank() == root;
        AnyBits::value(self.all_reduce(AnyBits::<T>::new(), AnyBits::of(is_root, value)))
    }

    /// Lets every block read the values of all blocks: calls `read` with them, in every thread.
    ///
    /// Called like [`all_reduce`](Self::all_reduce). It has another block barrier at the end,
    /// because the next crossing but one overwrites the values. `read` must not use this exchange
    /// and need not read all values. A ballot is a gathered `u32`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// let square = (thread::block_index() * thread::block_index()) as u32;
    /// let squares = exchange.gather(square, |squares| {
    ///     (0..squares.count()).map(|rank| squares.of(rank)).sum::<u32>()
    /// });
    /// assert_eq!(squares, 0 + 1 + 4);
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn gather<T: Carried, R>(&mut self, value: T, read: impl FnOnce(Gathered<T>) -> R) -> R {
        self.all_reduce(AnyBits::<T>::new(), Bits::of(value.to_words()));
        let count = self.members.count();
        let row = self.row(0, count as usize);
        let result = read(Gathered { row, count, values: PhantomData });
        thread::sync_threads();
        result
    }

    /// Whether `vote` holds in any thread of any block.
    ///
    /// Called by every thread of each block that takes part. It has two block barriers.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// // One thread of the grid has found something. All threads stop.
    /// let has_found = thread::index() == 100;
    /// assert!(exchange.any(has_found));
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn any(&mut self, vote: bool) -> bool {
        let vote = thread::sync_threads_or(vote);
        self.all_reduce(Or::<u32>::new(), vote.into()) != 0
    }

    /// Whether `vote` holds in all threads of all blocks.
    ///
    /// Called by every thread of each block that takes part. It has two block barriers. An
    /// iterative solver continues until all agree:
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// let (mut change, mut steps) = (1.0 + thread::index() as f32, 0);
    /// while !exchange.all(change < 0.5) {
    ///     change *= 0.5;
    ///     steps += 1;
    /// }
    /// // The last thread began with 192.
    /// assert_eq!(steps, 9);
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn all(&mut self, vote: bool) -> bool {
        let vote = thread::sync_threads_and(vote);
        self.all_reduce(And::<u32>::new(), vote.into()) != 0
    }

    /// The number of threads of all blocks for which `vote` holds.
    ///
    /// Called by every thread of each block that takes part. It has two block barriers.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/exchange.rs"));
    /// # fn main() { in_a_grid(|exchange, _| {
    /// let is_even = thread::index() % 2 == 0;
    /// assert_eq!(exchange.count(is_even), 96);
    /// # }) }
    /// ```
    #[device(protocol = NAME)]
    pub fn count(&mut self, vote: bool) -> u32 {
        let votes = thread::sync_threads_count(vote);
        self.all_reduce(Sum::<u32>::new(), votes)
    }
}

/// The values that [`Exchange::gather`] has gathered, by the ranks of the blocks.
pub struct Gathered<T> {
    row: Row,
    count: u32,
    values: PhantomData<fn() -> T>,
}

impl<T: Carried> Gathered<T> {
    /// The number of values.
    #[device]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The value of the block with this rank, or of the last block if the rank is too high.
    ///
    /// Any thread may call this, any number of times. It loads the value from the L2.
    #[device]
    pub fn of(&self, rank: u32) -> T {
        // The first warp has seen the value. This thread's first poll may miss it, because a
        // relaxed load orders nothing for other threads.
        self.row.wait_for(rank.min(self.count - 1) as usize)
    }
}

/// As many words as a `T` has. Unlike those of a `T`, any combination of them is valid.
#[derive(Clone, Copy)]
pub(in crate::grid::barrier) struct Bits<T> {
    words: Words,
    value: PhantomData<fn() -> T>,
}

impl<T> Bits<T> {
    #[inline(always)]
    fn of(words: Words) -> Self {
        Self { words, value: PhantomData }
    }
}

// SAFETY: it has the same number of words as `T`, and any words are valid.
unsafe impl<T: Carried> Carried for Bits<T> {
    const WORDS: usize = T::WORDS;

    #[inline(always)]
    fn to_words(self) -> Words {
        self.words
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        Self::of(words)
    }
}

/// The bits that are set in any value.
#[derive(Clone, Copy)]
pub(in crate::grid::barrier) struct AnyBits<T>(PhantomData<fn() -> T>);

impl<T> AnyBits<T> {
    #[inline(always)]
    pub(in crate::grid::barrier) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Carried> AnyBits<T> {
    /// A block's contribution to a broadcast: the value of the root, and zeros from the others.
    #[inline(always)]
    pub(in crate::grid::barrier) fn of(is_root: bool, value: T) -> Bits<T> {
        Bits::of(if is_root { value.to_words() } else { words_of([]) })
    }

    /// The value of the root, from the combined contributions of all blocks.
    #[inline(always)]
    pub(in crate::grid::barrier) fn value(all: Bits<T>) -> T {
        T::from_words(all.words)
    }
}

impl<T: Carried> Operation for AnyBits<T> {
    type Element = u32;
    type Accumulator = Bits<T>;
    type Output = ();
    const COMMUTATIVE: bool = true;
    const EXACT: bool = true;

    #[inline(always)]
    fn identity(self) -> Bits<T> {
        Bits::of(words_of([]))
    }

    #[inline(always)]
    fn lift(self, element: u32, _index: u64) -> Bits<T> {
        Bits::of(words_of([element]))
    }

    #[inline(always)]
    fn combine(self, a: Bits<T>, b: Bits<T>) -> Bits<T> {
        from_each_word(|word| a.words[word] | b.words[word])
    }

    #[inline(always)]
    fn finish(self, _all: Bits<T>) {}
}

//! The counts of all digits of all keys, and the plan of the passes.

use super::order::{Order, Word};
use super::state::{PASSES, State, passes};
use crate::block::ThreadPosition;
use crate::block::ranks::DIGITS;
use crate::grid::overlap;
use crate::op::Sum;
use crate::warp;
use cuda_std::memory::{Pack, Scalar, dynamic_shared};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_vote_any};

/// Threads of a block.
pub const COUNT_THREADS: u32 = 1024;

/// Bytes of the counters of a block: on compute capability 9.0, and otherwise.
const BYTES: [usize; 2] = [128 << 10, 32 << 10];

/// Counters of a digit, for keys of `word` bytes. With one for each lane no two lanes use the same
/// bank.
const fn columns(word: usize, is_90: bool) -> usize {
    let columns = BYTES[if is_90 { 0 } else { 1 }] / (word * DIGITS * 4);
    if columns < WARP_SIZE as usize { columns } else { WARP_SIZE as usize }
}

/// Bytes of dynamic shared memory of [`count`] and [`count_rows`] for keys of `word` bytes. `is_90`
/// says that the kernel's image is for compute capability 9.0.
#[must_use]
pub const fn count_shared_bytes(word: usize, is_90: bool) -> u32 {
    (word * DIGITS * columns(word, is_90) * 4) as u32
}

/// What the sort has to write.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The number of portions of the array, or of rows.
    pub portions: u32,
    /// Bit 0: the output is the input. Bit 1: the output has to be written even if all keys are
    /// equal.
    pub flags: u32,
    /// The number of keys, if only the first ones of an array are sorted; else empty.
    pub count: Global<u64>,
}

// SAFETY: `repr(C)` of two numbers and a view.
unsafe impl cuda_std::launch::KernelArg for Task {}

/// `len`, or the number in `count`, if there is one, which is smaller.
#[inline(always)]
pub(super) fn counted(len: usize, count: Global<u64>) -> usize {
    if count.is_empty() { len } else { len.min(count.read(0) as usize) }
}

shared_array! {
    /// Whether the block is the last.
    fn gridsync_sort_last() -> [u32; 1];
}

shared_array! {
    /// For each pass, a bit: whether keys have different digits.
    fn gridsync_sort_varied() -> [u32; 1];
}

/// Counts the digits of `input` for all passes, plans these, and zeroes the first half of `rows`.
///
/// Called by every thread of a grid of [`COUNT_THREADS`] along x, of any number of blocks, with
/// [`count_shared_bytes`] of dynamic shared memory.
#[device(protocol = "the sort")]
pub fn count<O: Order>(
    order: O,
    input: Global<O::Word>,
    state: State,
    rows: Global<u32>,
    task: Task,
) {
    const { assert!(COUNT_THREADS as usize / DIGITS >= 4) };
    let at = ThreadPosition::here();
    let (thread, threads) = (at.thread as usize, COUNT_THREADS as usize);
    let counters = Columns::<O>::new(order, at.lane);
    counters.zero(thread);
    thread::sync_threads();
    overlap::begin();

    let input = input.part(0, counted(input.len(), task.count));
    let block = thread::block_idx_x() as usize;
    let (first, step) = (block * threads + thread, thread::grid_dim_x() as usize * threads);
    each_key(input, first, step, block == 0, |key| counters.add(key));
    zero_half(rows, first, step);
    thread::sync_threads();

    counters.each_sum(thread, |digit, sum| {
        if sum != 0 {
            state.counts.add(digit, sum.into(), Ordering::Relaxed, Scope::Device);
        }
    });
    thread::sync_threads();
    if thread == 0 {
        let is_last = state.counted_last(thread::grid_dim_x());
        gridsync_sort_last().write(0, is_last.into());
        gridsync_sort_varied().write(0, 0);
    }
    thread::sync_threads();
    if gridsync_sort_last().read(0) != 0 {
        let (passes, pass) = (passes(size_of::<O::Word>()) as u32, at.warp);
        if pass < passes {
            let len = input.len() as u64;
            let is_counted = pass < O::Word::DIGITS;
            let word = |digit: usize| pass as usize * DIGITS + digit;
            let count = |digit: usize| {
                if is_counted { state.counts.read(word(digit)) } else { of_no_digit(digit, len) }
            };
            starts(order, pass, len, count, |digit, start| {
                let portions = task.portions as usize;
                state.start(portions, pass, 0, digit, start);
                for portion in 1..portions {
                    state.starts_later(portions, pass, portion, digit);
                }
                if is_counted {
                    state.counts.write(word(digit), 0);
                }
            });
        }
        thread::sync_threads();
        if thread == 0 {
            state.plan(passes, gridsync_sort_varied().read(0), task.flags);
        }
    }
}

/// Like [`count`], but each row of `row_len` keys, less than 2^32, is sorted separately, and is a
/// portion. `task.portions` is the number of rows, which make up `input`, unless there are `bounds`:
/// for each row the index of its first key, and the number of its keys.
///
/// Called like [`count`]; each block counts whole rows.
#[device(protocol = "the sort")]
pub fn count_rows<O: Order>(
    order: O,
    input: Global<O::Word>,
    state: State,
    rows: Global<u32>,
    task: Task,
    row_len: u64,
    bounds: Global<u64>,
) {
    let at = ThreadPosition::here();
    let (thread, threads) = (at.thread as usize, COUNT_THREADS as usize);
    let counters = Columns::<O>::new(order, at.lane);
    overlap::begin();
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    zero_half(rows, block * threads + thread, blocks * threads);
    if thread == 0 {
        gridsync_sort_varied().write(0, 0);
    }

    let (passes, pass) = (passes(size_of::<O::Word>()) as u32, at.warp);
    let portions = task.portions as usize;
    let mut row = block;
    while row < portions {
        counters.zero(thread);
        thread::sync_threads();
        let (first, row_len) = if bounds.is_empty() {
            (row as u64 * row_len, row_len)
        } else {
            (bounds.read(2 * row), bounds.read(2 * row + 1))
        };
        let keys = input.part(first as usize, row_len as usize);
        each_key(keys, thread, threads, true, |key| counters.add(key));
        thread::sync_threads();
        // Its counters are only read by the thread that writes the sum to one of them.
        counters.each_sum(thread, |digit, sum| counters.keep(digit, sum));
        thread::sync_threads();
        if pass < passes {
            let count = |digit: usize| {
                if pass < O::Word::DIGITS {
                    counters.kept(pass as usize * DIGITS + digit).into()
                } else {
                    of_no_digit(digit, row_len)
                }
            };
            starts(order, pass, row_len, count, |digit, start| {
                state.start(portions, pass, row, digit, first + start);
            });
        }
        thread::sync_threads();
        row += blocks;
    }
    if thread == 0 {
        state.vary(gridsync_sort_varied().read(0));
        if state.counted_last(blocks as u32) {
            let varied = state.varied();
            state.plan(passes, varied, task.flags);
        }
    }
}

/// The counters of a block in dynamic shared memory: some for each digit of each pass.
#[derive(Clone, Copy)]
struct Columns<O> {
    order: O,
    counters: Shared<u32>,
    columns: usize,
    /// The one that this lane uses.
    column: usize,
}

impl<O: Order> Columns<O> {
    /// Their number, for all columns together.
    const DIGITS: usize = O::Word::DIGITS as usize * DIGITS;

    #[inline(always)]
    fn new(order: O, lane: u32) -> Self {
        let columns = columns(size_of::<O::Word>(), cfg!(compute_ge_90));
        let counters = dynamic_shared::<u32>().part(0, Self::DIGITS * columns);
        Self { order, counters, columns, column: lane as usize % columns }
    }

    /// Zeroes them. Called by all threads of the block.
    #[inline(always)]
    fn zero(self, thread: usize) {
        let mut place = 4 * thread;
        while place < self.counters.len() {
            self.counters.write_pack(place, [0; 4], CacheHint::Default);
            place += 4 * COUNT_THREADS as usize;
        }
    }

    /// Counts the digits of a key.
    #[inline(always)]
    fn add(self, key: O::Word) {
        let bits = self.order.bits(key);
        for pass in 0..O::Word::DIGITS {
            let digit = pass as usize * DIGITS + bits.digit(pass) as usize;
            let place = digit * self.columns + self.column;
            self.counters.add(place, 1, Ordering::Relaxed, Scope::Block);
        }
    }

    /// Calls `each` with each digit and its count, on some thread. Called by all threads of the
    /// block.
    #[inline(always)]
    fn each_sum(self, thread: usize, each: impl Fn(usize, u32)) {
        // Each lane starts at its own column, so that no two use the same bank.
        let mut digit = thread;
        while digit < Self::DIGITS {
            let mut sum = 0;
            for offset in 0..self.columns {
                let column = (self.column + offset) % self.columns;
                sum += self.counters.read(digit * self.columns + column);
            }
            each(digit, sum);
            digit += COUNT_THREADS as usize;
        }
    }

    /// Stores the count of a digit in one of its counters.
    #[inline(always)]
    fn keep(self, digit: usize, sum: u32) {
        self.counters.write(digit * self.columns + digit % self.columns, sum);
    }

    /// The count that was stored there.
    #[inline(always)]
    fn kept(self, digit: usize) -> u32 {
        self.counters.read(digit * self.columns + digit % self.columns)
    }
}

/// Zeroes the first half of the rows: packs of four from pack `first`, `step` apart.
#[inline(always)]
fn zero_half(rows: Global<u32>, first: usize, step: usize) {
    let zeroed = rows.part(0, rows.len() / 2);
    let mut place = 4 * first;
    while place < zeroed.len() {
        zeroed.write_pack(place, [0; 4], CacheHint::Default);
        place += 4 * step;
    }
}

/// Calls `add` with each key of `input` in one thread: by packs of 16 bytes `step` apart from pack
/// `first`, two in flight. One block also takes the `rest` before and after these.
#[inline(always)]
fn each_key<W: Scalar>(input: Global<W>, first: usize, step: usize, rest: bool, add: impl Fn(W)) {
    let head = input.unaligned_head();
    let packs = (input.len() - head) / W::PACK;
    let load = |pack: usize| input.read_pack(head + pack * W::PACK, CacheHint::Streaming);
    let mut pack = first;
    while pack + step < packs {
        let (one, two) = (load(pack), load(pack + step));
        one.for_each(|_, key| add(key));
        two.for_each(|_, key| add(key));
        pack += 2 * step;
    }
    if pack < packs {
        load(pack).for_each(|_, key| add(key));
    }
    // Fewer than one pack on either side.
    let after = head + packs * W::PACK;
    if rest && first < head {
        add(input.read(first));
    }
    if rest && first < input.len() - after {
        add(input.read(after + first));
    }
}

/// The number of `len` keys with a digit in a pass beyond the digits, where it is 0 in all keys.
#[inline(always)]
fn of_no_digit(digit: usize, len: u64) -> u64 {
    if digit == 0 { len } else { 0 }
}

/// Calls `start` with each digit of a pass and the number of keys before the first with it, on some
/// lane, and notes if the `len` keys have different digits. `count` is the number of keys with a
/// digit. Called by all lanes of a warp.
#[device]
fn starts<O: Order>(
    order: O,
    pass: u32,
    len: u64,
    count: impl Fn(usize) -> u64,
    start: impl Fn(usize, u64),
) {
    const EACH: usize = DIGITS / WARP_SIZE as usize;
    const { assert!(PASSES <= COUNT_THREADS as usize / WARP_SIZE as usize) };
    let (lane, flipped) = (lane_id() as usize, order.flipped().digit(pass) as usize);
    let digit = |i: usize| (lane * EACH + i) ^ flipped;
    let counts: [u64; EACH] = Pack::from_fn(|i| count(digit(i)));
    let all = counts.in_order(0, |all, count| all + count);
    let is_single = counts.in_order(false, |is_single, count| is_single | (count == len));
    let mut before = warp::scan_exclusive(Sum::<u64>::new(), all);
    counts.for_each(|i, count| {
        start(digit(i), before);
        before += count;
    });
    if !warp_vote_any(FULL_MASK, is_single) && lane == 0 {
        gridsync_sort_varied().fetch_or(0, 1 << pass, Ordering::Relaxed, Scope::Block);
    }
}

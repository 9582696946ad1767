//! The counts of all digits of all keys, and the plan of the passes.

use super::order::{Order, Word};
use super::rank::DIGITS;
use super::state::{PASSES, State, passes};
use crate::block::ThreadPosition;
use crate::grid::overlap;
use crate::op::Sum;
use crate::warp;
use cuda_std::memory::{Pack, Scalar, dynamic_shared};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_ballot};

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

/// Bytes of dynamic shared memory of [`count`] for keys of `word` bytes. `is_90` says that its image
/// is for compute capability 9.0.
#[must_use]
pub const fn count_shared_bytes(word: usize, is_90: bool) -> u32 {
    (word * DIGITS * columns(word, is_90) * 4) as u32
}

/// What the sort has to write.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The number of portions of the array.
    pub portions: u32,
    /// Bit 0: the output is the input. Bit 1: the output has to be written even if all keys are
    /// equal.
    pub flags: u32,
}

// SAFETY: `repr(C)` of two numbers.
unsafe impl cuda_std::launch::KernelArg for Task {}

shared_array! {
    /// Whether the block is the last.
    fn gridsync_sort_last() -> [u32; 1];
}

shared_array! {
    /// For each pass, a bit: whether all keys have the same digit.
    fn gridsync_sort_single() -> [u32; 1];
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
    let columns = columns(size_of::<O::Word>(), cfg!(compute_ge_90));
    let at = ThreadPosition::here();
    let (thread, threads) = (at.thread as usize, COUNT_THREADS as usize);
    let counters = dynamic_shared::<u32>().part(0, O::Word::DIGITS as usize * DIGITS * columns);
    let mut place = 4 * thread;
    while place < counters.len() {
        counters.write_pack(place, [0; 4], CacheHint::Default);
        place += 4 * threads;
    }
    thread::sync_threads();
    overlap::begin();

    let column = at.lane as usize % columns;
    let add = |key: O::Word| {
        let bits = order.bits(key);
        for pass in 0..O::Word::DIGITS {
            let digit = pass as usize * DIGITS + bits.digit(pass) as usize;
            counters.add(digit * columns + column, 1, Ordering::Relaxed, Scope::Block);
        }
    };
    let block = thread::block_idx_x() as usize;
    let (first, step) = (block * threads + thread, thread::grid_dim_x() as usize * threads);
    each_key(input, first, step, block == 0, add);

    let (zeroed, half) = (rows.part(0, rows.len() / 2), 4 * step);
    let mut place = 4 * first;
    while place < zeroed.len() {
        zeroed.write_pack(place, [0; 4], CacheHint::Default);
        place += half;
    }
    thread::sync_threads();

    // Each lane starts at its own column, so that no two use the same bank.
    let mut digit = thread;
    while digit < O::Word::DIGITS as usize * DIGITS {
        let mut sum = 0;
        for offset in 0..columns {
            sum += counters.read(digit * columns + (column + offset) % columns);
        }
        if sum != 0 {
            state.counts.add(digit, sum.into(), Ordering::Relaxed, Scope::Device);
        }
        digit += threads;
    }
    thread::sync_threads();
    if thread == 0 {
        let is_last = state.counted_last(thread::grid_dim_x());
        gridsync_sort_last().write(0, is_last.into());
        gridsync_sort_single().write(0, 0);
    }
    thread::sync_threads();
    if gridsync_sort_last().read(0) != 0 {
        let passes = passes(size_of::<O::Word>()) as u32;
        let flipped = order.flipped().digit(at.warp % passes);
        let digits = (O::Word::DIGITS, passes);
        let single = finish(digits, flipped, input.len() as u64, state, task, at);
        if thread == 0 {
            let (in_place, must_move) = (task.flags & 1 != 0, task.flags & 2 != 0);
            state.plan(passes, single, in_place, must_move);
        }
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

/// Turns the counts into starts, and zeroes them. Returns the passes whose digits are all the same,
/// in thread 0. Called by all threads of the last block; a warp per pass, with the inverted bits of
/// its digit. Passes beyond the digits are by a digit that is 0 in all keys.
#[device]
fn finish(
    (digits, passes): (u32, u32),
    flipped: u32,
    len: u64,
    state: State,
    task: Task,
    at: ThreadPosition,
) -> u32 {
    const EACH: usize = DIGITS / WARP_SIZE as usize;
    const { assert!(PASSES <= COUNT_THREADS as usize / WARP_SIZE as usize) };
    if at.warp < passes {
        let digit = |i: usize| (at.lane as usize * EACH + i) ^ flipped as usize;
        let word = |i: usize| at.warp as usize * DIGITS + digit(i);
        let is_counted = at.warp < digits;
        let count = |i: usize| {
            if is_counted {
                state.counts.read(word(i))
            } else if digit(i) == 0 {
                len
            } else {
                0
            }
        };
        let counts: [u64; EACH] = Pack::from_fn(count);
        let all = counts.in_order(0, |all, count| all + count);
        let is_single = counts.in_order(false, |is_single, count| is_single | (count == len));
        let mut start = warp::scan_exclusive(Sum::<u64>::new(), all);
        counts.for_each(|i, count| {
            state.start(task.portions as usize, at.warp, digit(i), start);
            if is_counted {
                state.counts.write(word(i), 0);
            }
            start += count;
        });
        let any = warp_vote_ballot(FULL_MASK, is_single) != 0;
        if any && at.lane == 0 {
            gridsync_sort_single().fetch_or(0, 1 << at.warp, Ordering::Relaxed, Scope::Block);
        }
    }
    thread::sync_threads();
    gridsync_sort_single().read(0)
}

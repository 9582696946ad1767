//! The wrong kernels. Each comment describes the bug.

use cuda_std::prelude::{Global, Ordering, Scope, kernel, shared_array, spin, thread};
use cuda_std::warp::{WARP_SIZE, lane_id, warp_index};
use gridsync_entries::reduce::Arguments;
use gridsync_kernels::grid::Workspace;
use gridsync_kernels::grid::barrier::Barrier;
use gridsync_kernels::op::Sum;
use gridsync_kernels::{block, grid, warp};
use gridsync_lab_kernels::barrier::PhaseBarrier;

type Total = Sum<i32, i64>;

/// Omits the elements after the last full pack.
///
/// # Safety
///
/// See [`grid::reduce()`].
#[kernel]
pub(crate) unsafe fn drops_the_tail(
    Arguments { input, words, state, result, runs }: Arguments<i32>,
) {
    let whole = input.part(0, input.len() / 4 * 4);
    grid::reduce(Total::new(), whole, Workspace { words, state }, result, runs);
}

/// Reads one element past the end.
///
/// # Safety
///
/// See [`grid::reduce()`], whose contract this kernel breaks.
#[kernel]
pub(crate) unsafe fn reads_one_too_many(
    Arguments { input, words, state, result, runs }: Arguments<i32>,
) {
    let longer = input.part(0, input.len() + 1);
    grid::reduce(Total::new(), longer, Workspace { words, state }, result, runs);
}

/// The sum of one thread's elements; threads stride over `input`.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn share(input: Global<i32>) -> i64 {
    let mut sum = 0;
    let mut i = thread::index();
    while i < input.len() {
        sum += i64::from(input.read(i));
        i += thread::thread_count();
    }
    sum
}

shared_array! {
    fn broken_warp_results() -> [i64; 32];
}

/// The first warp reads shared memory before the other warps have written it. Blocks add their sums
/// with an atomic.
///
/// # Safety
///
/// See [`grid::reduce()`].
#[kernel]
pub(crate) unsafe fn forgets_the_block_barrier(
    Arguments { input, words, state, result, .. }: Arguments<i32>,
) {
    let results = broken_warp_results();
    let value = warp::reduce(Total::new(), share(input));
    let (warp, lane) = (warp_index() as usize, lane_id() as usize);
    if lane == 0 {
        results.write(warp, value);
    }
    if warp == 0 {
        let warps = thread::threads_per_block() / WARP_SIZE as usize;
        let value = warp::reduce(Total::new(), if lane < warps { results.read(lane) } else { 0 });
        finish(value, words.cast(), state, result);
    }
}

/// Thread 0 of the last block adds all partials.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn finish(value: i64, partials: Global<i64>, ticket: Global<u32>, result: Global<u32>) {
    if !thread::is_first_in_block() {
        return;
    }
    let blocks = thread::block_count();
    partials.write(thread::block_index(), value);
    let before = ticket.fetch_inc(0, blocks as u32 - 1, Ordering::AcqRel, Scope::Device);
    if before == blocks as u32 - 1 {
        let mut total = 0;
        for i in 0..blocks {
            total += partials.read(i);
        }
        result.cast().write(0, total);
    }
}

/// The ticket is never reset: in the second launch no block finds that it is the last one, so the
/// result of the first launch remains.
///
/// # Safety
///
/// See [`grid::reduce()`].
#[kernel]
pub(crate) unsafe fn never_resets_the_ticket(
    Arguments { input, words, state, result, .. }: Arguments<i32>,
) {
    let (partials, ticket) = (words.cast::<i64>(), state);
    let value = block::reduce(Total::new(), share(input));
    if !thread::is_first_in_block() {
        return;
    }
    let blocks = thread::block_count();
    partials.write(thread::block_index(), value);
    let before = ticket.fetch_add(0, 1, Ordering::AcqRel, Scope::Device);
    if before as usize == blocks - 1 {
        let mut total = 0;
        for i in 0..blocks {
            total += partials.read(i);
        }
        result.cast().write(0, total);
    }
}

/// Each block writes its own sum as the result, and the last write wins.
///
/// # Safety
///
/// See [`grid::reduce()`].
#[kernel]
pub(crate) unsafe fn forgets_the_other_blocks(Arguments { input, result, .. }: Arguments<i32>) {
    let value = block::reduce(Total::new(), share(input));
    if thread::is_first_in_block() {
        result.cast().store(0, value, Ordering::Relaxed, Scope::Device);
    }
}

/// Crosses a grid barrier `rounds` times. The barrier counts up to the number of blocks. The last
/// block to arrive resets it to 0 as soon as it is full, possibly before the others have read the
/// full count.
///
/// # Safety
///
/// `word` is 0.
#[kernel(cooperative)]
pub(crate) unsafe fn resets_when_full(word: Global<u32>, rounds: u32) {
    let blocks = thread::block_count() as u32;
    for _ in 0..rounds {
        thread::sync_threads();
        if thread::is_first_in_block() {
            let before = word.fetch_add(0, 1, Ordering::AcqRel, Scope::Device);
            if before == blocks - 1 {
                word.store(0, 0, Ordering::Release, Scope::Device);
            } else {
                spin::until(|| word.load(0, Ordering::Acquire, Scope::Device) == blocks);
            }
        }
        thread::sync_threads();
    }
}

/// A kernel with a grid barrier that is not marked cooperative: it can be launched with more blocks
/// than can be resident.
///
/// # Safety
///
/// `word` is 0.
#[kernel]
pub(crate) unsafe fn hides_its_grid_barrier(word: Global<u32>) {
    PhaseBarrier::attach(word).sync();
}

shared_array! {
    fn broken_last_warp_sums() -> [u32; 256];
}

/// The block sum of rung 9 of the ladder as written before Volta: the last warp adds in shared
/// memory without a barrier between its lanes.
///
/// # Safety
/// One block of 256 threads; `input` has an element for each thread, `sum` has one.
#[kernel]
pub(crate) unsafe fn last_warp_without_barriers(input: Global<u32>, sum: Global<u32>) {
    let sums = broken_last_warp_sums();
    let me = thread::index_in_block();
    let add = |apart: usize| sums.write(me, sums.read(me) + sums.read(me + apart));
    sums.write(me, input.read(me));
    thread::sync_threads();
    for apart in [128, 64] {
        if me < apart {
            add(apart);
        }
        thread::sync_threads();
    }
    if me < 32 {
        for apart in [32, 16, 8, 4, 2, 1] {
            add(apart);
        }
    }
    if me == 0 {
        sum.write(0, sums.read(0));
    }
}

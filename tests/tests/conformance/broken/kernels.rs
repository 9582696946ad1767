//! The kernels. Each comment says what is wrong.

use cuda_std::prelude::{Global, Ordering, Scope, kernel, shared_array, spin, thread};
use cuda_std::warp::{WARP_SIZE, lane_id, warp_index};
use gridsync_kernels::grid::barrier::{Barrier, PhaseBarrier};
use gridsync_kernels::op::Sum;
use gridsync_kernels::{block, grid, warp};

type Total = Sum<i32, i64>;

/// The elements after the last full pack are left out.
///
/// # Safety
/// As for [`grid::reduce`].
#[kernel]
pub(crate) unsafe fn drops_the_tail(
    input: Global<i32>,
    partials: Global<i64>,
    ticket: Global<u32>,
    result: Global<i64>,
) {
    let whole = input.part(0, input.len() / 4 * 4);
    grid::reduce::<Total>(whole, partials, ticket, result);
}

/// One element beyond the end is read.
///
/// # Safety
/// As for [`grid::reduce`]; it breaks it.
#[kernel]
pub(crate) unsafe fn reads_one_too_many(
    input: Global<i32>,
    partials: Global<i64>,
    ticket: Global<u32>,
    result: Global<i64>,
) {
    let longer = input.part(0, input.len() + 1);
    grid::reduce::<Total>(longer, partials, ticket, result);
}

/// What every thread of the block sums up by striding over `input`.
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

/// The first warp reads what the others have left in shared memory without waiting for them; blocks
/// add up by an atomic.
///
/// # Safety
/// As for [`grid::reduce`].
#[kernel]
pub(crate) unsafe fn forgets_the_block_barrier(
    input: Global<i32>,
    partials: Global<i64>,
    ticket: Global<u32>,
    result: Global<i64>,
) {
    let results = broken_warp_results();
    let value = warp::reduce::<Total>(share(input));
    let (warp, lane) = (warp_index() as usize, lane_id() as usize);
    if lane == 0 {
        results.write(warp, value);
    }
    if warp == 0 {
        let warps = (thread::threads_per_block() / WARP_SIZE) as usize;
        let value = warp::reduce::<Total>(if lane < warps { results.read(lane) } else { 0 });
        finish(value, partials, ticket, result);
    }
}

/// Thread 0 of the last block adds up all partials.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn finish(value: i64, partials: Global<i64>, ticket: Global<u32>, result: Global<i64>) {
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
        result.write(0, total);
    }
}

/// The ticket only grows: in the second launch no block takes itself for the last one, and the
/// result is still that of the first.
///
/// # Safety
/// As for [`grid::reduce`].
#[kernel]
pub(crate) unsafe fn never_resets_the_ticket(
    input: Global<i32>,
    partials: Global<i64>,
    ticket: Global<u32>,
    result: Global<i64>,
) {
    let value = block::reduce::<Total>(share(input));
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
        result.write(0, total);
    }
}

/// The result is written by whichever block comes last, and is only its own.
///
/// # Safety
/// As for [`grid::reduce`].
#[kernel]
pub(crate) unsafe fn forgets_the_other_blocks(
    input: Global<i32>,
    _partials: Global<i64>,
    _ticket: Global<u32>,
    result: Global<i64>,
) {
    let value = block::reduce::<Total>(share(input));
    if thread::is_first_in_block() {
        result.store(0, value, Ordering::Relaxed, Scope::Device);
    }
}

/// In every round each thread writes the round to its cell, crosses the barrier, and counts the
/// cells of other blocks that are not of this round: as gridsync's own test of its barrier does.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn rounds(sync: impl Fn(), cells: Global<u32>, errors: Global<u32>, rounds: u32) {
    let (me, threads) = (thread::index(), thread::thread_count());
    for round in 1..=rounds {
        cells.write(me, round);
        sync();
        let mut other = me % thread::threads_per_block() as usize;
        while other < threads {
            if cells.read(other) != round {
                errors.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
            }
            other += thread::threads_per_block() as usize;
        }
        sync();
    }
}

/// Defines a kernel that runs [`rounds`] over a barrier of its own.
macro_rules! barriers {
    ($($(#[$doc:meta])* $name:ident($word:ident) $sync:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// A word of 0, a cell for each thread, a counter of 0.
        #[kernel(cooperative)]
        pub(crate) unsafe fn $name(
            $word: Global<u32>,
            cells: Global<u32>,
            errors: Global<u32>,
            count: u32,
        ) {
            rounds(|| $sync, cells, errors, count);
        }
    )*};
}
barriers! {
    /// Nothing wrong: the phase barrier, to show that the harness can also be content.
    phase_barrier(word) {
        // Reads its phase anew each time, which is right: all blocks have left the round before.
        PhaseBarrier::attach(word).sync();
    }

    /// Does not wait for the block's own threads before it says that the block has arrived.
    arrives_too_early(word) {
        if thread::is_first_in_block() {
            PhaseArithmetic::of(word).cross();
        }
        thread::sync_threads();
    }

    /// Lets the block's other threads go before the grid has arrived.
    leaves_too_early(word) {
        thread::sync_threads();
        if thread::is_first_in_block() {
            PhaseArithmetic::of(word).cross();
        }
    }

    /// The seed's barrier (row R4): the counter wraps to 0 with the last arrival, and a block that
    /// looks too late finds it counting again.
    wraps_to_zero(word) {
        thread::sync_threads();
        if thread::is_first_in_block() {
            let last = thread::block_count() as u32 - 1;
            if word.fetch_inc(0, last, Ordering::AcqRel, Scope::Device) != last {
                spin::until(|| word.load(0, Ordering::Acquire, Scope::Device) == 0);
            }
        }
        thread::sync_threads();
    }

    /// Counts up to the number of blocks, and the last block to have arrived sets it back to 0 as
    /// soon as it has seen it full: the others may not have.
    resets_when_full(word) {
        thread::sync_threads();
        if thread::is_first_in_block() {
            let blocks = thread::block_count() as u32;
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

/// The arithmetic of the phase barrier by one thread of a block, with no barrier of the block.
struct PhaseArithmetic {
    word: Global<u32>,
    phase: u32,
}

impl PhaseArithmetic {
    const PHASE: u32 = 1 << 31;

    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn of(word: Global<u32>) -> Self {
        let phase = word.load(0, Ordering::Relaxed, Scope::Device) & Self::PHASE;
        Self { word, phase }
    }

    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn cross(self) {
        let arrival = match thread::block_index() {
            0 => Self::PHASE - (thread::block_count() as u32 - 1),
            _ => 1,
        };
        let Self { word, phase } = self;
        word.add(0, arrival, Ordering::Release, Scope::Device);
        let turned = || (word.load(0, Ordering::Acquire, Scope::Device) ^ phase) & Self::PHASE != 0;
        spin::until(turned);
    }
}

/// A grid barrier in a kernel that does not say so, and so may be launched with more blocks than
/// are resident.
///
/// # Safety
/// A word of 0.
#[kernel]
pub(crate) unsafe fn hides_its_grid_barrier(word: Global<u32>) {
    PhaseBarrier::attach(word).sync();
}

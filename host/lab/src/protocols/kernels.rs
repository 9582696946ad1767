//! Kernels that run in the emulator only. They access memory where the kernels on the GPU need not.

use cuda_std::memory::dynamic_shared;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id};
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::{BoundedBarrier, BoundedSystemBarrier, Members};
use gridsync_kernels::grid::lock::{Lock, SpinLock};

/// Crosses a [`BoundedBarrier`] `rounds` times. Before each crossing every thread writes the number
/// of the round to its cell, and afterwards reads the cell of the thread with the same index in the
/// next block. Blocks with index `absent` and above leave after `leave_after` rounds. `crossed[b]`
/// becomes the number of rounds that block b has crossed with the right value.
///
/// # Safety
///
/// `barrier` has the words of a [`BoundedBarrier`], all 0. `crossed` has an element for each block
/// and `cells` two for each thread. All blocks are co-resident.
#[kernel(cooperative)]
pub(super) unsafe fn bounded_rounds(
    barrier: Global<u32>,
    cells: Global<u32>,
    crossed: Global<u32>,
    rounds: u32,
    limit_ns: u64,
    absent: u32,
    leave_after: u32,
) {
    let mut barrier = BoundedBarrier::attach(barrier, Members::grid(), limit_ns);
    let (block, threads) = (thread::block_index(), thread::threads_per_block());
    let next = (block + 1) % thread::block_count() * threads + thread::index_in_block();
    let rounds = if block >= absent as usize { leave_after } else { rounds };
    // Cells alternate between even and odd rounds, so that no thread overwrites a cell that others
    // still read.
    let at = |thread: usize, round: u32| 2 * thread + round as usize % 2;
    let mut done = 0;
    while done < rounds {
        cells.write(at(thread::index(), done), 1 + done);
        if barrier.sync().is_err() || cells.read(at(next, done)) != 1 + done {
            break;
        }
        done += 1;
    }
    if thread::is_first_in_block() {
        crossed.write(block, done);
    }
}

/// Does the same with a [`BoundedSystemBarrier`]. After each crossing every thread reads the cell
/// of the thread with the same index on the next GPU, from `next`.
///
/// # Safety
///
/// As for [`bounded_rounds`], on each GPU; the words are those of a [`BoundedSystemBarrier`].
#[kernel(cooperative)]
pub(super) unsafe fn bounded_system_rounds(
    words: Global<u64>,
    cells: Global<u32>,
    next: Global<u32>,
    crossed: Global<u32>,
    rounds: u32,
    limit_ns: u64,
    absent: u32,
    leave_after: u32,
) {
    let mut barrier = BoundedSystemBarrier::attach(words, limit_ns);
    let block = thread::block_index();
    let rounds = if block >= absent as usize { leave_after } else { rounds };
    // Cells alternate between even and odd rounds, so that no thread overwrites a cell that others
    // still read.
    let at = |round: u32| 2 * thread::index() + round as usize % 2;
    let mut done = 0;
    while done < rounds {
        cells.write(at(done), 1 + done);
        if barrier.sync().is_err() || next.read(at(done)) != 1 + done {
            break;
        }
        done += 1;
    }
    if thread::is_first_in_block() {
        crossed.write(block, done);
    }
}

/// Each warp acquires the lock by two methods, `sections` times each. Under the lock, each of its
/// lanes adds 1 to its element of `counts`, which the lanes of all warps share, and another 1 to
/// the next lane's.
///
/// # Safety
///
/// `lock` has the words of a [`SpinLock`], and `counts` has 32 elements, all 0. Warps are whole.
#[kernel]
pub(super) unsafe fn warps_add(lock: Global<u32>, counts: Global<u32>, sections: u32) {
    let mut lock = SpinLock::attach(lock);
    let add = |lane: usize| counts.write(lane, counts.read(lane) + 1);
    for _ in 0..sections {
        lock.warp_with(FULL_MASK, || add(lane_id() as usize));
        let guard = lock.warp_lock_unless(FULL_MASK, || false);
        add((lane_id() as usize + 1) % 32);
        drop(guard);
    }
}

/// Sorts a value of each thread of the block.
///
/// # Safety
///
/// There is one block, of whole warps. `values` and `sorted` have an element for each thread, and
/// dynamic shared memory has as many.
#[kernel]
pub(super) unsafe fn block_sorts(values: Global<u32>, sorted: Global<u32>) {
    let value = values.read(thread::index());
    sorted.write(thread::index(), block::sort(value, dynamic_shared()));
}

/// The rank of a digit of each thread of the block.
///
/// # Safety
///
/// There is one block, of whole warps, at least four. `digits` and `ranks` have an element for each
/// thread, and dynamic shared memory has [`block::rank_words`].
#[kernel]
pub(super) unsafe fn block_ranks(digits: Global<u32>, ranks: Global<u32>) {
    let digit = digits.read(thread::index());
    ranks.write(thread::index(), block::rank(digit, dynamic_shared()));
}

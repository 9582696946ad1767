//! Rung 12: loads of 16 bytes.
//!
//! Changed: each of a thread's two loads brings four elements. Why: a warp that loads 4 bytes a lane
//! asks for one line, and there are only so many requests a multiprocessor can have on their way.
//! Moves: the bytes in flight, fourfold; the blocks, and with them their sums, to a quarter.
//!
//! Launched: a thread for eight elements; again over the sums of the blocks until one is left.
//! Reached on: an H200, 2026-11-21: 241.5 µs, 4446.7 GB/s of 2^28 f32.

use super::Summand;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::op::Sum;

/// Sums two packs of four elements for each thread of a block to the block's element of `partials`.
/// Called by every thread of the grid; blocks are a multiple of 32 threads.
#[device]
pub fn wide_loads<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sum = block::reduce(Sum::<T>::new(), two_packs(input));
    if thread::is_first_in_block() {
        partials.write(thread::block_index(), sum);
    }
}

/// The sum of the thread's two packs, as many apart as the block has threads; and of the elements
/// behind the last pack, fewer than one has, by the first threads of the grid.
#[device]
pub(super) fn two_packs<T: Summand>(input: Global<T>) -> T {
    let threads = thread::threads_per_block() as usize;
    let first = 2 * threads * thread::block_index() + thread::index_in_block() as usize;
    let packs = input.len() / T::PACK;
    let load = |p: usize| {
        if p < packs {
            input.read_pack(p * T::PACK, CacheHint::ReadOnly)
        } else {
            T::Pack::splat(T::ZERO)
        }
    };
    let both = load(first).zip(load(first + threads), T::add);
    both.fold(T::add).add(behind_the_packs(input))
}

/// The thread's element behind the last pack, if there is one: the first threads of the grid, of
/// which there are four at least, have one each.
#[device]
pub(super) fn behind_the_packs<T: Summand>(input: Global<T>) -> T {
    super::element(input, input.len() / T::PACK * T::PACK + thread::index())
}

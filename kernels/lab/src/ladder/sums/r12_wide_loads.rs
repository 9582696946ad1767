//! Rung 12: loads of 16 bytes.
//!
//! Changed: each of a thread's two loads fetches four elements. Why: a warp with loads of 4 bytes
//! requests one line at a time, and a multiprocessor can have only a limited number of requests in
//! flight. Effect: four times the bytes in flight, and a quarter of the blocks and of their sums.
//!
//! Launched: a thread for eight elements; again for the sums of the blocks until one is left.

use super::Summand;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::op::Sum;

/// Sums two packs of four elements for each thread of a block into the block's element of
/// `partials`. Called by every thread of the grid; blocks are a multiple of 32 threads.
#[device]
pub fn wide_loads<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sum = block::reduce(Sum::<T>::new(), two_packs(input));
    if thread::is_first_in_block() {
        partials.write(thread::block_index(), sum);
    }
}

/// The sum of the thread's two packs, which are `threads_per_block` packs apart. The first threads
/// of the grid also add the elements after the last whole pack.
#[device]
pub(super) fn two_packs<T: Summand>(input: Global<T>) -> T {
    let threads = thread::in_32_bits::threads_per_block() as usize;
    let first = 2 * threads * thread::block_index() + thread::in_32_bits::index_in_block() as usize;
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

/// The thread's element after the last whole pack, or 0 if it has none. The first threads of the
/// grid have one each. The grid must have at least four threads.
#[device]
pub(super) fn behind_the_packs<T: Summand>(input: Global<T>) -> T {
    super::element(input, input.len() / T::PACK * T::PACK + thread::index())
}

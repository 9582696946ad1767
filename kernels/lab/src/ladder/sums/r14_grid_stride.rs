//! Rung 14: as many blocks as can be resident, with a stride over the array (Harris' seventh).
//!
//! Changed: the grid has the size of the device, not of the array. Each thread has four loads in
//! flight. Why: a thread that adds up many elements in a register needs no other thread for that.
//! And blocks that start, add up 2048 numbers and end leave the memory idle in between. Effect: a
//! few thousand block sums instead of n/2048, more loads in flight, a pyramid of two levels.
//!
//! Launched: as many blocks as fit on all multiprocessors; then one block for their sums.

use super::Summand;
use super::r12_wide_loads::behind_the_packs;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::op::Sum;

/// Sums `input` into an element of `partials` for each block. Called by every thread of the grid;
/// blocks are a multiple of 32 threads.
#[device]
pub fn grid_stride<T: Summand>(input: Global<T>, partials: Global<T>) {
    let sum = block::reduce(Sum::<T>::new(), thread_sum(input));
    if thread::is_first_in_block() {
        partials.write(thread::block_index(), sum);
    }
}

/// The sum of this thread's share of `input`.
#[device]
pub(super) fn thread_sum<T: Summand>(input: Global<T>) -> T {
    let threads = thread::thread_count();
    let packs = input.len() / T::PACK;
    let load = |p: usize| input.read_pack(p * T::PACK, CacheHint::ReadOnly);
    let mut sums = T::Pack::splat(T::ZERO);
    let mut p = thread::index();
    while p + 3 * threads < packs {
        let (first, second) = (load(p), load(p + threads));
        let (third, fourth) = (load(p + 2 * threads), load(p + 3 * threads));
        let halves = (first.zip(second, T::add), third.zip(fourth, T::add));
        sums = sums.zip(halves.0.zip(halves.1, T::add), T::add);
        p += 4 * threads;
    }
    while p < packs {
        sums = sums.zip(load(p), T::add);
        p += threads;
    }
    sums.fold(T::add).add(behind_the_packs(input))
}

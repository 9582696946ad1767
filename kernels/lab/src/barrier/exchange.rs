//! The barrier that carries data.

use super::ROUNDS_TOGETHER;
use super::stress::come_late;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;
use gridsync_kernels::grid::barrier::{Barrier, Exchange, GridBarrier};
use gridsync_kernels::op::Sum;
use gridsync_kernels::warp;

/// Crosses an [`Exchange`] four times a round: sums of one word and of two words, then broadcasts
/// of one word and of two words. Each round another block broadcasts. Counts the wrong results of
/// all threads in `errors[0]`. Warps come up to `skew` cycles late. After every three rounds the
/// block attaches again.
///
/// # Safety
///
/// `words` has the words of an exchange ([`Exchange::words`]); `errors` has one element; blocks
/// have a multiple of 32 threads and are all co-resident.
#[kernel(cooperative)]
pub unsafe fn exchange_rounds(words: Global<u64>, errors: Global<u32>, rounds: u32, skew: u32) {
    let mut exchange = Exchange::attach(words);
    let (block, blocks) = (thread::block_index() as u32, thread::block_count() as u32);
    let pairs = u64::from(blocks) * u64::from(blocks - 1) / 2;
    let mut wrong = 0;
    for round in 0..rounds {
        if round > 0 && round % ROUNDS_TOGETHER == 0 {
            exchange = Exchange::attach(words);
        }
        come_late(round, skew);
        let sum = exchange.all_reduce(Sum::<u32>::new(), block.wrapping_mul(3).wrapping_add(round));
        let expected = (pairs as u32).wrapping_mul(3).wrapping_add(blocks.wrapping_mul(round));
        wrong += u32::from(sum != expected);

        let value = u64::from(block) << 33 | u64::from(round);
        let sum = exchange.all_reduce(Sum::<u64>::new(), value);
        wrong += u32::from(sum != (pairs << 33) + u64::from(blocks) * u64::from(round));

        let root = round % blocks;
        let said = exchange.broadcast(root, f32::from_bits(block.wrapping_add(round)));
        wrong += u32::from(said.to_bits() != root.wrapping_add(round));

        let said = exchange.broadcast(root, value);
        wrong += u32::from(said != (u64::from(root) << 33 | u64::from(round)));
    }
    if wrong > 0 {
        errors.fetch_add(0, wrong, Ordering::Relaxed, Scope::Device);
    }
}

/// Computes the mean of one number per block, `rounds` times, each time from the means of the round
/// before. Does nothing else: it is for measurements. `means[b]` is the number of block b before
/// the first round, and its mean after the last.
///
/// # Safety
///
/// Same as for [`exchange_rounds`]; `means` has one element for each block.
#[kernel(cooperative)]
pub unsafe fn exchange_only(words: Global<u64>, means: Global<f32>, rounds: u32) {
    let mut exchange = Exchange::attach(words);
    let share = 1.0 / thread::block_count() as f32;
    let mut mean = means.read(thread::block_index());
    for _ in 0..rounds {
        mean = exchange.all_reduce(Sum::<f32>::new(), mean) * share;
    }
    if thread::is_first_in_block() {
        means.write(thread::block_index(), mean);
    }
}

shared_array! {
    /// The mean that the first warp computed, for the threads of its block.
    fn gridsync_exchange_by_barrier() -> [f32; 2];
}

/// Does the same as [`exchange_only`] with a store, a [`GridBarrier`] and loads, for comparison.
///
/// # Safety
///
/// `barrier` has the words of a [`GridBarrier`]; `numbers` has two elements for each block and
/// `means` has one; blocks have a multiple of 32 threads and are all co-resident.
#[kernel(cooperative)]
pub unsafe fn exchange_by_barrier_only(
    barrier: Global<u32>,
    numbers: Global<f32>,
    means: Global<f32>,
    rounds: u32,
) {
    let mut barrier = GridBarrier::attach(barrier);
    let (block, blocks) = (thread::block_index(), thread::block_count());
    let result = gridsync_exchange_by_barrier();
    let share = 1.0 / blocks as f32;
    let mut mean = means.read(block);
    for round in 0..rounds as usize {
        // Two sets of numbers alternate: a slow block may still read the numbers of this round when
        // a fast block writes those of the next.
        let numbers = numbers.part(round % 2 * blocks, blocks);
        if thread::is_first_in_block() {
            numbers.write(block, mean);
        }
        barrier.sync();
        let lane = thread::in_32_bits::index_in_block();
        if lane < WARP_SIZE {
            let mut sum = 0.0;
            let mut at = lane as usize;
            while at < blocks {
                sum += numbers.read(at);
                at += WARP_SIZE as usize;
            }
            let sum = warp::reduce(Sum::<f32>::new(), sum);
            if lane == 0 {
                result.write(round % 2, sum);
            }
        }
        thread::sync_threads();
        mean = result.read(round % 2) * share;
    }
    if thread::is_first_in_block() {
        means.write(block, mean);
    }
}

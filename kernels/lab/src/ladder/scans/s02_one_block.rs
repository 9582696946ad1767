//! Rung 2: one block, chunk by chunk, by Hillis and Steele ("Data Parallel Algorithms", 1986).
//!
//! Changed: 256 threads scan 256 elements at once. Each adds the value 1 position before its own,
//! then 2 positions before, then 4. After step s it has the sum of 2^s elements. Why: log n steps
//! instead of n. The span is shorter, but the work is more: nearly every thread adds in every step.
//!
//! In a step a thread reads a word that another thread overwrites in the same step. With two
//! alternating buffers, one barrier per step is enough.
//!
//! Words moved: 2n. Work: n·log₂ B + n. Span: (n / B)·log₂ B, chunk by chunk.
//!
//! Launched: one block of 256 threads.

use super::super::THREADS;
use super::{element, put};
use cuda_std::prelude::*;

shared_array! {
    /// Two buffers of a word for each thread.
    fn gridsync_ladder_scan_buffers() -> [u32; 2 * THREADS as usize];
}

/// Scans `input` into `output`. Called by every thread of one block of at most [`THREADS`].
#[device]
pub fn one_block(input: Global<u32>, output: Global<u32>) {
    let (me, threads) = (thread::index(), thread::thread_count());
    let (mut start, mut carry) = (0, 0u32);
    while start < input.len() {
        let (sum, total) = hillis_steele(element(input, start + me));
        put(output, start + me, carry.wrapping_add(sum));
        carry = carry.wrapping_add(total);
        start += threads;
        // Other threads may still be reading the total, which the next chunk overwrites.
        thread::sync_threads();
    }
}

/// The sum of the values of all threads up to and including this one, and the sum of all values.
///
/// Called by every thread of a block of at most [`THREADS`]. Has block barriers inside, but none at
/// the end: the block needs one between two calls.
#[device]
pub(super) fn hillis_steele(value: u32) -> (u32, u32) {
    let buffers = gridsync_ladder_scan_buffers();
    let (me, threads) = (
        thread::in_32_bits::index_in_block() as usize,
        thread::in_32_bits::threads_per_block() as usize,
    );
    let (mut from, mut to) = (buffers.part(0, threads), buffers.part(threads, threads));
    from.write(me, value);
    thread::sync_threads();
    let (mut sum, mut distance) = (value, 1);
    while distance < threads {
        if me >= distance {
            sum = sum.wrapping_add(from.read(me - distance));
        }
        to.write(me, sum);
        thread::sync_threads();
        (from, to) = (to, from);
        distance *= 2;
    }
    (sum, from.read(threads - 1))
}

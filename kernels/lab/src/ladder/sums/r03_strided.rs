//! Rung 3: C threads, every C-th element for each.
//!
//! Changed: the threads step through the array side by side. Why: at each step the 32 lanes of a
//! warp load 32 neighbours, one whole line. Moves: the share of each line that is used, from a 32nd
//! to all. It takes an operation that commutes.
//!
//! The seed asks which C is best: that of one block; the cores of the device; or 256 threads on each
//! multiprocessor. All three depend on the device, and the C sums at the end go to one thread: that
//! is why the rungs after this one build a pyramid.
//!
//! Launched: C threads, for each of the three C; then rung 1 over their C sums.
//! Reached on: an H200, 2026-11-21: C = a block: 23524.9 µs, 2.9 GB/s of 2^24; C = the cores:
//! 6201.0 µs, 173.2 GB/s of 2^28; C = 256 an SM: 3336.4 µs, 321.8 GB/s of 2^28 f32.

use super::Summand;
use cuda_std::prelude::*;

/// Sums every C-th element of `input` for each of the C threads of the grid, to the thread's element
/// of `sums`. Called by every thread of the grid.
#[device]
pub fn strided<T: Summand>(input: Global<T>, sums: Global<T>) {
    let (me, threads) = (thread::index(), thread::thread_count());
    sums.write(me, strided_sum(input, me, threads));
}

/// The sum of element `first` and of every `stride`-th after it.
#[device]
pub(in crate::ladder) fn strided_sum<T: Summand>(
    input: Global<T>,
    first: usize,
    stride: usize,
) -> T {
    let mut total = T::ZERO;
    let mut i = first;
    while i < input.len() {
        total = total.add(input.read(i));
        i += stride;
    }
    total
}

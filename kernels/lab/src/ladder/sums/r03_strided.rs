//! Rung 3: C threads, every C-th element for each.
//!
//! Changed: the threads step through the array side by side. Why: at each step the 32 lanes of a
//! warp load 32 consecutive elements, which are one whole line. Effect: the warp uses all of each
//! line instead of 1/32. The operation must commute.
//!
//! Which C is best? The ladder tries the threads of one block, the cores of the device, and 256
//! threads per multiprocessor. All three depend on the device, and one thread adds up the C sums at
//! the end. That is why later rungs build a pyramid.
//!
//! Launched: C threads, for each of the three C; then rung 1 for their C sums.

use super::Summand;
use cuda_std::prelude::*;

/// Sums every C-th element of `input` for each of the C threads of the grid, into the thread's
/// element of `sums`. Called by every thread of the grid.
#[device]
pub fn strided<T: Summand>(input: Global<T>, sums: Global<T>) {
    let (me, threads) = (thread::index(), thread::thread_count());
    sums.write(me, strided_sum(input, me, threads));
}

/// The sum of element `first` and every `stride`-th element after it.
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

//! Rung 1: one block exchanges neighbours that are in the wrong order, in n rounds (odd-even
//! transposition, Habermann, "Parallel Neighbor-Sort", 1972).
//!
//! This is bubble sort for many threads. Even rounds compare elements 0 and 1, 2 and 3, and so on,
//! and odd rounds compare 1 and 2, 3 and 4. The pairs of a round do not overlap, so all are compared
//! at once. A key moves by one position in a round, so n rounds are needed, with a barrier before
//! each.
//!
//! Words moved: 2n². Work: n² / 2 comparisons.
//!
//! Launched: one block of 256 threads. A barrier of the block is enough because there is only one.

use super::position;
use cuda_std::prelude::*;

/// Sorts `input` into `output`. Called by every thread of one block.
#[device]
pub fn odd_even(input: Global<u32>, output: Global<u32>) {
    let (me, threads) = position();
    let mut i = me;
    while i < input.len() {
        output.write(i, input.read(i));
        i += threads;
    }
    for round in 0..input.len() {
        thread::sync_threads();
        let mut low = round % 2 + 2 * me;
        while low + 1 < output.len() {
            exchange(output, output, low, low + 1);
            low += 2 * threads;
        }
    }
}

/// Writes the lesser of two keys to `low`, and the greater to `high`. `to` may be `from`.
#[device]
pub(super) fn exchange(from: Global<u32>, to: Global<u32>, low: usize, high: usize) {
    let (a, b) = (from.read(low), from.read(high));
    to.write(low, a.min(b));
    to.write(high, a.max(b));
}

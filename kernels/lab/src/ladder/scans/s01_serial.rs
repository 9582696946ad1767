//! Rung 1: one thread adds up everything, and writes down each sum on its way.
//!
//! What all others are measured by: no scan does with less work, and none takes longer.
//!
//! Moves: 2n words. Work: n. Span: n.
//!
//! Launched: one block of one thread.
//! Reached on: an H200, 2026-11-21: 40030 µs, 0.2 GB/s of 2^20 u32.

use cuda_std::prelude::*;

/// Scans `input` into `output`. Called by any threads; the first of the grid does it.
#[device]
pub fn serial(input: Global<u32>, output: Global<u32>) {
    if !thread::first() {
        return;
    }
    let mut total = 0u32;
    for i in 0..input.len() {
        total = total.wrapping_add(input.read(i));
        output.write(i, total);
    }
}

//! Rung 1: one thread adds up everything, and writes each prefix sum along the way.
//!
//! All other rungs are compared with this one: no scan does less work, and none has a longer span.
//!
//! Words moved: 2n. Work: n. Span: n.
//!
//! Launched: one block of one thread.

use cuda_std::prelude::*;

/// Scans `input` into `output`. Called by any number of threads; only the first of the grid works.
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

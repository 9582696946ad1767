//! The ladder of scans: for each element of an array the sum of all elements up to it, in eleven
//! steps, from one thread to one launch at the rate of the memory (after Blelloch, "Prefix Sums and
//! Their Applications", 1990).
//!
//! Each file is a rung. Its header explains what has changed since the rung below and why, how many
//! words it reads from and writes to device memory, its work (additions), its span (sequential
//! additions), and how it is launched. n is the length of the array, and B is the number of
//! elements in a block's tile. Read the rungs in order: later rungs call functions of lower ones.
//! `README.md` in this folder has them in one table with their times. It also explains how scans go
//! wrong if blocks wait for each other.
//!
//! The elements are u32, and their sums wrap around. They are exact in any order, so every rung
//! must produce the same words. The last two rungs are the library's: rung 10 is
//! [`grid::scan()`](gridsync_kernels::grid::scan()), rung 11 is `grid::scan::scan_by_bulk`, which
//! needs compute capability 9.0 or higher.
//!
//! They accept arrays of any length, including empty ones. Input and output begin at multiples of
//! 16 bytes and do not overlap; nothing writes to the input during the launch. `gridsync lab scans`
//! runs them all.

pub mod kernels;
pub mod s00_copy;
pub mod s01_serial;
pub mod s02_one_block;
pub mod s03_block_sums;
pub mod s04_blelloch;
pub mod s05_padded;
pub mod s06_shuffles;
pub mod s07_grid_barrier;
pub mod s08_chained;
pub mod s09_look_back;

use cuda_std::prelude::*;

/// Element `i`, or 0 past the end.
#[device]
fn element(input: Global<u32>, i: usize) -> u32 {
    if i < input.len() { input.read(i) } else { 0 }
}

/// Writes element `i`, unless it is past the end.
#[device]
fn put(output: Global<u32>, i: usize, value: u32) {
    if i < output.len() {
        output.write(i, value);
    }
}

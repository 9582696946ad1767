//! The ladder of scans: what all elements of an array up to each one add up to, in eleven steps,
//! from one thread to one launch at the memory's rate (seed row R19; Blelloch, "Prefix Sums and Their
//! Applications", 1990).
//!
//! A file is a rung. Its head says what changed from the rung below, why, what it moves to and from
//! device memory, its work (additions) and its span (those that come one after another), and how it
//! is launched; n is the length of the array and B the elements of a block's tile. Read them in
//! order: what a rung takes over from one below, it calls by name. `README.md` beside this file has
//! them in one table, and the ways in which blocks that wait for each other go wrong.
//!
//! The elements are u32, whose sums wrap around: they are exact in any order, and each rung is held
//! against the same words. The last two rungs are the library's: 10 is
//! [`grid::scan()`](gridsync_kernels::grid::scan()), 11 is `grid::scan::scan_by_bulk`, which only compute
//! capability 9.0 has.
//!
//! All of them take arrays of any length, none included. Input and output begin at multiples of 16
//! bytes and lie apart, and nobody writes the input meanwhile. `gridsync lab scans` climbs them all.

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

/// Element `i`, or 0 behind the end.
#[device]
fn element(input: Global<u32>, i: usize) -> u32 {
    if i < input.len() { input.read(i) } else { 0 }
}

/// Writes element `i`, unless it lies behind the end.
#[device]
fn put(output: Global<u32>, i: usize, value: u32) {
    if i < output.len() {
        output.write(i, value);
    }
}

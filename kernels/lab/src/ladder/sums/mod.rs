//! The ladder of sums: the sum of an array in seventeen steps, from one thread to one launch at the
//! rate of the memory (after Harris, "Optimizing Parallel Reduction in CUDA", 2007).
//!
//! Each file is a rung. Its header explains what has changed since the rung below, why, what effect
//! that should have, and how it is launched. Read the rungs in order: later rungs call functions of
//! lower ones. The next step is [`grid::reduce()`](gridsync_kernels::grid::reduce()). The folder
//! `bench/runs` has the times of the rungs.
//!
//! | rungs | one launch leaves | the sum |
//! |---|---|---|
//! | 1 to 3 | a sum for each thread | one thread adds them up, rung 1 again |
//! | 4, 15 | the sum | by atomics, in no fixed order |
//! | 5 to 13 | a sum for each block | the same kernel adds them up, again and again until one is left |
//! | 14 | a sum for each block of a resident grid | the same kernel adds them up, in one block |
//! | 16, 17 | the sum | within the launch |
//!
//! All of them accept arrays of any length, including empty ones. The array begins at a multiple of
//! 16 bytes, and nothing writes to it during the launch. `gridsync lab ladder` runs them all.

pub mod kernels;
pub mod r00_read_only;
pub mod r01_serial;
pub mod r02_chunks;
pub mod r03_strided;
pub mod r04_atomics;
pub mod r05_interleaved;
pub mod r06_compacted;
pub mod r07_sequential;
pub mod r08_first_add;
pub mod r09_last_warp;
pub mod r10_warps_first;
pub mod r11_shuffles;
pub mod r12_wide_loads;
pub mod r13_redux;
pub mod r14_grid_stride;
pub mod r15_atomic_finish;
pub mod r16_last_block;
pub mod r17_grid_barrier;

use super::THREADS;
use cuda_std::prelude::*;
use gridsync_kernels::op::{Number, Widen};

/// A number type that the rungs add up, without a wider type: f32 rounds, u32 wraps around.
pub trait Summand: Number + Widen<Self> {}

impl<T: Number + Widen<T>> Summand for T {}

shared_array! {
    /// A word for each thread of the block.
    fn gridsync_ladder_sums() -> [u32; THREADS as usize];
}

/// The block's shared memory: an element of 4 bytes for each of [`THREADS`] threads.
#[device]
fn sums_of_block<T: Summand>() -> Shared<T> {
    gridsync_ladder_sums().cast()
}

/// Element `i`, or 0 past the end.
#[device]
fn element<T: Summand>(input: Global<T>, i: usize) -> T {
    if i < input.len() { input.read(i) } else { T::ZERO }
}

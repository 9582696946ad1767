//! X→P→X in three forms: without a barrier, with a block barrier, with a grid barrier. `stage.rs`
//! has a kernel for one stage and `single.rs` has kernels for all stages, to compare many launches
//! with one.
//!
//! Stage (i): every `P[j]` becomes the mean of all X. Stage (ii): every `X[j]` becomes the mean of
//! all P. Stage (ii) needs the writes of *all* threads of the grid in stage (i). Without a barrier,
//! whole warps may read a P that is not written yet. With only a block barrier, whole blocks may do
//! so. With a grid barrier, no thread does.
//!
//! Every thread recomputes the mean for each of its elements. That requires n loads for each of n
//! elements, n² loads in the whole grid.
//!
//! `stagger_ns` delays block b by b × `stagger_ns`, and warp w of a block by w × `stagger_ns` more,
//! before stage (i). At 0 the hardware's own timing decides whether the fault shows.

mod single;
mod stage;

#[cfg(not(target_arch = "nvptx64"))]
pub use single::Transforms;
pub use single::{
    xpx_flip_barrier, xpx_generation_barrier, xpx_grid_barrier_alone, xpx_growing_ptx_barrier,
    xpx_growing_volatile_barrier, xpx_lock_free_barrier, xpx_tree_barrier,
};
pub use stage::xpx_stage;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub use stage::xpx_stage_overlapped;

use cuda_std::prelude::*;
use cuda_std::time::nanosleep;
use cuda_std::warp::warp_index;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};

/// X→P→X without any barrier: whole warps are wrong.
///
/// # Safety
///
/// `x` and `p` have the same length, at least 1. The kernel has a data race on purpose: a thread
/// may read a stale number, and nothing worse.
#[kernel]
pub unsafe fn xpx_no_barrier(x: Global<f32>, p: Global<f32>, stagger_ns: u32) {
    delay(stagger_ns);
    each_mean(x, p);
    each_mean(p, x);
}

/// X→P→X with a block barrier between the stages: whole blocks are wrong.
///
/// # Safety
///
/// Same as for [`xpx_no_barrier`].
#[kernel]
pub unsafe fn xpx_block_barrier(x: Global<f32>, p: Global<f32>, stagger_ns: u32) {
    delay(stagger_ns);
    each_mean(x, p);
    thread::sync_threads();
    each_mean(p, x);
}

/// X→P→X, `rounds` times, with a grid barrier between all stages: correct.
///
/// # Safety
///
/// Same as for [`xpx_no_barrier`]; `barrier` has the words of a [`GridBarrier`], and all blocks are
/// co-resident.
#[kernel(cooperative)]
pub unsafe fn xpx_grid_barrier(
    x: Global<f32>,
    p: Global<f32>,
    stagger_ns: u32,
    barrier: Global<u32>,
    rounds: u32,
) {
    let barrier = GridBarrier::attach(barrier);
    delay(stagger_ns);
    transform(x, p, barrier, rounds);
}

/// X→P→X, `rounds` times, with `barrier` between the stages.
#[device]
fn transform(x: Global<f32>, p: Global<f32>, mut barrier: impl Barrier, rounds: u32) {
    for round in 0..rounds {
        if round > 0 {
            barrier.sync();
        }
        each_mean(x, p);
        barrier.sync();
        each_mean(p, x);
    }
}

/// Sets each element of `to` to the mean of all of `from`. The threads of the grid share the work.
#[device]
fn each_mean(from: Global<f32>, to: Global<f32>) {
    let mut j = thread::index();
    while j < to.len() {
        to.write(j, mean(from));
        j += thread::thread_count();
    }
}

/// The mean of all elements, added up in order.
// The loads of an iteration come before its additions, to have them all in flight together. Then
// the additions determine the time of the loop in every kernel. Without this, the compiler made
// loops of very different speed, which hid the difference between the barriers.
#[device]
fn mean(from: Global<f32>) -> f32 {
    let (mut sum, mut i) = (0.0, 0);
    while i + 8 <= from.len() {
        let [a, b, c, d] = [0, 1, 2, 3].map(|turn| from.read(i + turn));
        let [e, f, g, h] = [4, 5, 6, 7].map(|turn| from.read(i + turn));
        sum = sum + a + b + c + d + e + f + g + h;
        i += 8;
    }
    while i < from.len() {
        sum += from.read(i);
        i += 1;
    }
    sum / from.len() as f32
}

/// Delays this thread's warp by its share of the stagger.
#[device]
fn delay(stagger_ns: u32) {
    if stagger_ns > 0 {
        let steps = thread::block_index() as u32 + warp_index();
        nanosleep(stagger_ns.saturating_mul(steps).min(MAX_SLEEP_NS));
    }
}

/// The longest sleep that PTX guarantees (PTX ISA, "nanosleep").
const MAX_SLEEP_NS: u32 = 1_000_000;

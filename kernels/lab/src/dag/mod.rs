//! Nodes of a graph of kernels, each as a separate kernel and as a task of one kernel.
//!
//! A node has an array of `u32`. Each element is the [operation](Operation) applied to the elements
//! at the same index of all inputs, in their order, and to the node's number.
//!
//! * [`nodes`]: each as a grid. [`launching`]: those grids, launched by a kernel.
//! * [`tasks`]: each as a task of one grid.

pub mod launching;
pub mod nodes;
pub mod tasks;

use cuda_std::prelude::*;
use cuda_std::time::{clock, global_timer};

/// The operation of a node on its inputs, as a number that is passed to kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Operation {
    /// The sum of all.
    Sum,
    /// The product of all.
    Product,
    /// A number that depends on all and on their order.
    Mix,
}

impl Operation {
    /// Combines `all` with one more input, modulo 2^32.
    #[inline(always)]
    #[must_use]
    pub const fn join(self, all: u32, input: u32) -> u32 {
        match self {
            Self::Sum => all.wrapping_add(input),
            Self::Product => all.wrapping_mul(input),
            // An odd factor loses no bits.
            Self::Mix => (all ^ input).wrapping_mul(0x9E37_79B1).rotate_left(13),
        }
    }

    #[inline(always)]
    const fn of(number: u32) -> Self {
        match number {
            0 => Self::Sum,
            1 => Self::Product,
            _ => Self::Mix,
        }
    }
}

/// A thread's share of the elements of one node.
#[derive(Clone, Copy)]
struct Share {
    first: u32,
    stride: u32,
}

/// Spins until at least `cycles` have passed.
#[device]
fn work(cycles: u32) {
    if cycles > 0 {
        let start = clock();
        spin::until(|| clock().wrapping_sub(start) >= cycles.into());
    }
}

/// Records in `times` when the first part of a node begins, or when its last part ends. Does
/// nothing if `times` is empty.
#[device]
fn note(times: Global<u64>, is_end: bool) {
    // Blocks have one dimension.
    if !times.is_empty() && thread::thread_idx_x() == 0 {
        let now = global_timer();
        if is_end {
            times.fetch_max(1, now, Ordering::Relaxed, Scope::Device);
        } else {
            times.fetch_min(0, now, Ordering::Relaxed, Scope::Device);
        }
    }
}

/// Computes the elements of `share`, and returns the last one. `input` returns the nodes of the
/// inputs.
#[device]
fn compute(
    arrays: Global<u32>,
    count: usize,
    input: impl Fn(usize) -> u32,
    out: Global<u32>,
    (operation, value): (Operation, u32),
    share: Share,
) -> u32 {
    let (mut i, mut last) = (share.first, 0);
    let elements = out.len() as u32;
    // Not `step_by`, which divides.
    while i < elements {
        let mut all = value;
        for k in 0..count {
            let at = u64::from(input(k)) * u64::from(elements) + u64::from(i);
            all = operation.join(all, arrays.read(at as usize));
        }
        out.write(i as usize, all);
        last = all;
        i = i.saturating_add(share.stride);
    }
    last
}

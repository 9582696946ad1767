//! A node as a grid of its own.

use super::{Operation, Share, compute, note, work};
use cuda_std::prelude::*;

/// One node: the grid computes all elements of `out`.
///
/// # Safety
///
/// `inputs` has the nodes whose arrays of `out.len()` elements in `arrays` this node reads. No other grid
/// writes them or uses `out` meanwhile. `times` has two words for this node, or none: when it began, which is
/// the greatest number before, and when it ended, 0 before, in nanoseconds of the global timer.
#[kernel(launchable)]
pub unsafe fn dag_node(
    arrays: Global<u32>,
    inputs: Global<u32>,
    out: Global<u32>,
    operation: u32,
    value: u32,
    cycles: u32,
    times: Global<u64>,
) {
    one_node(arrays, inputs, out, (Operation::of(operation), value), cycles, times);
}

/// The body of a node's own kernel.
#[device]
fn one_node(
    arrays: Global<u32>,
    inputs: Global<u32>,
    out: Global<u32>,
    what: (Operation, u32),
    cycles: u32,
    times: Global<u64>,
) {
    note(times, false);
    work(cycles);
    let share = Share { first: thread::index(), stride: thread::thread_count() };
    compute(arrays, inputs.len(), |k| inputs.read(k), out, what, share);
    if !times.is_empty() {
        thread::sync_threads();
        note(times, true);
    }
}

/// [`dag_node`] for launches that overlap: it waits for the grid before it by itself.
///
/// # Safety
///
/// As for [`dag_node`].
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
#[kernel]
pub unsafe fn dag_node_overlapped(
    arrays: Global<u32>,
    inputs: Global<u32>,
    out: Global<u32>,
    operation: u32,
    value: u32,
    cycles: u32,
    times: Global<u64>,
) {
    cuda_std::dependent::let_next_start();
    cuda_std::dependent::wait_for_previous();
    one_node(arrays, inputs, out, (Operation::of(operation), value), cycles, times);
}

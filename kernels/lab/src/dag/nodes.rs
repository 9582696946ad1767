//! A node as a separate grid.

use super::{Operation, Share, compute, note, work};
use cuda_std::prelude::*;

/// One node: the grid computes all elements of `out`.
///
/// # Safety
///
/// The grid has one dimension, and fewer than 2^32 threads. `out` has fewer than 2^32 elements.
///
/// `inputs` has the nodes whose arrays of `out.len()` elements in `arrays` this node reads. During
/// the launch no other grid writes them or uses `out`. `times` is empty or has two words for this
/// node: the start time, initialised to the greatest number, and the end time, initialised to 0, in
/// nanoseconds of the global timer.
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
    one_node((arrays, inputs, out, operation, value, cycles, times));
}

/// The arguments of [`dag_node`].
pub type Args = (Global<u32>, Global<u32>, Global<u32>, u32, u32, u32, Global<u64>);

/// The body of the kernel of a single node.
#[device]
pub(super) fn one_node((arrays, inputs, out, operation, value, cycles, times): Args) {
    note(times, false);
    work(cycles);
    elements(arrays, inputs, out, (Operation::of(operation), value));
    if !times.is_empty() {
        thread::sync_threads();
        note(times, true);
    }
}

/// Computes the elements of a node.
#[device]
fn elements(arrays: Global<u32>, inputs: Global<u32>, out: Global<u32>, what: (Operation, u32)) {
    // In one dimension and 32 bits, because this is most of a thread's work.
    let threads = thread::block_dim_x();
    let first = thread::block_idx_x() * threads + thread::thread_idx_x();
    let share = Share { first, stride: thread::grid_dim_x() * threads };
    compute(arrays, inputs.len(), |k| inputs.read(k), out, what, share);
}

/// [`dag_node`] for overlapping launches: the kernel itself waits for the grid before it. It does
/// no extra work and records no times: each instruction would lengthen the edge of a chain.
///
/// # Safety
///
/// Same as for [`dag_node`].
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
#[kernel]
pub unsafe fn dag_node_overlapped(
    arrays: Global<u32>,
    inputs: Global<u32>,
    out: Global<u32>,
    operation: u32,
    value: u32,
) {
    cuda_std::dependent::let_next_start();
    cuda_std::dependent::wait_for_previous();
    elements(arrays, inputs, out, (Operation::of(operation), value));
}

/// [`dag_node_overlapped`] with work and times.
///
/// # Safety
///
/// Same as for [`dag_node`].
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
#[kernel]
pub unsafe fn dag_node_overlapped_noted(
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
    one_node((arrays, inputs, out, operation, value, cycles, times));
}

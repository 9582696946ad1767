//! The kernels of the examples: whole algorithms in one launch, with grid-wide barriers and
//! collectives. The host code of each is in `host/examples`, under the same name.
//!
//! * [`jacobi`]: sweeps over a plate until it hardly changes. [`bfs`]: levels of a graph.
//! * [`compaction`]: the elements above a bound. [`counting_sort`]: a stable sort by small keys.
//! * [`conjugate_gradient`]: steps of a solver, as a graph of tasks.
//!
//! ```
//! use cuda_std::launch::Kernel;
//! use gridsync_example_kernels::jacobi::jacobi_solve;
//!
//! // All sweeps are one launch: the whole grid waits between them.
//! assert!(jacobi_solve::COOPERATIVE);
//! ```

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

pub mod bfs;
pub mod compaction;
pub mod conjugate_gradient;
pub mod counting_sort;
pub mod jacobi;

use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{WARP_SIZE, lane_id};

/// Calls `visit` with each element of this warp's part of the array, 32 at a time: every lane gets
/// one, or `None` past the end. The parts are in the order of the warps.
#[device]
fn each_element<T: Scalar>(input: Global<T>, mut visit: impl FnMut(Option<T>)) {
    let (lane, lanes) = (lane_id() as usize, WARP_SIZE as usize);
    let (warp, warps) = (thread::index() / lanes, thread::thread_count() / lanes);
    let part = input.len().div_ceil(warps).next_multiple_of(lanes);
    let end = input.len().min((warp + 1) * part);
    for first in (warp * part..end).step_by(4 * lanes) {
        // Four loads are in flight together. A single load would leave the memory idle.
        let elements: [Option<T>; 4] = Pack::from_fn(|row| {
            let i = first + row * lanes + lane;
            if i < end { Some(input.read(i)) } else { None }
        });
        elements.for_each(|_, element| visit(element));
    }
}

/// The number of lanes of `mask` below this one.
#[device]
fn lanes_below(mask: u32) -> u32 {
    (mask & ((1 << lane_id()) - 1)).count_ones()
}

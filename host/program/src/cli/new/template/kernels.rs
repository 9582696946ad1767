//! The kernels, for the GPU and for the emulator. A kernel has at most 16 arguments.

#![cfg_attr(
    target_arch = "nvptx64",
    no_std,
    feature(abi_ptx, asm_experimental_arch)
)]

use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_kernels::op::Sum;

/// Divides each of `values` by the sum of all.
///
/// # Safety
///
/// `sums` has an element for each block. `barrier` has the words of the barrier. All blocks are resident.
#[kernel(cooperative)]
pub unsafe fn shares(values: Global<f32>, sums: Global<f32>, barrier: Global<u32>) {
    let mut barrier = GridBarrier::attach(barrier);
    let mine = || (thread::index()..values.len()).step_by(thread::thread_count());

    // The block adds up what its threads have.
    let of_thread = mine().map(|i| values.read(i)).sum();
    let of_block = block::reduce(Sum::<f32>::new(), of_thread);
    if thread::is_first_in_block() {
        sums.write(thread::block_index(), of_block);
    }

    // From here on every thread of the grid sees what every other wrote before.
    barrier.sync();

    let of_grid: f32 = (0..sums.len()).map(|block| sums.read(block)).sum();
    for i in mine() {
        values.write(i, values.read(i) / of_grid);
    }
}

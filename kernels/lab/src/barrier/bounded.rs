//! The bounded barrier, with blocks that leave early.

use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{BoundedBarrier, Members};

/// Crosses a [`BoundedBarrier`] `rounds` times, but the blocks with index `absent` or higher leave
/// after `leave_after` rounds. `crossed[b]` becomes the number of rounds that block b crossed.
///
/// # Safety
///
/// `barrier` has the words of a [`BoundedBarrier`], all 0; `crossed` has an element for each block;
/// all blocks are co-resident.
#[kernel(cooperative)]
pub unsafe fn bounded_barrier_rounds(
    barrier: Global<u32>,
    crossed: Global<u32>,
    rounds: u32,
    limit_ns: u64,
    absent: u32,
    leave_after: u32,
) {
    let mut barrier = BoundedBarrier::attach(barrier, Members::grid(), limit_ns);
    let block = thread::block_index();
    let rounds = if block >= absent as usize { leave_after } else { rounds };
    let mut done = 0;
    while done < rounds && barrier.sync().is_ok() {
        done += 1;
    }
    if thread::is_first_in_block() {
        crossed.write(block, done);
    }
}

//! How the threads of a block are numbered and divided into warps.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_index, warp_shuffle_idx};

/// Words of the record of a thread: its position along x, y and z, its linear index, the linear
/// index of the thread that is lane 0 of its warp, and its own lane.
pub const WORDS: usize = 6;

/// Makes each thread of a block write its record of [`WORDS`] words. The records are in the order
/// of the linear indices.
///
/// # Safety
///
/// The grid has one block. `records` has [`WORDS`] elements per thread.
#[kernel]
pub unsafe fn threads_numbers(records: Global<u32>) {
    let position = thread::thread_idx();
    let number = thread::in_32_bits::index_in_block();
    // This comes from another lane. So it shows which threads the hardware has put into the warp.
    let (first, _) = warp_shuffle_idx(lanes_of_warp(), number, 0, WARP_SIZE);
    let record = [position.x, position.y, position.z, number, first, lane_id()];
    for (word, value) in record.into_iter().enumerate() {
        records.write(number as usize * WORDS + word, value);
    }
}

/// The lanes of this warp that have a thread, as a mask. Only the last warp of a block may have
/// idle lanes.
#[device]
pub(crate) fn lanes_of_warp() -> u32 {
    let threads = thread::in_32_bits::threads_per_block() - warp_index() * WARP_SIZE;
    FULL_MASK >> (WARP_SIZE - threads.min(WARP_SIZE))
}

//! Rung 13: the sum of a warp in one instruction, for integers, on compute capability 8.0 or
//! higher.
//!
//! Changed: `redux.sync` in place of five shuffles and five additions. Why: the hardware has it.
//! Effect: 1 step of a warp instead of 5. That is barely measurable if memory is the bottleneck.
//! These devices have no `redux.sync` for f32, so only the u32 ladder has this rung. It is only in
//! the compute_90 image, because in the other image the compiler would turn it into shuffles.
//!
//! Launched: a thread for eight elements; again for the sums of the blocks until one is left.

use super::r12_wide_loads::two_packs;
use super::sums_of_block;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_index, warp_redux_add};

/// Sums two packs of four elements for each thread of a block into the block's element of
/// `partials`. Called by every thread of the grid; blocks are a multiple of 32 threads.
#[device]
pub fn redux(input: Global<u32>, partials: Global<u32>) {
    let sums = sums_of_block::<u32>();
    let sum = warp_redux_add(FULL_MASK, two_packs(input));
    if lane_id() == 0 {
        sums.write(warp_index() as usize, sum);
    }
    thread::sync_threads();
    if warp_index() != 0 {
        return;
    }
    let lane = lane_id();
    let warps = thread::in_32_bits::threads_per_block() / WARP_SIZE;
    let of_warp = if lane < warps { sums.read(lane as usize) } else { 0 };
    let sum = warp_redux_add(FULL_MASK, of_warp);
    if lane == 0 {
        partials.write(thread::block_index(), sum);
    }
}

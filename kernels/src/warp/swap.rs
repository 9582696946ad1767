//! A value of another lane, whatever its size.

use crate::op::Carried;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_xor};

/// The value of the lane whose number differs by the bits of `lanes`, which is below 32: a shuffle
/// for each half.
///
/// Called by all 32 lanes of the warp. Orders no memory.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn swap<T: Carried>(value: T, lanes: u32) -> T {
    let mut halves = value.to_halves();
    halves[0] = warp_shuffle_xor(FULL_MASK, halves[0], lanes, WARP_SIZE).0;
    // Written out: an array that is indexed by a variable would live in local memory.
    if T::HALVES > 1 {
        halves[1] = warp_shuffle_xor(FULL_MASK, halves[1], lanes, WARP_SIZE).0;
    }
    if T::HALVES > 2 {
        halves[2] = warp_shuffle_xor(FULL_MASK, halves[2], lanes, WARP_SIZE).0;
    }
    if T::HALVES > 3 {
        halves[3] = warp_shuffle_xor(FULL_MASK, halves[3], lanes, WARP_SIZE).0;
    }
    T::from_halves(halves)
}

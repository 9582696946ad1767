//! The reduction of one value per lane.

use crate::op::Operation;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_xor};

/// Combines one value per lane by a butterfly of shuffles.
///
/// Called by all 32 lanes of the warp; every lane holds the result. Orders no memory. Five steps,
/// and as many roundings in a floating-point sum: at step s, lane i combines with lane i xor 2^s.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn reduce<O: Operation>(mut value: O::Accumulator) -> O::Accumulator {
    const {
        assert!(
            O::COMMUTATIVE,
            "a butterfly swaps operands: the operation must commute"
        )
    };
    let mut lanes = WARP_SIZE / 2;
    while lanes > 0 {
        let (other, _) = warp_shuffle_xor(FULL_MASK, value, lanes, WARP_SIZE);
        value = O::combine(value, other);
        lanes /= 2;
    }
    value
}

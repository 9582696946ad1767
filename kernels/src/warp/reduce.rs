//! The reduction of one value per lane.

use super::shuffle::swap;
use crate::op::Operation;
use cuda_std::device;
use cuda_std::warp::{WARP_SIZE, lane_id};

/// Combines one value per lane, in the order of the lanes, by a butterfly of shuffles.
///
/// Called by all 32 lanes of the warp; every lane holds the result. Orders no memory. Five steps,
/// and as many roundings in a floating-point sum: at step s, lane i combines with lane i xor 2^s, so
/// that neighbours come first.
#[device]
pub fn reduce<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    reduce_groups::<O, WARP_SIZE>(op, value)
}

/// The same of each `LANES` lanes side by side, a power of two: every lane holds the result of its own.
/// Called by all 32 lanes too; a step for each doubling of `LANES`.
#[device]
pub fn reduce_groups<O: Operation, const LANES: u32>(
    op: O,
    mut value: O::Accumulator,
) -> O::Accumulator {
    const { assert!(LANES.is_power_of_two() && LANES <= WARP_SIZE) };
    let mut apart = 1;
    while apart < LANES {
        let other = swap(value, apart);
        value = if O::COMMUTATIVE || lane_id() & apart == 0 {
            op.combine(value, other)
        } else {
            op.combine(other, value)
        };
        apart *= 2;
    }
    value
}

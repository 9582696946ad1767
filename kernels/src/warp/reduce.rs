//! The reduction of one value per lane.

use super::shuffle::swap;
use crate::op::{Carried, Operation};
use cuda_std::device;
use cuda_std::warp::{WARP_SIZE, lane_id};

/// Combines one value per lane, in the order of the lanes, with a butterfly of shuffles.
///
/// Called by all 32 lanes of the warp; every lane gets the result. Orders no memory. It has five
/// steps, so a floating-point sum has five roundings. At step s, from 0, lane i combines with lane
/// i xor 2^s, so neighbours come first.
#[device]
pub fn reduce<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    reduce_groups::<O, WARP_SIZE>(op, value)
}

/// Like [`reduce`], for each group of `LANES` adjacent lanes, a power of two. Every lane gets the
/// result of its group. Called by all 32 lanes; has log2 `LANES` steps.
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

/// Combines one value per lane within each group of `lanes` adjacent lanes, a power of two, by an
/// operation that commutes, neighbours first as in [`reduce`]. Called by all 32 lanes; all get the
/// result of their group.
#[device]
pub(crate) fn among_lanes<A: Carried>(mut value: A, lanes: u32, combine: impl Fn(A, A) -> A) -> A {
    let mut apart = 1;
    while apart < WARP_SIZE {
        let other = swap(value, apart);
        // An unused shuffle costs less than a branch around it.
        if apart < lanes {
            value = combine(value, other);
        }
        apart *= 2;
    }
    value
}

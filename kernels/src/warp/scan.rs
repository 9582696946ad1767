//! Scans of one value per lane.

use super::shuffle::{of_below, of_lane};
use crate::op::{Carried, Operation};
use cuda_std::device;
use cuda_std::memory::Pack;
use cuda_std::warp::WARP_SIZE;

/// The inclusive scan of one value per lane: lane i gets what lanes 0 to i combine to.
///
/// Called by all 32 lanes of the warp. Orders no memory. Five steps, and at most as many roundings
/// of a floating-point sum: at step s, lane i combines the value of lane i − 2^s, if there is one,
/// with its own (Hillis, Steele: "Data Parallel Algorithms", 1986). Operands stay in order: the
/// operation need not commute. What lane 31 holds is the balanced tree of all lanes, neighbours
/// first.
#[device]
pub fn scan<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    scan_each(op, [value])[0]
}

/// [`scan`] of several values per lane, each by itself: their shuffles are in flight together.
#[device]
pub fn scan_each<O: Operation, P: Pack<O::Accumulator>>(op: O, values: P) -> P {
    // Written out: the compiler would make a loop of it.
    let step = |values: P, distance| {
        P::from_fn(|i| {
            let own = values[i];
            match of_below(own, distance) {
                Some(earlier) => op.combine(earlier, own),
                None => own,
            }
        })
    };
    step(step(step(step(step(values, 1), 2), 4), 8), 16)
}

/// Of a [`scan`], what lies before this lane: the value of the lane below; the identity in lane 0.
///
/// Called by all 32 lanes of the warp. Orders no memory.
#[device]
pub fn before<O: Operation>(op: O, scanned: O::Accumulator) -> O::Accumulator {
    of_below(scanned, 1).unwrap_or(op.identity())
}

/// Of a [`scan`], what all lanes combine to: the value of lane 31.
///
/// Called by all 32 lanes of the warp. Orders no memory.
#[device]
pub fn total<A: Carried>(scanned: A) -> A {
    of_lane(scanned, WARP_SIZE - 1)
}

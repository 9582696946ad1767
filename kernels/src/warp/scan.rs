//! Scans of one value per lane.

use super::shuffle::{of_below, of_below_among, of_lane};
use crate::op::{Carried, Operation};
use cuda_std::device;
use cuda_std::memory::Pack;
use cuda_std::warp::WARP_SIZE;

/// The inclusive scan of one value per lane: lane i gets the values of lanes 0 to i combined.
///
/// Called by all 32 lanes of the warp. Orders no memory. It has five steps, so a floating-point sum
/// has at most five roundings. At step s, from 0, lane i combines the value of lane i − 2^s, if
/// that lane exists, with its own (Hillis, Steele: "Data Parallel Algorithms", 1986). Operands stay
/// in order, so the operation need not commute. Lane 31 gets the balanced tree of all, neighbours
/// first.
#[device]
pub fn scan<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    scan_each(op, [value])[0]
}

/// The exclusive scan of one value per lane: lane i gets the values of the lanes before it
/// combined, and lane 0 the identity.
///
/// Called by all 32 lanes of the warp. Orders no memory. It is [`before`] of a [`scan`]; call the
/// two yourself if you also need the inclusive scan or the [`total`].
#[device]
pub fn scan_exclusive<O: Operation>(op: O, value: O::Accumulator) -> O::Accumulator {
    before(op, scan(op, value))
}

/// Separate [`scan`]s of several values per lane. Their shuffles are in flight together.
#[device]
pub fn scan_each<O: Operation, P: Pack<O::Accumulator>>(op: O, values: P) -> P {
    // Written out, because the compiler would keep a loop as a loop.
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

/// The inclusive scan within segments: lane i gets the values of the lanes from the last start up
/// to i combined. Bit i of `starts` is set if a segment starts at lane i.
///
/// Called by all 32 lanes of the warp. Orders no memory. What is combined, and in which order, is
/// as in a [`scan`] of values that carry the starts; but these are known to all lanes before, so
/// only values are shuffled.
#[device]
pub(crate) fn scan_segments<O: Operation>(
    op: O,
    value: O::Accumulator,
    starts: u32,
    lane: u32,
) -> O::Accumulator {
    // The lanes between this one and the last start up to it. More than there are without a start.
    let reach = (starts << (WARP_SIZE - 1 - lane)).leading_zeros();
    let step = |own, distance| match of_below(own, distance) {
        Some(earlier) if distance <= reach => op.combine(earlier, own),
        _ => own,
    };
    step(step(step(step(step(value, 1), 2), 4), 8), 16)
}

/// Separate [`scan`]s of several values per lane among each `lanes` lanes, a power of two. `lane` is
/// the index of this lane among them.
///
/// Called by all 32 lanes of the warp. Orders no memory. The values have the bits of a [`scan`] in
/// which all other lanes have the identity.
#[device]
pub(crate) fn scan_among<O: Operation, P: Pack<O::Accumulator>>(
    op: O,
    values: P,
    lane: u32,
    lanes: u32,
) -> P {
    let step = |values: P, distance| {
        P::from_fn(|i| {
            let own = values[i];
            let earlier = of_below_among(own, distance, lanes);
            if distance <= lane { op.combine(earlier, own) } else { own }
        })
    };
    step(step(step(step(step(values, 1), 2), 4), 8), 16)
}

/// Makes a [`scan_among`] exclusive: returns the value of the lane below, or the identity in the
/// first of the lanes.
///
/// Called by all 32 lanes of the warp. Orders no memory.
#[device]
pub(crate) fn before_among<O: Operation>(
    op: O,
    scanned: O::Accumulator,
    lane: u32,
    lanes: u32,
) -> O::Accumulator {
    let below = of_below_among(scanned, 1, lanes);
    if lane == 0 { op.identity() } else { below }
}

/// Makes a [`scan`] exclusive: returns the value of the lane below, or the identity in lane 0.
///
/// Called by all 32 lanes of the warp. Orders no memory.
#[device]
pub fn before<O: Operation>(op: O, scanned: O::Accumulator) -> O::Accumulator {
    of_below(scanned, 1).unwrap_or(op.identity())
}

/// The combined value of all lanes of a [`scan`]: the value of lane 31.
///
/// Called by all 32 lanes of the warp. Orders no memory.
#[device]
pub fn total<A: Carried>(scanned: A) -> A {
    of_lane(scanned, WARP_SIZE - 1)
}

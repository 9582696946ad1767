//! The end of a reduction: one block waits for the leaves of all blocks.

use crate::block::ThreadPosition;
use crate::grid::stamped::Stamped;
use crate::op::{Carried, Operation};
use core::array::from_fn;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, warp_vote_all};

/// Waits for this thread's chain of the `count` leaves, and combines it in order. Called by all
/// lanes of a warp.
#[device]
pub(super) fn chain<O: Operation>(
    op: O,
    leaves: Stamped,
    count: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    // As many polls as most chains have leaves. Useless polls would delay the others, and so would
    // instructions that are not in the cache yet.
    if count <= 4 * at.threads && O::Accumulator::WORDS <= 2 {
        chain_by::<O, 4>(op, leaves, count, at)
    } else if O::Accumulator::WORDS <= 2 {
        chain_by::<O, 8>(op, leaves, count, at)
    } else if O::Accumulator::WORDS <= 4 {
        // More would need too many registers.
        chain_by::<O, 4>(op, leaves, count, at)
    } else {
        chain_of_long(op, leaves, count, at)
    }
}

/// [`chain`] with `LOOKS` leaves polled together.
#[device]
fn chain_by<O: Operation, const LOOKS: usize>(
    op: O,
    leaves: Stamped,
    count: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    let (mut next, step, end) = leaves_of::<O>(count, at);
    let mut chain = op.identity();
    // An iteration takes several leaves or none, and loads missing ones again. The lanes of a warp
    // repeat together: separately, each would make its own requests.
    spin::until(|| {
        if next < end {
            // All loads are in flight together. Those past the end load the first leaf instead.
            let looked: [_; LOOKS] = from_fn(|i| {
                let leaf = next + i as u32 * step;
                let leaf = if leaf < end { leaf } else { next };
                leaves.look::<O::Accumulator>(leaf as usize)
            });
            let mut came = true;
            // An iterator would put the array into local memory.
            #[allow(clippy::needless_range_loop)]
            for i in 0..LOOKS {
                came = came && next < end && leaves.is_new::<O::Accumulator>(looked[i]);
                if came {
                    chain = op.combine(chain, looked[i].value());
                    next += step;
                }
            }
        }
        warp_vote_all(FULL_MASK, next >= end)
    });
    chain
}

/// [`chain`] of leaves of any size, polled one by one.
#[device]
fn chain_of_long<O: Operation>(
    op: O,
    leaves: Stamped,
    count: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    let (mut next, step, end) = leaves_of::<O>(count, at);
    let mut chain = op.identity();
    spin::until(|| {
        if next < end {
            let (is_new, leaf) = leaves.look_once(next as usize);
            if is_new {
                chain = op.combine(chain, leaf);
                next += step;
            }
        }
        warp_vote_all(FULL_MASK, next >= end)
    });
    chain
}

/// The first leaf of this thread's chain, the distance to the next one, and the end.
#[device]
fn leaves_of<O: Operation>(count: u32, at: ThreadPosition) -> (u32, u32, u32) {
    match O::COMMUTATIVE {
        // Adjacent threads poll adjacent leaves: fewer lines to load.
        true => (at.thread, at.threads, count),
        false => {
            let each = count.div_ceil(at.threads);
            let first = at.thread * each;
            (first, 1, (first + each).min(count))
        }
    }
}

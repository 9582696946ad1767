//! The end of a reduction: one block waits for the leaves of all.

use crate::block::ThreadPosition;
use crate::grid::stamped::Stamped;
use crate::op::{Carried, Operation};
use core::array::from_fn;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, warp_vote_all};

/// Waits for the leaves of this thread's chain, of `count` in all, and combines them in order. By all
/// lanes of a warp.
#[device]
pub(super) fn chain<O: Operation>(
    op: O,
    leaves: Stamped,
    count: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    // As many looks as most chains have leaves: what is looked at in vain holds up what is not, and
    // code that is not run before comes from memory.
    if count <= 4 * at.threads && O::Accumulator::WORDS <= 2 {
        chain_by::<O, 4>(op, leaves, count, at)
    } else if O::Accumulator::WORDS <= 2 {
        chain_by::<O, 8>(op, leaves, count, at)
    } else {
        // As many as registers are left for.
        chain_by::<O, 4>(op, leaves, count, at)
    }
}

/// The same, looking at `LOOKS` leaves at once.
#[device]
fn chain_by<O: Operation, const LOOKS: usize>(
    op: O,
    leaves: Stamped,
    count: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    let (mut next, step, end) = match O::COMMUTATIVE {
        // Leaves that lie side by side go to threads that do: fewer lines to load.
        true => (at.thread, at.threads, count),
        false => {
            let each = count.div_ceil(at.threads);
            let first = at.thread * each;
            (first, 1, (first + each).min(count))
        }
    };
    let mut chain = op.identity();
    // A turn takes some leaves, or none: what is not there yet is looked for again. The lanes of a warp
    // go round together: each by itself would make a request of its own for each of its looks.
    spin::until(|| {
        if next < end {
            // All looks are in flight together; one past the end goes to the first.
            let looked: [_; LOOKS] = from_fn(|i| {
                let leaf = next + i as u32 * step;
                let leaf = if leaf < end { leaf } else { next };
                leaves.look::<O::Accumulator>(leaf as usize)
            });
            let mut came = true;
            // An iterator over the array would put it into local memory.
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

//! The reduction of an array whose runs are with the ranks.

use super::{Ranks, RanksError};
use crate::primitives::PartReducible;
use crate::primitives::parts::leaves::{from_bytes, from_leaves, to_bytes};

/// The reduction of an array of `len` elements, from the leaves of all ranks: every rank gets the
/// result, to the bits of one reduction of the whole array on one device.
///
/// `leaves` are those that this rank has computed by [`Leaves`](crate::primitives::parts::Leaves),
/// of its run. The runs of the ranks are in the order of the ranks and cover the array: see
/// [`Cut::run`](crate::primitives::parts::Cut::run), and for parts that were given
/// [`Borders`](super::Borders). At most 4096 leaves of at most 16 bytes travel.
///
/// # Errors
/// If a rank is lost or has failed, and errors of NCCL.
///
/// # Panics
/// If all leaves together are not as many as such an array has.
pub fn reduce<O: PartReducible>(
    ranks: &mut Ranks,
    op: O,
    len: usize,
    leaves: &[O::Accumulator],
) -> Result<O::Output, RanksError> {
    let mut all = Vec::new();
    for (rank, bytes) in (0..).zip(ranks.all_gather(&to_bytes(leaves))?) {
        let leaves = from_bytes::<O::Accumulator>(&bytes);
        all.extend(leaves.ok_or_else(|| RanksError::OutOfStep {
            rank,
            sent: format!("{} bytes", bytes.len()),
            expected: "whole leaves of the tree",
        })?);
    }
    Ok(from_leaves(op, len, &all))
}

//! Reduction of an array that is distributed over the ranks.

use super::{Ranks, RanksError};
use bytemuck::Pod;
use gridsync::primitives::PartReducible;
use gridsync::primitives::parts::{
    Cut, Leaves, from_leaves, leaves_from_bytes, leaves_to_bytes, settle,
};
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::Operation;
use std::ops::Range;

/// Bytes before the leaves of a rank: the length of the array, and the start and end of its run.
const HEAD: usize = 3 * 8;

/// Reduces an array from the leaves of all ranks. Every rank gets the result, bit-identical to a
/// reduction of the whole array on one device. A mean whose sum overflows is still finite if all
/// elements are.
///
/// `leaves` are the leaves that this rank computed from its run. The runs must be in rank order and
/// cover the array: see [`Cut::run`](gridsync::primitives::parts::Cut::run), or
/// [`Borders`](super::Borders) for given parts. At most 4096 leaves of at most 16 bytes are sent;
/// twice as many for a mean that is not finite at first.
///
/// # Errors
/// If a rank was lost or has failed, if NCCL fails, and with [`RanksError::WrongLeaves`] if the
/// runs do not cover the array exactly once, or a rank sent more or fewer leaves than its run has.
///
/// # Panics
/// If not all elements of the run were consumed.
pub fn reduce<O: PartReducible<Element: Pod>>(
    ranks: &mut Ranks,
    leaves: Leaves<O>,
) -> Result<O::Output, RanksError> {
    let (op, len, run) = leaves.about();
    // All ranks have the same first result, so either all need a second one or none does.
    settle::<O, _>(leaves.finish_with_scaled(), |leaves| {
        reduce_leaves(ranks, op, len, run.clone(), leaves)
    })
}

/// Reduces these leaves, computed from the elements `run`, together with those of all other ranks.
pub(super) fn reduce_leaves<O: PartReducible>(
    ranks: &mut Ranks,
    op: O,
    len: usize,
    run: Range<usize>,
    leaves: &[O::Accumulator],
) -> Result<O::Output, RanksError> {
    let head = [len, run.start, run.end].map(|number| (number as u64).to_le_bytes());
    let own = [head.concat(), leaves_to_bytes(leaves)].concat();
    let unit = Cut::of::<O>(len).unit() as u64;
    let (mut all, mut covered) = (Vec::new(), 0);
    let gathered = ranks.all_gather(&own)?;
    let last = gathered.len() - 1;
    for (rank, bytes) in (0..).zip(&gathered) {
        let read = bytes.split_at_checked(HEAD).and_then(|(head, leaves)| {
            let mut numbers = head.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
            let numbers: [u64; 3] = std::array::from_fn(|_| numbers.next().unwrap_or_default());
            Some((numbers, leaves_from_bytes::<O::Accumulator>(leaves)?))
        });
        let ([of, start, end], leaves) = read.ok_or_else(|| RanksError::OutOfStep {
            rank,
            sent: format!("{} bytes", bytes.len()),
            expected: "whole leaves of the tree",
        })?;
        let wrong = |expected: String| {
            let found = leaves.len();
            Err(RanksError::WrongLeaves { rank, start, end, len: of, found, expected })
        };
        if of != len as u64 {
            return wrong(format!("the array of rank {} has {len} elements", ranks.rank()));
        }
        // An empty run may start anywhere.
        if start != end {
            if start != covered || end < start || end > of {
                return wrong(format!("those from {covered} were expected"));
            }
            if start % unit != 0 {
                return wrong(format!("a run begins at a multiple of {unit}"));
            }
            covered = end;
        }
        if rank as usize == last && covered != of {
            return wrong(format!("those up to {of} were expected"));
        }
        let due = count_of::<O>(len, start as usize..end as usize);
        if !due.contains(&leaves.len()) {
            return wrong(format!("{} were expected", due[0]));
        }
        all.extend(leaves);
    }
    Ok(from_leaves(op, len, &all))
}

/// The number of leaves that a run of an array of `len` elements may have. A device may reduce the
/// whole array to one.
fn count_of<O: Operation>(len: usize, run: Range<usize>) -> Vec<usize> {
    let shape = Shape::of::<O::Element>(len);
    let whole = shape.leaves() as usize;
    match run.len() {
        0 => vec![0],
        _ if O::EXACT => vec![1],
        all if all == len => vec![whole, 1],
        some => vec![some.div_ceil(shape.tile::<O::Element>())],
    }
}

//! What is left of the last segment at the end of a part of the array.

use crate::block::{Prefix, ThreadPosition};
use crate::grid::tiles::segmented_across_warps;
use crate::op::{Operation, Segment};
use crate::warp::Segmented;
use cuda_std::prelude::*;

/// `O` for the last segment of adjacent parts of an array: a part in which a segment ends drops
/// what was before it. It does not commute.
#[derive(Clone, Copy, Debug)]
pub struct Tails<O>(O);

impl<O> Tails<O> {
    /// `op` for the last segments.
    #[inline(always)]
    #[must_use]
    pub const fn new(op: O) -> Self {
        Self(op)
    }
}

impl<O: Operation> Operation for Tails<O> {
    type Element = O::Element;
    type Accumulator = Segment<O::Accumulator>;
    type Output = O::Output;
    const COMMUTATIVE: bool = false;
    const EXACT: bool = O::EXACT;
    const LONG: bool = O::LONG;

    #[inline(always)]
    fn identity(self) -> Self::Accumulator {
        Segment { starts: false, value: self.0.identity() }
    }

    #[inline(always)]
    fn lift(self, element: O::Element, index: u64) -> Self::Accumulator {
        Segment { starts: false, value: self.0.lift(element, index) }
    }

    #[inline(always)]
    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        let value = if b.starts { b.value } else { self.0.combine(a.value, b.value) };
        Segment { starts: a.starts || b.starts, value }
    }

    #[inline(always)]
    fn finish(self, all: Self::Accumulator) -> O::Output {
        self.0.finish(all.value)
    }
}

/// The exclusive scan of [`Tails`] over the threads of a block, in the order of the
/// [scan of any operation](crate::block::scan_exclusive): with the same bits. Called by all threads
/// of the block. It contains a block barrier.
#[device]
pub(super) fn scan<O: Operation>(
    op: O,
    last: Segment<O::Accumulator>,
    at: ThreadPosition,
) -> Prefix<Segment<O::Accumulator>> {
    let joined = Tails::new(op);
    let in_warp = Segmented::of(op, last, at.lane);
    let (before, all) = segmented_across_warps(op, in_warp.total(), at);
    Prefix { before: joined.combine(before, in_warp.before(op, at.lane)), all }
}

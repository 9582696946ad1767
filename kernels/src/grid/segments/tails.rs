//! What is left of the last segment at the end of a part of the array.

use crate::block::{Prefix, Slots, ThreadPosition};
use crate::grid::tiles::MOST_WARPS;
use crate::op::{Carried, Operation, Segment};
use crate::warp::{self, of_lane, scan_segments};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, warp_vote_ballot};

shared_array! {
    /// The total of each warp, in at most four words each.
    fn gridsync_segments_warps() -> [u32; 4 * MOST_WARPS as usize];
}

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
    let in_warp = Scanned::of(op, last, at.lane);
    let totals = Slots::<4>::new(gridsync_segments_warps());
    let total = in_warp.total();
    if at.lane == 0 {
        totals.write(at.warp as usize, total);
    }
    thread::sync_threads();
    let is_there = at.lane < at.warps;
    let of_warp = if is_there { totals.read(at.lane as usize) } else { joined.identity() };
    let of_warps = Scanned::of(op, of_warp, at.lane);
    Prefix {
        before: joined.combine(of_warps.before(op, at.warp), in_warp.before(op, at.lane)),
        all: of_warps.total(),
    }
}

/// The scan of [`Tails`] over the lanes of a warp.
#[derive(Clone, Copy)]
struct Scanned<A> {
    /// Bit i is set if a segment starts in the values of lane i.
    starts: u32,
    /// The value up to this lane.
    value: A,
}

impl<A: Carried> Scanned<A> {
    /// Scans `last`. Called by all lanes of the warp, as are the other functions.
    #[device]
    fn of<O: Operation<Accumulator = A>>(op: O, last: Segment<A>, lane: u32) -> Self {
        let starts = warp_vote_ballot(FULL_MASK, last.starts);
        Self { starts, value: scan_segments(op, last.value, starts, lane) }
    }

    /// What is before the values of `lane`.
    #[device]
    fn before<O: Operation<Accumulator = A>>(self, op: O, lane: u32) -> Segment<A> {
        let below = of_lane(self.value, lane.saturating_sub(1));
        let value = if lane > 0 { below } else { op.identity() };
        Segment { starts: self.starts & ((1 << lane) - 1) != 0, value }
    }

    /// What is left after all lanes.
    #[device]
    fn total(self) -> Segment<A> {
        Segment { starts: self.starts != 0, value: warp::total(self.value) }
    }
}

//! The scan within segments over the lanes of a warp.

use super::scan::scan_segments;
use super::{of_lane, total};
use crate::op::{Carried, Operation, Segment};
use cuda_std::device;
use cuda_std::warp::{FULL_MASK, warp_vote_ballot};

/// The inclusive scan within segments over the lanes of a warp, of one value per lane.
#[derive(Clone, Copy)]
pub(crate) struct Segmented<A> {
    /// Bit i is set if a segment starts in the values of lane i.
    starts: u32,
    /// The value up to this lane.
    value: A,
}

impl<A: Carried> Segmented<A> {
    /// Scans `own`, the value of this lane since the last start in it. Called by all lanes of the
    /// warp, as are the other functions. Orders no memory.
    #[device]
    pub(crate) fn of<O: Operation<Accumulator = A>>(op: O, own: Segment<A>, lane: u32) -> Self {
        let starts = warp_vote_ballot(FULL_MASK, own.starts);
        Self { starts, value: scan_segments(op, own.value, starts, lane) }
    }

    /// What is before the values of `lane`.
    #[device]
    pub(crate) fn before<O: Operation<Accumulator = A>>(self, op: O, lane: u32) -> Segment<A> {
        let below = of_lane(self.value, lane.saturating_sub(1));
        let value = if lane > 0 { below } else { op.identity() };
        Segment { starts: self.starts & ((1 << lane) - 1) != 0, value }
    }

    /// What is left after all lanes.
    #[device]
    pub(crate) fn total(self) -> Segment<A> {
        Segment { starts: self.starts != 0, value: total(self.value) }
    }
}

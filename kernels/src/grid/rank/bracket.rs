//! The bracket of a filter: which keys are in it, and how many come before.

use crate::grid::select::Aside;
use crate::grid::sort::{Order, Word};
use crate::op::Sum;
use crate::warp;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;

/// An end of a [`Bracket`] that is open.
pub const OPEN: u32 = u32::MAX;

/// Two keys of a sorted sample, both included with all that are equal to them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// The index of the first, or [`OPEN`].
    pub low: u32,
    /// The index of the last, or [`OPEN`].
    pub high: u32,
    /// Not 0 if the filter also looks for a key with the last number.
    pub looks_for_last: u32,
}

// SAFETY: `repr(C)` of plain numbers.
unsafe impl KernelArg for Bracket {}

/// The [places](Order::place) of the keys in a bracket.
#[derive(Clone, Copy)]
pub(super) struct Span<W> {
    low: W,
    /// The last minus the first.
    width: W,
    /// Whether all these keys have one number.
    pub(super) is_one: bool,
}

impl<W: Word> Span<W> {
    /// The places in the bracket.
    #[device]
    pub(super) fn of<O: Order<Word = W>>(order: O, sample: Global<W>, bracket: Bracket) -> Self {
        let mut span = [W::default(), W::ONES];
        let mut is_one = false;
        if bracket.low != OPEN {
            span[0] = order.span(sample.read(bracket.low as usize))[0];
        }
        if bracket.high != OPEN {
            let [first, last] = order.span(sample.read(bracket.high as usize));
            span[1] = last;
            is_one = first == span[0];
        }
        Self { low: span[0], width: span[1].minus(span[0]), is_one }
    }

    /// Whether a place is in the bracket.
    #[inline(always)]
    pub(super) fn contains(self, place: W) -> bool {
        place.minus(self.low) <= self.width
    }

    /// Whether the bracket is after a place.
    #[inline(always)]
    pub(super) fn is_after(self, place: W) -> bool {
        place < self.low
    }
}

/// Counts the keys before the bracket.
#[derive(Clone, Copy)]
pub(super) struct Before {
    /// Of this lane.
    pub(super) count: u32,
    /// Of all tiles: one number.
    pub(super) total: Global<u64>,
}

impl Aside for Before {
    #[inline(always)]
    fn with(self, kept: u32) -> u32 {
        warp::reduce(Sum::<u32>::new(), self.count) << 16 | kept
    }

    #[inline(always)]
    fn kept(sum: u32) -> u32 {
        sum & 0xffff
    }

    #[inline(always)]
    fn add(self, sum: u32, thread: u32) {
        if thread == 0 && sum >> 16 != 0 {
            // Relaxed: read after the launch.
            self.total.fetch_add(0, (sum >> 16).into(), Ordering::Relaxed, Scope::Device);
        }
    }

    #[inline(always)]
    fn in_room(start: usize, len: usize, room: usize) -> (usize, usize) {
        let start = start.min(room);
        (start, len.min(room - start))
    }
}

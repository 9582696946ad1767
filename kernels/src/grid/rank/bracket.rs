//! The bracket of a filter: which keys are in it, and which are below.

use crate::grid::sort::{Order, Word};
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

/// An interval of [places](Order::place) on the circle.
#[derive(Clone, Copy)]
pub(super) struct Span<W> {
    first: W,
    /// The last place minus the first.
    width: W,
    /// The end of the circle minus the first.
    end: W,
    /// Whether all these keys have one number.
    pub(super) is_one: bool,
}

impl<W: Word> Span<W> {
    /// The places in the bracket of a sorted sample.
    #[device]
    pub(super) fn of<O: Order<Word = W>>(order: O, sample: Global<W>, bracket: Bracket) -> Self {
        let key = |index: u32| sample.read(index as usize);
        let (mut first, mut last) = (order.origin(), order.origin().minus(W::ONE));
        let is_one = bracket.low != OPEN
            && bracket.high != OPEN
            && order.number(key(bracket.low)) == order.number(key(bracket.high));
        let (low, high) = if order.is_descending() {
            (bracket.high, bracket.low)
        } else {
            (bracket.low, bracket.high)
        };
        if low != OPEN {
            [first, _] = order.span(key(low));
        }
        if high != OPEN {
            [_, last] = order.span(key(high));
        }
        let end = order.origin().minus(W::ONE).minus(first);
        Self { first, width: last.minus(first), end, is_one }
    }

    /// The places of the keys with the last number of the order.
    #[device]
    pub(super) fn of_last<O: Order<Word = W>>(order: O) -> Self {
        let [first, last] = order.span(order.last());
        let end = order.origin().minus(W::ONE).minus(first);
        Self { first, width: last.minus(first), end, is_one: true }
    }

    /// Whether a place is in the interval.
    #[inline(always)]
    pub(super) fn contains(self, place: W) -> bool {
        place.minus(self.first) <= self.width
    }

    /// Whether a place is below the interval: between the origin and its first place.
    #[inline(always)]
    pub(super) fn is_below(self, place: W) -> bool {
        place.minus(self.first) > self.end
    }
}

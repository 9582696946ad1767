//! What is left of the last segment at the end of a part of the array.

use crate::op::{Operation, Segment};

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

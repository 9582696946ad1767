//! A linear recurrence: each value follows from the previous one and the next element.

use super::{Affine, Compose, Operation};
use cuda_std::launch::KernelArg;

/// x ← factor·x + summand for each element in turn, on u32 with wrap-around. Each element
/// [encodes](Affine::from_bits) its factor and summand. A scan gives every x, a reduction the last
/// one.
///
/// It is [`Compose`] applied to the starting value (Blelloch, "Prefix Sums and Their Applications",
/// 1990, 1.4), and does not commute.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Recurrence {
    start: u32,
}

// SAFETY: `repr(C)`, with one number as its field.
unsafe impl KernelArg for Recurrence {}

impl Recurrence {
    /// The recurrence that starts at `start`.
    #[inline(always)]
    #[must_use]
    pub const fn new(start: u32) -> Self {
        Self { start }
    }
}

impl Operation for Recurrence {
    type Element = u64;
    type Accumulator = Affine;
    type Output = u32;
    const COMMUTATIVE: bool = false;
    const EXACT: bool = true;

    #[inline(always)]
    fn identity(self) -> Affine {
        Compose.identity()
    }

    #[inline(always)]
    fn lift(self, element: u64, index: u64) -> Affine {
        Compose.lift(element, index)
    }

    #[inline(always)]
    fn combine(self, a: Affine, b: Affine) -> Affine {
        a.then(b)
    }

    #[inline(always)]
    fn finish(self, all: Affine) -> u32 {
        all.of(self.start)
    }
}

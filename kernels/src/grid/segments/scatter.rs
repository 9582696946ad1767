//! Combines the results of segments with the elements of an array.

use crate::grid::overlap::begin;
use crate::op::{Carried, Operation, from_each_word};
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;

/// The index of each segment in the array. One of the views is empty.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    /// Indices of 32 bits.
    pub narrow: Global<u32>,
    /// Indices of 64 bits.
    pub wide: Global<u64>,
}

// SAFETY: `repr(C)` of views, which are the same on host and device.
unsafe impl KernelArg for Scattered {}

impl Scattered {
    /// The index of `segment`.
    #[inline(always)]
    fn of(self, segment: usize) -> usize {
        if self.wide.is_empty() {
            self.narrow.read(segment) as usize
        } else {
            self.wide.read(segment) as usize
        }
    }
}

/// Sets each element of `into` that has the index of a segment to `op` of that element and of the
/// segment's result, in this order. `results` has the words of an accumulator for each segment.
///
/// Called by every thread of a grid along x with at least a thread for each segment. `indices` has
/// as many, all different and less than the length of `into`. Nothing else accesses `into`, or
/// writes the other views, while the kernel runs. The launch may [overlap](cuda_std::dependent) the
/// kernel before it.
#[device]
pub fn scatter<O>(op: O, results: Global<u32>, indices: Scattered, into: Global<O::Output>)
where
    O: Operation<Accumulator: Scalar, Output = <O as Operation>::Accumulator>,
{
    begin();
    let (segment, words) = (thread::index(), O::Accumulator::WORDS);
    if segment < results.len() / words {
        let at = indices.of(segment);
        let result = from_each_word(|i| results.read(segment * words + i));
        into.write(at, op.finish(op.combine(into.read(at), result)));
    }
}

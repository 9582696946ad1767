//! Reductions, part by part.

use super::PartError;
use super::leaves::{Leaves, from_leaves};
use super::overflow::{self, Overflow, Scale};
use super::shared::{SharedPart, Uploaded};
use crate::device::Devices;
use bytemuck::Pod;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Describe, Finish, Indexed, LogSumExp, Max,
    Mean, Min, Operation, Or, PeakToPeak, Product, ProductModulo, SkipNan, Sum, SumOfMagnitudes,
    SumOfSquares, Then, Variance, WideSum, Xor,
};
use std::convert::Infallible;

/// A reduction that supports arrays in parts.
pub trait PartReducible: Reducible {
    /// How the result is recomputed if accumulators overflow but the result does not, as for means
    /// of floating-point numbers. `None` if that cannot happen.
    const OVERFLOW: Option<Overflow<Self>> = None;

    /// The value of `all` if its first element had index `by` in the array instead of 0.
    #[must_use]
    #[inline]
    fn moved(all: Self::Accumulator, by: u64) -> Self::Accumulator {
        let _ = by;
        all
    }
}

macro_rules! wherever_they_stand {
    ($($op:ident<$($of:ident),*>),*) => {$(
        impl<$($of),*> PartReducible for $op<$($of),*> where Self: Reducible {}
    )*};
}
wherever_they_stand! {
    Sum<T, A>, Product<T, A>, Min<T, A>, Max<T, A>, Count<T>, Xor<T>, And<T>, Or<T>,
    CompensatedSum<T>, ProductModulo<T>, WideSum<T>, PeakToPeak<T, A>, SumOfSquares<T>,
    SumOfMagnitudes<T>, Variance<T>, LogSumExp<T>, Describe<T>
}
impl<O: PartReducible> PartReducible for SkipNan<O>
where
    Self: Reducible<Accumulator = O::Accumulator>,
{
    #[inline]
    fn moved(all: O::Accumulator, by: u64) -> O::Accumulator {
        O::moved(all, by)
    }
}
impl<O: PartReducible, F: Finish<O>> PartReducible for Then<O, F>
where
    Self: Reducible<Accumulator = O::Accumulator>,
{
    #[inline]
    fn moved(all: O::Accumulator, by: u64) -> O::Accumulator {
        O::moved(all, by)
    }
}
impl<O> PartReducible for Mean<O>
where
    O: Operation<Element: Scale, Accumulator: Scale>,
    Self: Reducible<Element = O::Element, Accumulator = O::Accumulator, Output = Option<f64>>,
{
    const OVERFLOW: Option<Overflow<Self>> = Overflow::OF_MEAN;
}
impl PartReducible for Compose {}

macro_rules! by_index {
    ($($op:ident),*) => {$(
        impl<T, A> PartReducible for $op<T, A>
        where
            Self: Reducible<Accumulator = Indexed<A>>,
        {
            #[inline]
            fn moved(found: Indexed<A>, by: u64) -> Indexed<A> {
                match found.index {
                    // The identity has no index.
                    u64::MAX => found,
                    index => Indexed { index: index + by, ..found },
                }
            }
        }
    )*};
}
by_index!(ArgMin, ArgMax);

/// A reduction of an array that is passed part by part, on the CPU or on a device with room for one
/// part.
///
/// The bits are the same as in one reduction of the whole array, but a mean whose sum overflows is
/// still finite if all elements are. Unless the operation is exact, the host gets every leaf of the
/// tree from the devices, and combines them.
pub struct PartReducer<O: PartReducible> {
    leaves: Leaves<O>,
}

impl<O: PartReducible<Element: Pod>> PartReducer<O> {
    /// A reduction of `len` elements on `devices`, about `part` of them at a time. Unless the
    /// operation is exact, a part is rounded to a multiple of
    /// [`Shape::tile`](gridsync_kernels::grid::reduce::Shape::tile) of the whole array, and is at
    /// least one tile. An array of up to 4 MiB is reduced whole. Several devices share each part.
    ///
    /// # Errors
    /// If a device fails.
    pub fn new(
        op: O,
        devices: impl Into<Devices>,
        len: usize,
        part: usize,
    ) -> Result<Self, PartError> {
        Ok(Self { leaves: Leaves::new(op, devices, len, 0..len, part)? })
    }

    /// A reduction of `len` elements on all cores of the CPU, in parts of the same size.
    #[must_use]
    pub fn on_cpu(op: O, len: usize, part: usize) -> Self {
        Self { leaves: Leaves::on_cpu(op, len, 0..len, part) }
    }

    /// A reduction that gets its parts from `room`, where others get them too.
    ///
    /// # Errors
    /// If a device fails.
    pub fn sharing(op: O, room: &SharedPart<O::Element>) -> Result<Self, PartError> {
        Ok(Self { leaves: Leaves::sharing(op, room, 0..room.array())? })
    }

    /// Length of every part except the last one, which has the rest.
    #[must_use]
    pub fn part(&self) -> usize {
        self.leaves.part()
    }

    /// Adds the next part.
    ///
    /// # Errors
    /// If the device fails. Then the part was not added, and may be retried.
    ///
    /// # Panics
    /// If it is longer than a [`part`](Self::part), or if the reduction [shares](Self::sharing) its
    /// parts.
    pub fn next(&mut self, elements: &[O::Element]) -> Result<(), PartError> {
        self.leaves.next(elements)
    }

    /// Adds the next part, which the [room](Self::sharing) of the reduction has.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    ///
    /// # Panics
    /// If the part is in a room for another array, or for parts or devices of another number.
    pub fn next_uploaded(&mut self, part: &Uploaded<'_, O::Element>) -> Result<(), PartError> {
        self.leaves.next_uploaded(part)
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.leaves.us()
    }

    /// The result. All parts must have been added.
    ///
    /// # Panics
    /// If parts are missing.
    #[must_use]
    pub fn finish(self) -> O::Output {
        let (op, len, _) = self.leaves.about();
        let result_of = |leaves: &[O::Accumulator]| Ok(from_leaves(op, len, leaves));
        let Ok(result) =
            overflow::settle::<O, Infallible>(self.leaves.finish_with_scaled(), result_of);
        result
    }
}

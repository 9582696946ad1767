//! Reductions, part by part.

use super::PartError;
use super::leaves::{Leaves, from_leaves};
use crate::device::Devices;
use bytemuck::Pod;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Indexed, Max, Mean, Min, Or, Product,
    ProductModulo, Sum, WideSum, Xor,
};

/// A reduction that an array can go through part by part.
pub trait PartReducible: Reducible {
    /// What `all` would be if its first element were element number `by` of the array instead of
    /// number 0.
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
    CompensatedSum<T>, ProductModulo<T>, WideSum<T>, Mean<O>
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
                    // The identity has no place.
                    u64::MAX => found,
                    index => Indexed { index: index + by, ..found },
                }
            }
        }
    )*};
}
by_index!(ArgMin, ArgMax);

/// A reduction of an array that comes part by part, on the CPU or on a device with room for one
/// part.
///
/// The bits are the same as in one reduction of the whole array. Unless the operation is exact, the
/// host gets every leaf of the tree from the devices, and combines them.
pub struct PartReducer<O: PartReducible> {
    op: O,
    len: usize,
    leaves: Leaves<O>,
}

impl<O: PartReducible<Element: Pod>> PartReducer<O> {
    /// A reduction of `len` elements on `devices`, about `part` of them at a time. Unless the
    /// operation is exact, a part is rounded to a multiple of
    /// [`Shape::tile`](gridsync_kernels::grid::reduce::Shape::tile) of the whole array, and is at
    /// least one tile. An array of up to 4 MiB is taken whole. Several devices share each part.
    ///
    /// # Errors
    /// Errors of the devices.
    pub fn new(
        op: O,
        devices: impl Into<Devices>,
        len: usize,
        part: usize,
    ) -> Result<Self, PartError> {
        Ok(Self { op, len, leaves: Leaves::new(op, devices, len, 0..len, part)? })
    }

    /// A reduction of `len` elements on all cores of the CPU, in parts of the same size.
    #[must_use]
    pub fn on_cpu(op: O, len: usize, part: usize) -> Self {
        Self { op, len, leaves: Leaves::on_cpu(op, len, 0..len, part) }
    }

    /// Elements of every part except the last one, which has the rest.
    #[must_use]
    pub fn part(&self) -> usize {
        self.leaves.part()
    }

    /// Takes the next part.
    ///
    /// # Errors
    /// Errors of the device. Then the part counts as not taken, and may be tried again.
    ///
    /// # Panics
    /// If it is longer than a [`part`](Self::part).
    pub fn next(&mut self, elements: &[O::Element]) -> Result<(), PartError> {
        self.leaves.next(elements)
    }

    /// µs that the kernels, or the CPU, have taken so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.leaves.us()
    }

    /// The result. All parts have to be taken before.
    ///
    /// # Panics
    /// If some were not.
    #[must_use]
    pub fn finish(self) -> O::Output {
        from_leaves(self.op, self.len, &self.leaves.finish())
    }
}

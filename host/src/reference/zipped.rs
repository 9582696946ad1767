//! Reductions of a function of two arrays.

use super::reduce;
use cuda_std::memory::Scalar;
use gridsync_kernels::op::{Map, Mapped, Operation};
use std::marker::PhantomData;

/// Reduces the values of `F` at pairs of elements of `x` and `y` by `O`: as
/// [`Zipped`](gridsync_kernels::op::Zipped) does on a device, with the same bits.
///
/// # Panics
/// If `y` is shorter than `x`.
pub fn reduce_zipped<F, O, X, Y>(x: &[X], y: &[Y]) -> O::Output
where
    F: Map<From = (X, Y)> + Default,
    O: Operation<Element = F::To> + Default,
    X: Scalar,
    Y: Scalar,
{
    assert!(y.len() >= x.len(), "{} elements for {}", y.len(), x.len());
    // The reduction has ended before the borrow of `y` does.
    let on_host = OnHost::<F, Y> { other: y, map: PhantomData };
    reduce(Mapped::<_, O>::new(on_host), x)
}

/// `F` of pairs, of which the second is in host memory.
struct OnHost<F, Y> {
    other: *const [Y],
    map: PhantomData<fn() -> F>,
}

impl<F, Y> Clone for OnHost<F, Y> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, Y> Copy for OnHost<F, Y> {}

// SAFETY: the elements are only read, and live as long as this is used.
unsafe impl<F, Y: Sync> Send for OnHost<F, Y> {}
// SAFETY: the same.
unsafe impl<F, Y: Sync> Sync for OnHost<F, Y> {}

impl<F: Map<From = (X, Y)> + Default, X: Scalar, Y: Scalar> Map for OnHost<F, Y> {
    type From = X;
    type To = F::To;

    #[inline]
    fn map(self, x: X, index: u64) -> F::To {
        // SAFETY: `reduce_zipped` borrows the elements until the reduction has ended.
        let other = unsafe { &*self.other };
        F::default().map((x, other[index as usize]), index)
    }
}

//! Operations on a function of the elements, or of two arrays, that is never stored.

use super::Operation;
use core::marker::PhantomData;
use cuda_std::device;
use cuda_std::launch::KernelArg;
use cuda_std::memory::{Global, Scalar};

/// A function of an element and its index. With [`Mapped`] any operation reduces or scans its
/// values.
///
/// It may ignore the index, or use it: here the sum of i·x\[i\], from which a centroid is computed.
///
/// ```
/// use gridsync_kernels::op::{Map, Mapped, Operation, Sum};
///
/// #[derive(Clone, Copy)]
/// struct Moment;
///
/// impl Map for Moment {
///     type From = f32;
///     type To = f64;
///
///     fn map(self, x: f32, index: u64) -> f64 {
///         index as f64 * f64::from(x)
///     }
/// }
///
/// let moments = Mapped::<Moment, Sum<f64>>::new(Moment);
/// let all = moments.take(moments.lift(7.0, 0), 2.5, 4);
/// assert_eq!(moments.finish(all), 10.0);
/// ```
pub trait Map: Copy + Send + Sync + 'static {
    /// The elements: of one array, or pairs of those of two arrays, for [`Zipped`].
    type From: Copy;
    /// The values.
    type To: Scalar;

    /// Whether [`map`](Self::map) is long, as for [`Operation::LONG`]. It changes no result.
    const LONG: bool = false;

    /// The value for element `x` at index `index` of the array.
    fn map(self, x: Self::From, index: u64) -> Self::To;
}

/// `O` of the values of `F` instead of the elements: `Mapped<Square, Sum<f64>>` is a sum of squares.
///
/// `O` is made by `Default`. `F` may have fields: then a kernel has this as a parameter.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Mapped<F, O> {
    map: F,
    op: PhantomData<fn() -> O>,
}

// SAFETY: its only field with data is `map`.
unsafe impl<F: KernelArg, O: 'static + Copy> KernelArg for Mapped<F, O> {}

impl<F, O> Mapped<F, O> {
    /// `O` of the values of `map`.
    #[inline(always)]
    #[must_use]
    pub const fn new(map: F) -> Self {
        Self { map, op: PhantomData }
    }
}

impl<F: Map<From: Scalar>, O: Operation<Element = F::To> + Default> Operation for Mapped<F, O> {
    type Element = F::From;
    type Accumulator = O::Accumulator;
    type Output = O::Output;
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    const EXACT: bool = O::EXACT;
    const LONG: bool = O::LONG || F::LONG;
    const NEEDS_LEN: bool = O::NEEDS_LEN;

    #[inline(always)]
    fn identity(self) -> O::Accumulator {
        O::default().identity()
    }

    #[inline(always)]
    fn lift(self, element: F::From, index: u64) -> O::Accumulator {
        O::default().lift(self.map.map(element, index), index)
    }

    #[inline(always)]
    fn combine(self, a: O::Accumulator, b: O::Accumulator) -> O::Accumulator {
        O::default().combine(a, b)
    }

    #[inline(always)]
    fn take(self, all: O::Accumulator, element: F::From, index: u64) -> O::Accumulator {
        O::default().take(all, self.map.map(element, index), index)
    }

    #[inline(always)]
    fn before(self, before: O::Accumulator, index: u64) -> O::Accumulator {
        O::default().before(before, index)
    }

    #[inline(always)]
    fn finish(self, all: O::Accumulator) -> O::Output {
        O::default().finish(all)
    }

    fn finish_of(self, all: O::Accumulator, len: u64) -> O::Output {
        O::default().finish_of(all, len)
    }
}

/// A function of the elements of two arrays at the same index: `F` of pairs (x, y), of which y is
/// read here.
///
/// `F` is made by `Default`. A function with a parameter implements [`Map`] and holds the view.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Zipped<F, Y> {
    other: Global<Y>,
    map: PhantomData<fn() -> F>,
}

// SAFETY: its only field with data is a view, which is a `KernelArg`.
unsafe impl<F: 'static + Copy, Y: Scalar> KernelArg for Zipped<F, Y> {}

// SAFETY: a view is an address and a length; its creator is responsible for its use.
unsafe impl<F, Y> Send for Zipped<F, Y> {}
// SAFETY: a view is an address and a length; its creator is responsible for its use.
unsafe impl<F, Y> Sync for Zipped<F, Y> {}

impl<F, Y: Scalar> Zipped<F, Y> {
    /// `F` of the elements of an array and those of `other`.
    ///
    /// # Safety
    ///
    /// While this is in use, `other` is live and is not written. It is at least as long as the
    /// array.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn new(other: Global<Y>) -> Self {
        Self { other, map: PhantomData }
    }
}

impl<X: Scalar, Y: Scalar, F: Map<From = (X, Y)> + Default> Map for Zipped<F, Y> {
    type From = X;
    type To = F::To;

    #[device]
    fn map(self, x: X, index: u64) -> F::To {
        F::default().map((x, self.other.read(index as usize)), index)
    }
}

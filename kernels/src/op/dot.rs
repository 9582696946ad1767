//! Dot products of two arrays.

use super::{Map, Mapped, Number, Sum, Widen, Zipped};
use core::marker::PhantomData;
use cuda_std::memory::Global;
use cuda_std::{bf16, f16};

/// An element of a [`Dot`] product.
pub trait Factor: Widen<<Self as Factor>::Product> {
    /// The type in which products are computed and summed.
    type Product: Number + Widen<Self::Product>;
}

macro_rules! factors {
    ($($ty:ty => $product:ty;)*) => {$(
        impl Factor for $ty {
            type Product = $product;
        }
    )*};
}
factors! { f32 => f64; f64 => f64; f16 => f64; bf16 => f64; i32 => i64; u32 => u64; }

/// The product of two elements of `T`: exact, except that f64 is rounded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times<T>(PhantomData<fn(T)>);

impl<T: Factor> Map for Times<T> {
    type From = (T, T);
    type To = T::Product;

    #[inline(always)]
    fn map(self, (x, y): (T, T), _index: u64) -> T::Product {
        x.widen().mul(y.widen())
    }
}

/// The dot product of an array of `T` and another one: the sum of x·y, of floating point in f64, and
/// of i32 and u32 in 64 bits, where it wraps around.
pub type Dot<T> = Mapped<Zipped<Times<T>, T>, Sum<<T as Factor>::Product>>;

impl<T: Factor> Dot<T> {
    /// The dot product with `other`.
    ///
    /// # Safety
    ///
    /// As for [`Zipped::new`].
    #[inline(always)]
    #[must_use]
    pub const unsafe fn with(other: Global<T>) -> Self {
        // SAFETY: the caller's promise.
        Self::new(unsafe { Zipped::new(other) })
    }
}

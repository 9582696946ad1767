//! The traits that `#[kernel]` and `#[device]` put before a call such as `.exp()`, to detect a
//! method of `std` on a number. See `std_only` in `cuda_std_macros`.

/// A number. Such a call on it is an error.
pub trait __Number: Sized {
    /// Never compiles.
    fn __on_the_device(self) -> Self
    where
        Self: MethodOfStd,
    {
        self
    }
}

impl __Number for f32 {}
impl __Number for f64 {}

/// Anything else. The compiler tries this only if the type is not one of the two above.
pub trait __Anything {
    /// The receiver itself.
    #[inline(always)]
    fn __on_the_device(&self) -> &Self {
        self
    }
}

impl<T: ?Sized> __Anything for T {}

/// Not implemented by any type, so the bound gives this error.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` is of `std` alone, not on the device",
    label = "call the function of this name in `cuda_std::math`",
    note = "for example `math::exp(x)` in place of `x.exp()`; `math::powf` in place of `powi`",
    note = "its results are the same on the device and in the emulator, which those of `std` are not"
)]
pub trait MethodOfStd {}

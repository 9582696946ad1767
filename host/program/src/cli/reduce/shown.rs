//! Prints results of reductions.

use crate::cli::sink::Sink;
use crate::data::{Dtype, Scalar};
use crate::number::Number;
use gridsync_kernels::op::Indexed;

/// A result that can be printed.
pub(in crate::cli) trait Shown: Copy {
    /// Its type in a file.
    type Stored: Scalar;

    /// The result in its form for a file.
    fn stored(self) -> Self::Stored;

    /// Writes results for elements of type `dtype` to the array that `begin` creates.
    fn write(
        results: &[Self],
        dtype: Dtype,
        begin: impl FnOnce(Dtype) -> anyhow::Result<Sink>,
    ) -> anyhow::Result<Sink> {
        let _ = dtype;
        let stored: Vec<_> = results.iter().map(|x| x.stored()).collect();
        begin(Self::Stored::DTYPE)?.with(&stored)
    }

    /// The result as a number, for elements of this type.
    fn number(self, dtype: Dtype) -> Number;

    /// The exact sum, if it wrapped around in the 64 bits of this type.
    fn wrapped(self, dtype: Dtype) -> Option<i128> {
        let _ = dtype;
        None
    }

    /// Whether it is the index of no element.
    fn is_missing(self) -> bool {
        false
    }

    /// The element at the index, if the result is an index.
    fn value(self) -> Option<Number> {
        None
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Shown for $ty {
            type Stored = Self;

            fn stored(self) -> Self {
                self
            }

            fn number(self, _dtype: Dtype) -> Number {
                self.into()
            }
        }
    )*};
}
numbers!(f32, f64, i32, u32, i64, u64);

impl<A: Into<Number> + Copy> Shown for Option<Indexed<A>> {
    type Stored = u64;

    fn stored(self) -> u64 {
        self.map_or(u64::MAX, |found| found.index)
    }

    fn number(self, _dtype: Dtype) -> Number {
        self.stored().into()
    }

    fn is_missing(self) -> bool {
        self.is_none()
    }

    fn value(self) -> Option<Number> {
        self.map(|found| found.value.into())
    }
}

/// A sum in 128 bits. The result is its lower 64 bits.
impl Shown for i128 {
    type Stored = i64;

    fn stored(self) -> i64 {
        self as i64
    }

    fn write(
        results: &[Self],
        dtype: Dtype,
        begin: impl FnOnce(Dtype) -> anyhow::Result<Sink>,
    ) -> anyhow::Result<Sink> {
        let low = results.iter().map(|&sum| sum as u64);
        match dtype {
            Dtype::U64 => begin(dtype)?.with(&low.collect::<Vec<_>>()),
            _ => begin(Dtype::I64)?.with(&low.map(|low| low as i64).collect::<Vec<_>>()),
        }
    }

    fn number(self, dtype: Dtype) -> Number {
        match dtype {
            Dtype::U64 => (self as u64).into(),
            _ => (self as i64).into(),
        }
    }

    fn wrapped(self, dtype: Dtype) -> Option<i128> {
        let fits = match dtype {
            Dtype::U64 => u64::try_from(self).is_ok(),
            _ => i64::try_from(self).is_ok(),
        };
        (!fits).then_some(self)
    }
}

/// Results that an empty array does not have, with the number that stands for such a result.
macro_rules! of_some {
    ($($ty:ty: $missing:expr;)*) => {$(
        impl Shown for Option<$ty> {
            type Stored = $ty;

            fn stored(self) -> $ty {
                self.unwrap_or($missing)
            }

            fn number(self, _dtype: Dtype) -> Number {
                self.stored().into()
            }
        }
    )*};
}
of_some! { f32: f32::NAN; f64: f64::NAN; u32: 0; u64: 0; }

impl Shown for bool {
    type Stored = u32;

    fn stored(self) -> u32 {
        self.into()
    }

    fn number(self, _dtype: Dtype) -> Number {
        Number::Truth(self)
    }
}

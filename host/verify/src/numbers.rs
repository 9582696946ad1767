//! Untyped numbers, so that tests can run over a table of kernels of many types.

use cuda_std::{bf16, f16};
use gridsync_kernels::op::{Affine, Describable, Description, Indexed};

/// A number of any type, widened without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A signed integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
}

/// An element, or the result of an operation, that a [`Number`] can hold.
pub trait Widen: Copy {
    /// The name of the type.
    const NAME: &'static str;

    /// The value as a number: the index or −1 for an optional index, the bits for an affine map, the
    /// standard deviation for a description.
    fn number(self) -> Number;
}

macro_rules! numbers {
    ($($ty:ident => $widened:ident;)*) => {$(
        impl Widen for $ty {
            const NAME: &'static str = stringify!($ty);

            fn number(self) -> Number {
                Number::$widened(self.into())
            }
        }
    )*};
}
numbers! {
    i32 => Int; u32 => Int; i64 => Int; u64 => Int; i128 => Int;
    f16 => Float; bf16 => Float; f32 => Float; f64 => Float;
}

impl<A: Copy> Widen for Option<Indexed<A>> {
    const NAME: &'static str = "index";

    fn number(self) -> Number {
        Number::Int(self.map_or(-1, |found| found.index.into()))
    }
}

/// A result that an empty array does not have.
macro_rules! results {
    ($($ty:ident => $missing:expr;)*) => {$(
        impl Widen for Option<$ty> {
            const NAME: &'static str = stringify!($ty);

            fn number(self) -> Number {
                self.map_or($missing, Widen::number)
            }
        }
    )*};
}
results! {
    u32 => Number::Int(-1);
    u64 => Number::Int(-1);
    f32 => Number::Float(f64::NAN);
    f64 => Number::Float(f64::NAN);
}

impl<T: Describable> Widen for Description<T> {
    const NAME: &'static str = "f64";

    fn number(self) -> Number {
        self.deviation.number()
    }
}

impl Widen for Affine {
    const NAME: &'static str = "map";

    fn number(self) -> Number {
        Number::Int(self.to_bits().into())
    }
}

/// A sampled input, and the CPU's results for it.
#[derive(Clone, Debug, PartialEq)]
pub struct OnCpu {
    /// The elements.
    pub input: Vec<Number>,
    /// The result, or one for each row or element.
    pub results: Vec<Number>,
    /// The type of the results.
    pub output: &'static str,
    /// The most roundings that an element goes through.
    pub depth: u64,
}

impl OnCpu {
    /// From typed values.
    pub(super) fn of<T: Widen, A: Widen>(
        input: &[T],
        results: impl IntoIterator<Item = A>,
        depth: u64,
    ) -> Self {
        Self {
            input: input.iter().map(|&x| x.number()).collect(),
            results: results.into_iter().map(A::number).collect(),
            output: A::NAME,
            depth,
        }
    }
}

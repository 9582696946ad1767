//! What a reduction gives, whatever its type, as the oracle's numbers.

use crate::oracle::{Number, Plain};
use gridsync_kernels::op::{Affine, Indexed};

/// The result of a reduction.
pub trait Outcome: Copy + std::fmt::Debug {
    /// What the oracle accumulates in.
    type Plain: Plain;

    /// The result as the oracle has it: of a number the number, of an element its index or −1, of a
    /// map its bits.
    fn number(self) -> Number;
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Outcome for $ty {
            type Plain = Self;

            fn number(self) -> Number {
                Plain::number(self)
            }
        }
    )*};
}
numbers!(f32, f64, i32, u32, i64, u64, i128);

impl<A: Plain + std::fmt::Debug> Outcome for Option<Indexed<A>> {
    type Plain = A;

    fn number(self) -> Number {
        Number::Int(self.map_or(-1, |found| found.index.into()))
    }
}

impl Outcome for Affine {
    type Plain = u64;

    fn number(self) -> Number {
        Number::Int(self.to_bits().into())
    }
}

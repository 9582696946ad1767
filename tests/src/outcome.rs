//! The result of a reduction of any type, as a number for the oracle.

use crate::oracle::Plain;
use gridsync_kernels::op::{Affine, Indexed};
use gridsync_verify::Widen;

/// The result of a reduction.
pub trait Outcome: Widen + std::fmt::Debug {
    /// The type in which the oracle accumulates.
    type Plain: Plain;
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Outcome for $ty {
            type Plain = Self;
        }
    )*};
}
numbers!(f32, f64, i32, u32, i64, u64, i128);

impl<A: Plain + std::fmt::Debug> Outcome for Option<Indexed<A>> {
    type Plain = A;
}

impl Outcome for Affine {
    type Plain = u64;
}

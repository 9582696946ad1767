//! Cases of the reduction.

use super::{CaseError, Kind, Sample, sample};
use crate::device::Device;
use crate::primitives::{Checked, Reducer};
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync_kernels::entry::reduce::Reducible;
use gridsync_kernels::op::{And, Count, Max, Min, Or, Product, Sum, Xor};
use std::fmt::Debug;

/// Reduces `len` sampled elements that suit it by `O`, twice in one workspace, and checks both results.
///
/// # Errors
/// [`CaseError::Wrong`] if a result differs from the true one by more than its bound, or if the two
/// runs and the CPU differ in any bit; and those of the device.
pub fn reduce_case<O>(device: &Device, inputs: Kind, len: usize, seed: u64) -> Result<(), CaseError>
where
    O: Reducible + Checked,
    O::Element: Pod + Sample,
    O::Accumulator: Pod + Debug,
{
    let host = sample::<O::Element>(inputs, len, seed);
    let input = device.upload(&host)?;
    let mut reducer = Reducer::<O>::new(device)?;
    let result = reducer.reduce(&input)?;
    let check = O::check(&host, result, reference::reduce_depth::<O>(len));
    let case = || {
        format!(
            "{} of {len} elements, seed {seed}",
            std::any::type_name::<O>()
        )
    };
    if !check.ok {
        return Err(CaseError::Wrong(format!(
            "{}: {result:?}, the reference says {:?}; they differ by {:e}, allowed are {:e}",
            case(),
            check.reference,
            check.abs_err,
            check.bound
        )));
    }
    let again = reducer.reduce(&input)?;
    let on_the_cpu = reference::reduce::<O>(&host);
    for (what, other) in [("a second run", again), ("the CPU", on_the_cpu)] {
        if bytemuck::bytes_of(&other) != bytemuck::bytes_of(&result) {
            return Err(CaseError::Wrong(format!(
                "{}: {what} gives {other:?}, not the bits of {result:?}",
                case()
            )));
        }
    }
    Ok(())
}

/// One reduction kernel, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct ReduceKind {
    /// The operation, as the program names it.
    pub op: &'static str,
    /// What the array holds.
    pub element: &'static str,
    /// What is accumulated.
    pub accumulator: &'static str,
    /// Elements of a pack of 16 bytes.
    pub pack: usize,
    /// [`reduce_case`] for this kernel.
    pub case: fn(&Device, usize, u64) -> Result<(), CaseError>,
}

macro_rules! kinds {
    ($($op:literal $ty:ident $inputs:ident: $($element:ident $(=> $accumulator:ident)?),*;)*) => {
        /// Every reduction kernel there is.
        #[must_use]
        pub fn reduce_kinds() -> Vec<ReduceKind> {
            vec![$($(ReduceKind {
                op: $op,
                element: stringify!($element),
                accumulator: std::any::type_name::<
                    <$ty<$element $(, $accumulator)?> as gridsync_kernels::op::Operation>::Accumulator,
                >(),
                pack: <$element as Scalar>::PACK,
                case: |device, len, seed| {
                    reduce_case::<$ty<$element $(, $accumulator)?>>(device, Kind::$inputs, len, seed)
                },
            }),*),*]
        }
    };
}
kinds! {
    "sum" Sum Values: f32, f32 => f64, f64, i32 => i64, u32 => u64, i64, u64,
        f16 => f32, f16 => f64, bf16 => f32, bf16 => f64;
    "prod" Product Factors: f32, f32 => f64, f64, i32 => i64, u32 => u64, i64, u64,
        f16 => f32, f16 => f64, bf16 => f32, bf16 => f64;
    "min" Min Values: f32, f64, i32, u32, i64, u64, f16 => f32, bf16 => f32;
    "max" Max Values: f32, f64, i32, u32, i64, u64, f16 => f32, bf16 => f32;
    "xor" Xor Values: i32, u32, i64, u64;
    "and" And FewZeros: i32, u32, i64, u64;
    "or" Or FewOnes: i32, u32, i64, u64;
    "count" Count Values: f32, f64, i32, u32, i64, u64, f16, bf16;
}

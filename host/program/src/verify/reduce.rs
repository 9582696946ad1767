//! Cases of the reduction.

use super::{CaseError, Kind, Sample, sample};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::{Checked, Reducer};
use gridsync::reference;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Max, Min, Operation, Or, Product,
    ProductModulo, Sum, WideSum, Xor,
};
use std::fmt::Debug;

/// Reduces `len` sampled elements that suit it by `op`, twice in one workspace, and checks both
/// results.
///
/// # Errors
/// [`CaseError::Wrong`] if a result differs from the true one by more than its bound, or if the two
/// runs and the CPU differ in any bit; and those of the device.
pub fn reduce_case<O>(
    op: O,
    device: &Device,
    inputs: Kind,
    len: usize,
    seed: u64,
) -> Result<(), CaseError>
where
    O: Reducible + Checked,
    O::Element: Pod + Sample,
    O::Output: Debug,
{
    let host = sample::<O::Element>(inputs, len, seed);
    let input = device.upload(&host)?;
    let mut reducer = Reducer::with(op, device)?;
    let result = reducer.reduce(&input)?;
    let check = op.check(&host, result, reference::reduce_depth::<O>(len));
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
    let on_the_cpu = reference::reduce(op, &host);
    for (what, other) in [("a second run", again), ("the CPU", on_the_cpu)] {
        if !O::same(other, result) {
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
    /// What is accumulated; [`Indexed`](gridsync_kernels::op::Indexed) and the like without their path.
    pub accumulator: &'static str,
    /// Elements of a pack of 16 bytes.
    pub pack: usize,
    /// [`reduce_case`] for this kernel.
    pub case: fn(&Device, usize, u64) -> Result<(), CaseError>,
}

/// What the program calls a type: its name without its path.
fn short_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

/// The greatest prime below 2^32: no factor but its multiples is lost.
const PRIME: u64 = 4_294_967_291;

/// The operation that products modulo a number are tested by, modulo the greatest prime below 2^32.
#[must_use]
pub fn modulo_a_prime<T>() -> ProductModulo<T> {
    match ProductModulo::new(PRIME) {
        Ok(op) => op,
        Err(_) => unreachable!("it is in range"),
    }
}

macro_rules! kind {
    ($name:literal, $ty:ty, $inputs:ident, $op:expr) => {
        ReduceKind {
            op: $name,
            element: short_name::<<$ty as Operation>::Element>(),
            accumulator: short_name::<<$ty as Operation>::Accumulator>(),
            pack: <<$ty as Operation>::Element as Scalar>::PACK,
            case: |device, len, seed| {
                let op: $ty = $op;
                reduce_case(op, device, Kind::$inputs, len, seed)
            },
        }
    };
}

macro_rules! kinds {
    ($($name:literal $ty:ident $inputs:ident: $($element:ident $(=> $accumulator:ident)?),*;)*) => {
        /// The kernels of operations that have no parameter.
        fn kinds_without_parameter() -> Vec<ReduceKind> {
            vec![$($(kind!(
                $name,
                $ty<$element $(, $accumulator)?>,
                $inputs,
                $ty::new()
            )),*),*]
        }
    };
}
kinds! {
    "sum" Sum Values: f32, f32 => f64, f64, i32 => i64, u32 => u64, i64, u64,
        f16 => f32, f16 => f64, bf16 => f32, bf16 => f64;
    "sum" CompensatedSum Values: f32, f64;
    "sum" WideSum Values: i64, u64;
    "prod" Product Factors: f32, f32 => f64, f64, i32 => i64, u32 => u64, i64, u64,
        f16 => f32, f16 => f64, bf16 => f32, bf16 => f64;
    "min" Min Values: f32, f64, i32, u32, i64, u64, f16 => f32, bf16 => f32;
    "max" Max Values: f32, f64, i32, u32, i64, u64, f16 => f32, bf16 => f32;
    "argmin" ArgMin Values: f32, f64, i32, u32, i64, u64, f16 => f32, bf16 => f32;
    "argmax" ArgMax Values: f32, f64, i32, u32, i64, u64, f16 => f32, bf16 => f32;
    "xor" Xor Values: i32, u32, i64, u64;
    "and" And FewZeros: i32, u32, i64, u64;
    "or" Or FewOnes: i32, u32, i64, u64;
    "count" Count Values: f32, f64, i32, u32, i64, u64, f16, bf16;
}

/// Every reduction kernel there is.
#[must_use]
pub fn reduce_kinds() -> Vec<ReduceKind> {
    let mut kinds = kinds_without_parameter();
    kinds.extend([
        kind!("prod-mod", ProductModulo<i32>, Factors, modulo_a_prime()),
        kind!("prod-mod", ProductModulo<u32>, Factors, modulo_a_prime()),
        kind!("prod-mod", ProductModulo<i64>, Factors, modulo_a_prime()),
        kind!("prod-mod", ProductModulo<u64>, Factors, modulo_a_prime()),
        // Odd factors: no map loses what the maps before it made.
        kind!("compose", Compose, Factors, Compose::new()),
    ]);
    kinds
}

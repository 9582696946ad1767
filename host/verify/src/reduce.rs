//! Cases of the reduction.

use super::{CaseError, Kind, OnCpu, Sample, Widen, sample};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::{Checked, Reducer};
use gridsync::reference;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Max, Min, Operation, Or, Product,
    ProductModulo, Sum, WideSum, Xor,
};
use std::fmt::Debug;

/// Reduces `len` sampled elements by `op`, twice in one workspace, and checks both results. The
/// kind of the sample suits `op`.
///
/// # Errors
/// [`CaseError::Wrong`] if a result differs from the true one by more than its bound, or if the two
/// runs and the CPU differ in any bit; or if the device fails.
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
    let mut reducer = Reducer::new(op, device)?;
    let result = reducer.reduce(&input)?;
    let check = op.check(&host, result, reference::reduce_depth::<O>(len));
    let case = || format!("{} of {len} elements, seed {seed}", std::any::type_name::<O>());
    if !check.ok {
        return Err(CaseError::Wrong(format!(
            "{}: {result:?}, the reference says {:?}; they differ by {:e}, allowed {:e}",
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

/// The CPU's results of `op` for the input of [`reduce_case`] with this length and seed.
fn on_cpu<O>(op: O, inputs: Kind, len: usize, seed: u64) -> OnCpu
where
    O: Operation<Element: Sample + Widen, Output: Widen>,
{
    let input = sample::<O::Element>(inputs, len, seed);
    let result = reduce_on_cpu(op, &input);
    OnCpu::of(&input, [result], reference::reduce_depth::<O>(len))
}

/// One reduction kernel, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct ReduceKind {
    /// Its name in the catalogue, such as `sum_f32`.
    pub name: &'static str,
    /// The name of the operation in the program.
    pub op: &'static str,
    /// The element type of the array.
    pub element: &'static str,
    /// The type of the accumulator, without the path of [`Indexed`](gridsync_kernels::op::Indexed)
    /// and similar types.
    pub accumulator: &'static str,
    /// The entry point in the PTX.
    pub kernel: &'static str,
    /// Elements per pack of 16 bytes.
    pub pack: usize,
    /// Elements per tile of a small array.
    pub tile: usize,
    /// [`reduce_case`] for this kernel: elements, seed.
    pub case: fn(&Device, usize, u64) -> Result<(), CaseError>,
    /// The input of the case, and the CPU's results for it: elements, seed.
    pub on_cpu: fn(usize, u64) -> OnCpu,
}

impl ReduceKind {
    fn of<O: Reducible>(
        name: &'static str,
        op: &'static str,
        case: fn(&Device, usize, u64) -> Result<(), CaseError>,
        on_cpu: fn(usize, u64) -> OnCpu,
    ) -> Self {
        Self {
            name,
            op,
            element: short_name::<O::Element>(),
            accumulator: short_name::<O::Accumulator>(),
            kernel: O::Kernel::NAME,
            pack: O::Element::PACK,
            tile: Shape::of::<O::Element>(1).tile::<O::Element>(),
            case,
            on_cpu,
        }
    }
}

/// The name of a type in the program: without its path.
pub(super) fn short_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

/// Every reduction of an array that has a kernel.
#[must_use]
pub fn reduce_kinds() -> Vec<ReduceKind> {
    let mut kinds = Vec::new();
    macro_rules! kind {
        (reduce $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            kind! { @ $name $op $ty, $inputs, <$ty>::new() }
        };
        (reduce $value:tt ($name:ident: $op:literal $ty:ty { $example:expr }, $inputs:ident)) => {
            kind! { @ $name $op $ty, $inputs, $example }
        };
        (@ $name:ident $op:literal $ty:ty, $inputs:ident, $value:expr) => {
            kinds.push(ReduceKind::of::<$ty>(
                stringify!($name),
                $op,
                |device, len, seed| {
                    let op: $ty = $value;
                    reduce_case(op, device, Kind::$inputs, len, seed)
                },
                |len, seed| {
                    let op: $ty = $value;
                    on_cpu(op, Kind::$inputs, len, seed)
                },
            ));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(kind);
    kinds
}

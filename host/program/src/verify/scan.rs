//! Cases of the scan.

use super::{CaseError, Kind, Sample, sample};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::{Buffer, Device};
use gridsync::primitives::scan::{Form, Scanner};
use gridsync::primitives::{ScanCheck, ScanChecked};
use gridsync::reference;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{And, Count, Max, Min, Or, Product, Sum, Xor};
use std::any::type_name;
use std::fmt::Debug;

/// Scans `len` sampled elements that suit it by `op`, in both forms and twice in one workspace, and
/// checks all results.
///
/// # Errors
/// [`CaseError::Wrong`] if a result differs from the true one by more than its bound, or if the two
/// runs and the CPU differ in any bit; and those of the device.
pub fn scan_case<O>(
    op: O,
    device: &Device,
    inputs: Kind,
    len: usize,
    seed: u64,
) -> Result<(), CaseError>
where
    O: Scannable + ScanChecked,
    O::Element: Pod + Sample,
    O::Output: Pod + Debug,
{
    let host = sample::<O::Element>(inputs, len, seed);
    let input = device.upload(&host)?;
    let mut output = device.alloc(len)?;
    let mut scanner = Scanner::with(op, device, len)?;
    for form in [Form::Inclusive, Form::Exclusive] {
        let case = format!(
            "{form:?} {} of {len} elements, seed {seed}",
            type_name::<O>()
        );
        let mut run = |output: &mut Buffer<O::Output>| {
            scanner.launch(&input, output, form)?;
            output.download()
        };
        let results = run(&mut output)?;
        let check = op.check_scan(&host, &results, form, reference::scan_depth::<O>(len));
        if let Some(ScanCheck { at, check }) = check.filter(|scan| !scan.check.ok) {
            return Err(CaseError::Wrong(format!(
                "{case}: {:?} at {at}, the reference says {:?}; they differ by {:e}, allowed are {:e}",
                results[at], check.reference, check.abs_err, check.bound
            )));
        }
        let again = run(&mut output)?;
        let on_the_cpu = reference::scan(op, &host, form);
        for (what, others) in [("a second run", again), ("the CPU", on_the_cpu)] {
            if let Some(at) = first_difference(&results, &others) {
                return Err(CaseError::Wrong(format!(
                    "{case}: {what} gives {:?} at {at}, not the bits of {:?}",
                    others[at], results[at]
                )));
            }
        }
    }
    Ok(())
}

/// Where the first two values stand whose bits differ.
fn first_difference<A: Pod>(one: &[A], other: &[A]) -> Option<usize> {
    one.iter()
        .zip(other)
        .position(|(a, b)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b))
}

/// One scan kernel, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct ScanKind {
    /// The operation, as the program names it.
    pub op: &'static str,
    /// What the array holds.
    pub element: &'static str,
    /// What is accumulated, and the results are.
    pub accumulator: &'static str,
    /// Elements of a pack of 16 bytes.
    pub pack: usize,
    /// [`scan_case`] for this kernel.
    pub case: fn(&Device, usize, u64) -> Result<(), CaseError>,
}

macro_rules! kinds {
    ($($op:literal $ty:ident $inputs:ident: $($element:ident $(=> $accumulator:ident)?),*;)*) => {
        /// Every scan kernel there is.
        #[must_use]
        pub fn scan_kinds() -> Vec<ScanKind> {
            vec![$($(ScanKind {
                op: $op,
                element: stringify!($element),
                accumulator: type_name::<
                    <$ty<$element $(, $accumulator)?> as gridsync_kernels::op::Operation>::Output,
                >(),
                pack: <$element as Scalar>::PACK,
                case: |device, len, seed| {
                    let op = $ty::<$element $(, $accumulator)?>::new();
                    scan_case(op, device, Kind::$inputs, len, seed)
                },
            }),*),*]
        }
    };
}
kinds! {
    "sum" Sum Values: f32, f32 => f64, f64, i32, i32 => i64, u32, u32 => u64, i64, u64,
        f16 => f32, f16 => f64, bf16 => f32, bf16 => f64;
    "prod" Product Factors: f32, f32 => f64, f64, i32 => i64, u32 => u64, i64, u64;
    "min" Min Values: f32, f64, i32, u32, i64, u64;
    "max" Max Values: f32, f64, i32, u32, i64, u64;
    "xor" Xor Values: i32, u32;
    "and" And FewZeros: i32, u32;
    "or" Or FewOnes: i32, u32;
    "count" Count Values: f32, i32, u32;
}

//! The suite `scan`: the inclusive sums of an array, compared with CUB's `DeviceScan`.

use super::throughput::{Bench, Element, ExactSums, Load, Measure, OnCpu, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, PeerScript, SIZES, Throughput};
use gridsync::device::{Buffer, DeviceError};
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::{Design, Form};
use gridsync::reference::{scan_depth, sum_bound};
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{Operation, Sum};
use gridsync_verify::Dtype;
use std::fmt::Display;
use std::ops::Range;

/// Inclusive sums of `$ty`, in that type: by the design that [`Scanner`] chooses for the length,
/// and by each design where both are possible.
macro_rules! sums_of {
    ($($ty:ty),*) => {
        &[$(
            of::<$ty>("auto", |bench, load| measure::<$ty>(bench, load, None)),
            of::<$ty>("registers", |bench, load| {
                measure::<$ty>(bench, load, Some(Design::Registers))
            }),
            of::<$ty>("bulk", |bench, load| measure::<$ty>(bench, load, Some(Design::Bulk))),
        )*]
    };
}

/// The suite.
///
/// The results of each measurement are checked, all of them or 2^26, and so are CUB's.
pub const SCAN: Throughput = Throughput {
    name: "scan",
    cases: sums_of![f32, f64, i32, u32, u64],
    sizes: &SIZES,
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "cub::DeviceScan",
        source: include_str!("../../peers/cub_scan.cu"),
        flags: &[],
    }),
    on_cpu: Some(OnCpu {
        peer: PeerScript {
            name: "numpy.cumsum",
            source: include_str!("../../peers/numpy_cumsum.py"),
        },
        op: "sum",
        dtype: Dtype::F32,
        longest: 1 << 24,
    }),
};

/// Number of results that are checked at once.
const PART: usize = 1 << 20;

/// Maximum number of checked parts of an output, including the first and the last.
const MOST_PARTS: usize = 64;

/// Sums of `T`, compared with CUB's default mode. CUB's floating-point sums may differ between
/// runs.
const fn of<T: Element>(variant: &'static str, measure: Measure) -> Case {
    Case::new::<T>(variant, "sum", &["default"], measure)
}

/// µs of one scan of `n` elements in device memory, with the sums stored there. `None` if a
/// specific design is requested but only one is possible.
fn measure<T: Summed>(
    bench: &mut Bench<'_>,
    load: &Load,
    design: Option<Design>,
) -> Result<Option<Measurement>, MeasureError>
where
    Sum<T>: Scannable + Operation<Element = T, Accumulator = T, Output = T>,
{
    let Load { n, plan } = *load;
    // Allocate this first: an array that does not fit in memory may have more tiles than a scan
    // allows.
    let inputs = bench.stock.inputs::<T>(bench.device, n, plan.calls)?;
    let mut scanner = Scanner::new(Sum::<T>::new(), bench.device, n)?;
    if let Some(design) = design {
        if scanner.designs(n).len() < 2 {
            return Ok(None);
        }
        scanner = scanner.with_design(design)?;
    }
    let outputs = (0..plan.calls).map(|_| bench.device.alloc(n));
    let mut outputs: Vec<Buffer<T>> = outputs.collect::<Result<_, DeviceError>>()?;
    let scan = |i: usize| scanner.launch(&inputs[i], &mut outputs[i], Form::Inclusive);
    // SAFETY: a scan only reads its input, writes all of its output and leaves its workspace ready
    // for the next one. All of them outlive the measurement.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, scan) }?;
    check(&outputs[plan.calls - 1])?;
    Ok(Some(measured))
}

/// Compares the sums in `output` with the exact sums of an input of the same length.
fn check<T: Summed>(output: &Buffer<T>) -> Result<(), MeasureError>
where
    Sum<T>: Scannable,
{
    let n = output.len();
    let (exact, depth) = (ExactSums::of::<T>(n), scan_depth::<Sum<T>>(n));
    for part in parts(n) {
        for (i, sum) in part.clone().zip(output.download_part(part)?) {
            if !sum.is_sum(exact.up_to(i), i + 1, depth) {
                return Err(MeasureError::Wrong(format!(
                    "a scan of {n} {} is wrong: the first {} sum up to {}, not {sum}",
                    T::DTYPE,
                    i + 1,
                    exact.up_to(i)
                )));
            }
        }
    }
    Ok(())
}

/// The parts of `n` results that are checked: all, or [`MOST_PARTS`] from the first to the last.
fn parts(n: usize) -> impl Iterator<Item = Range<usize>> {
    let there = n.div_ceil(PART);
    let checked = there.min(MOST_PARTS);
    (0..checked).map(move |i| {
        let part = i * (there - 1) / (checked - 1).max(1);
        part * PART..n.min((part + 1) * PART)
    })
}

/// An element whose sums can be checked.
trait Summed: Element + Display {
    /// Whether this is a valid scan result for the `exact` sum of `elements` elements, each added
    /// at most `depth` times.
    fn is_sum(self, exact: i64, elements: usize, depth: u64) -> bool;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Summed for $ty {
            /// Wraps around.
            fn is_sum(self, exact: i64, _elements: usize, _depth: u64) -> bool {
                self == exact as Self
            }
        }
    )*};
}
integers! { i32, u32, u64 }

macro_rules! floats {
    ($($ty:ident),*) => {$(
        impl Summed for $ty {
            /// Nothing is rounded as long as this type can represent every integer up to the sum.
            fn is_sum(self, exact: i64, elements: usize, depth: u64) -> bool {
                let magnitude = elements as f64 * f64::from(Self::LEAST.abs());
                let bound = if magnitude <= 2.0 / f64::from($ty::EPSILON) { 0.0 } else { sum_bound(magnitude, depth, f64::from($ty::EPSILON) / 2.0) };
                (f64::from(self) - exact as f64).abs() <= bound
            }
        }
    )*};
}
floats! { f32, f64 }

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Device, Emulator, EmulatorConfig};

    #[test]
    fn each_design_is_measured_if_both_can_scan() {
        let records = SCAN.in_emulator(&SCAN.cases[..3], 100);
        let told = records.iter().map(|record| (record.variant.as_str(), record.bytes));
        let small = ("auto", Some(2 * 4 * 100));
        let twice = [small, small];
        assert_eq!(told.collect::<Vec<_>>(), twice, "in a row and alone");
    }

    #[test]
    fn a_wrong_sum_is_found_in_the_first_and_in_the_last_result() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let n = 1000;
        let exact = ExactSums::of::<u32>(n);
        let right: Vec<u32> = (0..n).map(|i| exact.up_to(i) as u32).collect();
        let checked = |sums: &[u32]| {
            let output = device.upload(sums).expect("there is room");
            check(&output)
        };
        assert_eq!(checked(&right), Ok(()));
        for at in [0, n - 1] {
            let mut wrong = right.clone();
            wrong[at] += 1;
            assert!(matches!(checked(&wrong), Err(MeasureError::Wrong(_))), "{at}");
        }
    }

    #[test]
    fn sums_are_exact_until_they_are_rounded_and_wrap_around_in_integers() {
        assert!((1.0f32).is_sum(1, 1000, 30) && !(1.001f32).is_sum(1, 1000, 30));
        let large = 1i64 << 26;
        assert!((large as f32 + 8.0).is_sum(large, 1 << 26, 30));
        assert!(!(large as f32 * 1.01).is_sum(large, 1 << 26, 30));
        assert!((large as f64).is_sum(large, 1 << 26, 30));
        assert!(!(large as f64 + 1.0).is_sum(large, 1 << 26, 30));
        assert!(0u32.is_sum(1 << 32, 1 << 30, 30));
    }

    #[test]
    fn the_checked_parts_include_the_first_and_the_last_result() {
        assert_eq!((parts(10).next(), parts(10).count()), (Some(0..10), 1));
        assert_eq!(parts(PART + 1).collect::<Vec<_>>(), [0..PART, PART..PART + 1]);
        let many: Vec<_> = parts(1 << 32).collect();
        assert_eq!((many.len(), many[0].start), (MOST_PARTS, 0));
        assert_eq!(many[MOST_PARTS - 1].end, 1 << 32);
        assert!(many.windows(2).all(|two| two[0].end <= two[1].start));
    }
}

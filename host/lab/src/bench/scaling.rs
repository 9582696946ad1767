//! The suite `scaling`: a sum and a scan of f32 arrays that are striped over several GPUs, by the
//! number of GPUs.
//!
//! Each length is measured on 1, 2, 4, 8 and so on of the GPUs (strong scaling), and k times the
//! length on k GPUs (weak scaling). The time of a call is a slope of host time, as in the suite
//! `system`: several calls in a row, until the streams of all GPUs are empty. The sum is also timed
//! alone, until the host has its value. Results must be bit-identical to those on fewer GPUs.

use super::slope::slope_of;
use super::system::{gpu_counts, names};
use super::throughput::MeasureError;
use super::{Measurement, Record, Sampling, Step};
use gridsync::device::{DeviceError, Devices};
use gridsync::primitives::scan::Form;
use gridsync::primitives::{Spread, SpreadReducer, SpreadScanner};
use gridsync_kernels::op::Sum;
use gridsync_verify::{Input, sample};
use serde_json::json;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

/// Lengths on one GPU unless others are requested.
pub const SCALING_SIZES: [usize; 3] = [1 << 28, 1 << 30, 1 << 32];

/// Approximate µs of the calls in a row that are timed. [`Devices::synchronize`] sleeps between
/// polls after 20 ms.
const IN_A_ROW_US: f64 = 15_000.0;

/// Maximum number of calls in a row.
const MOST_CALLS: f64 = 200.0;

/// The measurements of each array, by their names in records: sums in a row, one sum until the host
/// has it, and inclusive sums in a row.
pub const SCALED: [&str; 3] = ["sum", "value", "scan"];

/// A run of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Scaling<'a> {
    /// The numbers of the GPUs. A GPU that is listed twice counts as two.
    pub ordinals: &'a [u32],
    /// The lengths on one GPU.
    pub sizes: &'a [usize],
    /// Elements of a stripe, a power of two. `None` for the length that [`Spread::alloc`] chooses.
    pub stripe: Option<usize>,
    /// Sampling parameters.
    pub sampling: Sampling,
}

/// A measured array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalingPoint {
    /// Number of GPUs.
    pub gpus: usize,
    /// Number of elements.
    pub n: usize,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalings {
    /// A record for each of [`SCALED`] and each array, by the number of GPUs, then by the length.
    pub records: Vec<Record>,
    /// The arrays that did not fit in memory.
    pub too_large: Vec<ScalingPoint>,
}

impl Scaling<'_> {
    /// The arrays, by the number of GPUs.
    #[must_use]
    pub fn points(&self) -> Vec<ScalingPoint> {
        let of_count = |gpus: usize| {
            let mut lens: Vec<usize> =
                self.sizes.iter().flat_map(|&n| [n, n.saturating_mul(gpus)]).collect();
            lens.sort_unstable();
            lens.dedup();
            lens.into_iter().map(move |n| ScalingPoint { gpus, n })
        };
        gpu_counts(self.ordinals.len()).into_iter().flat_map(of_count).collect()
    }

    /// Measures each of [`points`](Self::points). `open` opens GPUs by their numbers. Calls `step`
    /// before each point and after each record.
    ///
    /// # Errors
    /// [`MeasureError::Wrong`] if a result is not bit-identical to that on fewer GPUs; or if `open`
    /// or a device fails.
    ///
    /// # Panics
    /// If [`Sampling::measure`] panics.
    pub fn run(
        &self,
        mut open: impl FnMut(&[u32]) -> Result<Devices, DeviceError>,
        mut step: impl FnMut(Step<'_, ScalingPoint>),
    ) -> Result<Scalings, MeasureError> {
        let mut done = Scalings { records: Vec::new(), too_large: Vec::new() };
        let mut expected = HashMap::new();
        let mut opened: Option<Devices> = None;
        for point in self.points() {
            step(Step::Next(point));
            let ScalingPoint { gpus, n } = point;
            let devices = match opened.take() {
                Some(devices) if devices.len() == gpus => devices,
                // The devices for fewer GPUs are closed first.
                _ => open(&self.ordinals[..gpus])?,
            };
            match self.measure(&devices, n) {
                Ok((measured, bits)) => {
                    let before = *expected.entry(n).or_insert(bits);
                    if before != bits {
                        return Err(MeasureError::Wrong(format!(
                            "the sum or the scan of {n} elements has other bits on {gpus} GPUs than on fewer"
                        )));
                    }
                    for (variant, measured) in SCALED.into_iter().zip(measured) {
                        let record = self.record(&devices, point, variant, measured);
                        step(Step::Measured(&record));
                        done.records.push(record);
                    }
                }
                Err(error) if is_too_large(&error) => done.too_large.push(point),
                Err(error) => return Err(error.into()),
            }
            opened = Some(devices);
        }
        Ok(done)
    }

    fn record(
        &self,
        devices: &Devices,
        ScalingPoint { gpus, n }: ScalingPoint,
        variant: &'static str,
        measured: Measurement,
    ) -> Record {
        let moved = if variant == "scan" { 2 } else { 1 };
        let mut params = json!({
            "gpus": gpus,
            "ordinals": self.ordinals[..gpus],
            "n": n,
            "dtype": "f32",
        });
        if let Some(stripe) = self.stripe {
            params["stripe"] = stripe.into();
        }
        Record::new("scaling", variant, names(devices), params, measured)
            .moving(moved * (n * size_of::<f32>()) as u64)
    }

    /// The times of [`SCALED`] for an array of `n` elements, and a fingerprint of the results.
    fn measure(&self, devices: &Devices, n: usize) -> Result<([Measurement; 3], u64), DeviceError> {
        let (op, sampling) = (Sum::<f32>::new(), &self.sampling);
        let input = match self.stripe {
            Some(stripe) => Spread::in_stripes(devices, n, stripe)?,
            None => Spread::alloc(devices, n)?,
        };
        let input = filled(devices, input)?;
        let mut output = Spread::<f32>::like(devices, &input)?;
        let mut reducer = SpreadReducer::new(op, devices)?;
        let mut scanner = SpreadScanner::new(op, devices, n)?;

        let sums = in_a_row(devices, sampling, || reducer.launch(&input))?;
        let mut sum = 0.0;
        let value = sampling.measure(|| {
            let start = Instant::now();
            sum = reducer.reduce(&input)?;
            Ok::<_, DeviceError>(start.elapsed().as_secs_f64() * 1e6)
        })?;
        let scans =
            in_a_row(devices, sampling, || scanner.launch(&input, &mut output, Form::Inclusive))?;
        Ok(([sums, value, scans], fingerprint(sum, &output)?))
    }
}

fn is_too_large(error: &DeviceError) -> bool {
    match error {
        DeviceError::OnGpu { error, .. } => is_too_large(error),
        error => matches!(error, DeviceError::OutOfMemory { .. }),
    }
}

/// µs of one of several calls in a row.
fn in_a_row(
    devices: &Devices,
    sampling: &Sampling,
    mut launch: impl FnMut() -> Result<(), DeviceError>,
) -> Result<Measurement, DeviceError> {
    let mut time = |calls: u32| {
        let start = Instant::now();
        (0..calls).try_for_each(|_| launch())?;
        devices.synchronize()?;
        Ok::<_, DeviceError>(start.elapsed().as_secs_f64() * 1e6)
    };
    // The first call loads the kernel.
    time(1)?;
    let one = time(1)?;
    let more = (IN_A_ROW_US / one - 1.0).clamp(1.0, MOST_CALLS) as u32;
    slope_of(1, 1 + more, sampling, time)
}

/// The array, with elements between -1 and 1. Every third stripe is the same.
fn filled(devices: &Devices, mut spread: Spread<f32>) -> Result<Spread<f32>, DeviceError> {
    let of = |seed| sample::<f32>(Input::Values, spread.stripe().min(spread.len()), seed);
    let elements = [of(1), of(2), of(3)].map(|all| {
        all.into_iter().map(|x| if x.is_finite() { x % 1.0 } else { 0.5 }).collect::<Vec<_>>()
    });
    let size = spread.stripe();
    devices.each(|gpu, _| {
        let mut at = 0;
        for stripe in spread.stripes(gpu) {
            let elements = &elements[stripe.start / size % 3][..stripe.len()];
            spread.part_mut(gpu).copy_part_from(at, elements)?;
            at += stripe.len();
        }
        Ok(())
    })?;
    Ok(spread)
}

/// A hash of the sum and of the last result of each stripe.
fn fingerprint(sum: f32, scanned: &Spread<f32>) -> Result<u64, DeviceError> {
    let mut ends = Vec::new();
    for gpu in 0..scanned.parts() {
        let mut at = 0;
        for stripe in scanned.stripes(gpu) {
            at += stripe.len();
            let mut last = [0.0f32];
            scanned.part(gpu).download_to(at - 1, &mut last)?;
            ends.push((stripe.start, last[0].to_bits()));
        }
    }
    ends.sort_unstable();
    let mut hasher = DefaultHasher::new();
    (sum.to_bits(), ends).hash(&mut hasher);
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::EmulatorConfig;

    const ONCE: Sampling = Sampling { at_least: 1, at_most: 1, uncertainty: 0.005 };

    fn emulated(ordinals: &[u32]) -> Result<Devices, DeviceError> {
        let config = EmulatorConfig { memory_bytes: 24 << 20, ..EmulatorConfig::default() };
        Devices::emulated(EmulatorConfig { gpus: ordinals.len() as u32, ..config })
    }

    #[test]
    fn each_length_is_measured_on_every_number_of_gpus_and_scaled_with_it() {
        let scaling =
            Scaling { ordinals: &[0, 1, 2, 3], sizes: &[100, 200], stripe: None, sampling: ONCE };
        let of = |gpus, lens: &[usize]| {
            lens.iter().map(move |&n| ScalingPoint { gpus, n }).collect::<Vec<_>>()
        };
        let expected = [of(1, &[100, 200]), of(2, &[100, 200, 400]), of(4, &[100, 200, 400, 800])];
        assert_eq!(scaling.points(), expected.concat());
    }

    #[test]
    fn sums_and_scans_are_measured_with_the_bits_of_one_gpu() {
        let n = 5003;
        let scaling =
            Scaling { ordinals: &[0, 1], sizes: &[1000, n, 1 << 23], stripe: None, sampling: ONCE };
        let done = scaling.run(emulated, |_| ()).expect("the emulator should run all");
        let told: Vec<_> = done
            .records
            .iter()
            .map(|record| {
                let params = &record.params;
                (record.variant.as_str(), params["gpus"].clone(), params["n"].clone(), record.bytes)
            })
            .collect();
        let bytes = |variant: &str, n: usize| if variant == "scan" { 8 * n } else { 4 * n } as u64;
        let mut expected = Vec::new();
        for (gpus, lens) in [(1, &[1000, n][..]), (2, &[1000, 2000, n, 2 * n])] {
            for &n in lens {
                for variant in SCALED {
                    expected.push((variant, json!(gpus), json!(n), Some(bytes(variant, n))));
                }
            }
        }
        assert_eq!(told, expected);
        let large = |gpus, n| ScalingPoint { gpus, n };
        assert_eq!(done.too_large, [large(1, 1 << 23), large(2, 1 << 23), large(2, 1 << 24)]);
    }

    #[test]
    fn stripes_have_the_requested_length() {
        let scaling =
            Scaling { ordinals: &[0], sizes: &[5003], stripe: Some(1 << 16), sampling: ONCE };
        let done = scaling.run(emulated, |_| ()).expect("the emulator should run all");
        assert!(done.records.iter().all(|record| record.params["stripe"] == 1 << 16));
        // Stripes may be short on one device, so two replace one.
        let short = Scaling { sizes: &[(1 << 20) + 1], stripe: Some(1 << 9), ..scaling };
        let refused = short.run(|_| emulated(&[0, 1]), |_| ()).expect_err("a tile is longer");
        assert!(refused.to_string().contains("stripes of 512 elements"), "{refused}");
    }
}

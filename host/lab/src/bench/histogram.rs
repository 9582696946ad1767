//! The suite `histogram`: the elements of each bin, counted, compared with CUB's `DeviceHistogram`.

use super::throughput::{Bench, Load, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use gridsync::device::{Buffer, DeviceError};
use gridsync::primitives::histogram::{Binned, Bins, BinsError, Histogram};

/// Bins between edges that are squares.
const SQUARES: usize = 256;

/// Integers, each with a bin.
const NUMBERS: u32 = 2048;

/// The suite: bins of the same width, bins between other edges, and a bin for each integer.
///
/// Every element is in a bin, and bins of the same width have about the same number of elements. In
/// `bytes` an input has n u64, and each of their 8 n bytes is counted. The peer computes the same
/// elements and edges.
///
/// Throughputs are those of reading the elements. The counts, 4 bytes for each bin, are not
/// included.
pub const HISTOGRAM: Throughput = Throughput {
    name: "histogram",
    cases: &[
        Case::new::<f32>("256 bins", "even", &["bins_256"], even::<256>),
        Case::new::<f32>("65536 bins", "even", &["bins_65536"], even::<65_536>),
        Case::new::<f32>("256 bins", "edges", &["bins_256"], edges),
        Case::new::<u32>("2048 bins", "numbers", &["bins_2048"], numbers),
        Case::new::<u64>("256 bins", "bytes", &["bins_256"], bytes),
    ],
    sizes: &[1 << 16, 1 << 20, 1 << 24, 1 << 28],
    ceiling: Ceiling::Read,
    peer: Some(PeerProgram {
        name: "cub::DeviceHistogram",
        source: include_str!("../../peers/cub_histogram.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The result of a measurement.
type Measured = Result<Option<Measurement>, MeasureError>;

/// µs of one count of f32 in `BINS` bins of the same width.
fn even<const BINS: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    measure(bench, load, Bins::even(0.0, 1.0, BINS), uniform)
}

/// µs of one count of f32 between edges that are squares, so that the bins widen.
fn edges(bench: &mut Bench<'_>, load: &Load) -> Measured {
    measure(bench, load, Bins::edges(&squares()), uniform)
}

/// µs of one count of u32.
fn numbers(bench: &mut Bench<'_>, load: &Load) -> Measured {
    measure(bench, load, Bins::numbers(0..=NUMBERS - 1), number)
}

/// µs of one count of bytes, eight for each u64 of the load.
fn bytes(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let load = Load { n: size_of::<u64>() * load.n, ..*load };
    measure(bench, &load, Bins::numbers(0..=u8::MAX), |[hash, _]| hash as u8)
}

/// µs of one count of elements in device memory, where element i is `of` of its hashes.
fn measure<T: Binned>(
    bench: &mut Bench<'_>,
    load: &Load,
    bins: Result<Bins<T>, BinsError>,
    of: fn([u32; 2]) -> T,
) -> Measured {
    let Load { n, plan } = *load;
    let bins = bins.expect("the bins of a case are possible");
    let inputs = bench.stock.hashed(bench.device, n, plan.calls, of)?;
    let counts = (0..plan.calls).map(|_| bench.device.alloc(bins.len()));
    let mut counts: Vec<Buffer<u32>> = counts.collect::<Result<_, DeviceError>>()?;
    let mut histogram = Histogram::new(bench.device, bins)?;
    let count = |i: usize| histogram.launch(&inputs[i], &mut counts[i]);
    // SAFETY: a histogram only reads its input, replaces its counts and leaves its working memory
    // ready for the next one. All of them outlive the measurement.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, count) }?;
    if load.is_checked() {
        let right = histogram.bins().count_on_cpu(&inputs[0].download()?);
        check(&counts[0].download()?, &right)?;
    }
    Ok(Some(measured))
}

/// Compares the counts of all bins.
fn check(got: &[u32], right: &[u64]) -> Result<(), MeasureError> {
    let differ = |(got, right): (&u32, &u64)| u64::from(*got) != *right;
    match got.iter().zip(right).position(differ) {
        None => Ok(()),
        Some(bin) => Err(MeasureError::Wrong(format!(
            "a histogram of {} bins has {} elements in bin {bin}, not {}",
            right.len(),
            got[bin],
            right[bin]
        ))),
    }
}

/// At least 0 and below 1: 24 bits of a hash, as a fraction of 2^24.
fn uniform([hash, _]: [u32; 2]) -> f32 {
    (hash >> 8) as f32 / (1 << 24) as f32
}

/// One of the integers with a bin.
fn number([hash, _]: [u32; 2]) -> u32 {
    hash % NUMBERS
}

/// The edges between 0 and 1. All are f32.
fn squares() -> [f64; SQUARES + 1] {
    std::array::from_fn(|k| (k as f64 / SQUARES as f64).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_measured_and_right() {
        for case in HISTOGRAM.cases {
            assert!(case.alone_in_emulator(300).is_some(), "{} {}", case.variant, case.op);
        }
    }

    #[test]
    fn a_wrong_count_is_found() {
        assert_eq!(check(&[1, 2, 3], &[1, 2, 3]), Ok(()));
        let wrong = check(&[1, 3, 2], &[1, 2, 3]).expect_err("two counts are exchanged");
        assert_eq!(wrong.to_string(), "a histogram of 3 bins has 3 elements in bin 1, not 2");
    }

    #[test]
    fn every_element_is_in_a_bin() {
        assert_eq!(uniform([0; 2]), 0.0);
        assert!(uniform([!0; 2]) < 1.0 && number([!0; 2]) < NUMBERS);
    }

    #[test]
    fn edges_are_the_same_in_f32() {
        let edges = squares();
        assert_eq!((edges[0], edges[SQUARES]), (0.0, 1.0));
        assert!(edges.iter().all(|&edge| f64::from(edge as f32) == edge));
    }
}

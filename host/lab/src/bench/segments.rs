//! The suite `segments`: each segment of an array to one value, compared with CUB's
//! `DeviceSegmentedReduce`.

use super::throughput::{Bench, Load, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use gridsync::device::{Buffer, DeviceError};
use gridsync::primitives::segments::{Offsets, SegmentReducer, reduce_segments_on_cpu};
use gridsync_kernels::op::Sum;

/// The mode of the peer.
const DEFAULT: &[&str] = &["default"];

/// The suite: sums of f32 in segments of one length, and in segments of which one has half of all
/// elements and each other one has one. The offsets are on the device before, 8 bytes each.
///
/// Throughputs are those of reading the elements.
pub const SEGMENTS: Throughput = Throughput {
    name: "segments",
    cases: &[
        Case::new::<f32>("path", "sum-16", DEFAULT, even::<16>),
        Case::new::<f32>("path", "sum-1000", DEFAULT, even::<1000>),
        Case::new::<f32>("path", "sum-1e5", DEFAULT, even::<100_000>),
        Case::new::<f32>("path", "sum-skewed", DEFAULT, skewed),
    ],
    sizes: &[1 << 16, 1 << 20, 1 << 24, 1 << 28],
    ceiling: Ceiling::Read,
    peer: Some(PeerProgram {
        name: "cub::DeviceSegmentedReduce",
        source: include_str!("../../peers/cub_segments.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The result of a measurement.
type Measured = Result<Option<Measurement>, MeasureError>;

/// µs of the sums of segments of `LEN` elements. The last one may be shorter.
fn even<const LEN: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let starts = (0..load.n).step_by(LEN);
    measure(bench, load, starts.chain([load.n]).map(|start| start as u64).collect())
}

/// µs of the sums of one segment of half of all elements, after segments of one each.
fn skewed(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let starts = 0..=load.n / 2;
    measure(bench, load, starts.chain([load.n]).map(|start| start as u64).collect())
}

fn measure(bench: &mut Bench<'_>, load: &Load, offsets: Vec<u64>) -> Measured {
    let Load { n, plan } = *load;
    let inputs: &[Buffer<f32>] = bench.stock.inputs(bench.device, n, plan.calls)?;
    let segments = Offsets::new(bench.device, &offsets)?;
    let mut reducer = SegmentReducer::new(Sum::<f32>::new(), bench.device)?;
    // Allocates, which a graph cannot.
    reducer.launch(&inputs[0], &segments)?;
    let reduce = |i: usize| -> Result<(), DeviceError> { reducer.launch(&inputs[i], &segments) };
    // SAFETY: a reduction only reads its input and leaves its workspace ready for the next one.
    // Inputs, offsets and reducer outlive the measurement.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, reduce) }?;
    if load.is_checked() {
        let got = reducer.results(&segments)?;
        // All inputs are alike.
        let right = reduce_segments_on_cpu(Sum::<f32>::new(), &inputs[0].download()?, &offsets);
        check(&got, &right)?;
    }
    Ok(Some(measured))
}

/// Compares every sum.
fn check(got: &[f32], right: &[f32]) -> Result<(), MeasureError> {
    let differ = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
    match got.iter().zip(right).position(differ) {
        None => Ok(()),
        Some(at) => Err(MeasureError::Wrong(format!(
            "segment {at} of {} has the sum {}, not {}",
            right.len(),
            got[at],
            right[at]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_measured_and_right() {
        for case in SEGMENTS.cases {
            assert!(case.alone_in_emulator(3000).is_some(), "{}", case.op);
        }
    }

    #[test]
    fn a_wrong_sum_is_found() {
        assert_eq!(check(&[1.0, 2.0], &[1.0, 2.0]), Ok(()));
        let wrong = check(&[1.0, 2.5], &[1.0, 2.0]).expect_err("a sum is wrong");
        assert_eq!(wrong.to_string(), "segment 1 of 2 has the sum 2.5, not 2");
    }
}

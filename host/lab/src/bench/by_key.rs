//! The suite `by-key`: runs of equal keys, whose values are reduced or scanned, or of which the first
//! is kept, compared with CUB.

use super::throughput::{Bench, Load, Measure, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use bytemuck::Pod;
use gridsync::device::{Buffer, DeviceError};
use gridsync::primitives::scan::Form;
use gridsync::primitives::segments::by_key::{
    Nans, RunFirsts, RunReducer, RunScanner, runs_on_cpu, scan_by_key_on_cpu, unique_by_key_on_cpu,
};
use gridsync::primitives::segments::reduce_segments_on_cpu;
use gridsync_kernels::op::Sum;

/// The suite: runs of 2, 16 and 1024 equal keys of u32, each with a value of f32. The values of a
/// run are summed, or all of its sums up to each value are written, or its first value is kept.
///
/// All keep their memory, and leave what they find on the GPU, as CUB's do. For the sums and the
/// first values the host waits for the number of runs, before it launches what reads their values. So
/// one call is measured alone, with the wait in its time. Scans do not wait, and are measured in a
/// row too, each with separate keys, values and sums.
///
/// The bytes are those of the keys and the values, and of the sums of a scan.
pub const BY_KEY: Throughput = Throughput {
    name: "by-key",
    cases: &[
        of("reduce-2", reduce::<2>).alone(),
        of("reduce-16", reduce::<16>).alone(),
        of("reduce-1024", reduce::<1024>).alone(),
        of("scan-2", scan::<2>).writing(SCANNED),
        of("scan-16", scan::<16>).writing(SCANNED),
        of("scan-1024", scan::<1024>).writing(SCANNED),
        of("unique-16", unique::<16>).alone(),
    ],
    sizes: &[1 << 20, 1 << 24, 1 << 28],
    ceiling: Ceiling::ReadBoth,
    peer: Some(PeerProgram {
        name: "cub::DeviceReduce, DeviceScan and DeviceSelect by key",
        source: include_str!("../../peers/cub_by_key.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The keys and sums that a scan moves, as a percentage of its values.
const SCANNED: u64 = 200;

/// The result of a measurement.
type Measured = Result<Option<Measurement>, MeasureError>;

/// An operation, compared with the peer.
const fn of(op: &'static str, measure: Measure) -> Case {
    Case::new::<f32>("runs", op, &["default"], measure)
}

/// µs of the key and the sum of each run of `EACH` elements. The last one may be shorter.
fn reduce<const EACH: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let (device, op) = (bench.device, Sum::<f32>::new());
    let values = &bench.stock.inputs::<f32>(device, load.n, 1)?[0];
    let host = keys(load.n, EACH);
    let keys = device.upload(&host)?;
    let mut reducer = RunReducer::new(op, device, load.n)?;
    let call = |_| reducer.reduce(&keys, values).map(drop);
    // SAFETY: a call only reads both arrays, and leaves the memory of the reducer ready for the next
    // one. All of them outlive the measurement.
    let measured = unsafe { time_cold(device, &load.plan, bench.sampling, call) }?;
    let values = values.download()?;
    let (right, offsets) = runs_on_cpu(&host, Nans::Apart);
    check("the keys of the runs", &reducer.keys()?, &right)?;
    let right = reduce_segments_on_cpu(op, &values, &offsets);
    check("the sums of the runs", &reducer.results()?, &right)?;
    Ok(Some(measured))
}

/// µs of the inclusive sums of each run of `EACH` elements. The last one may be shorter.
fn scan<const EACH: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let Load { n, plan } = *load;
    let (device, form, nans) = (bench.device, Form::Inclusive, Nans::Apart);
    let values = bench.stock.inputs::<f32>(device, n, plan.calls)?;
    let host = keys(n, EACH);
    let keys: Vec<Buffer<u32>> =
        (0..plan.calls).map(|_| device.upload(&host)).collect::<Result<_, DeviceError>>()?;
    let mut sums: Vec<Buffer<f32>> =
        (0..plan.calls).map(|_| device.alloc(n)).collect::<Result<_, DeviceError>>()?;
    let mut scanner = RunScanner::<u32, Sum<f32>>::new(device, n)?;
    let call = |i: usize| scanner.launch(&keys[i], &values[i], &mut sums[i], form, nans);
    // SAFETY: a scan only reads keys and values, writes its sums and leaves its working memory ready
    // for the next one. All of them outlive the measurement.
    let measured = unsafe { time_cold(device, &plan, bench.sampling, call) }?;
    if load.is_checked() {
        let right = scan_by_key_on_cpu::<Sum<f32>, _>(&host, &values[0].download()?, form, nans);
        check("the sums up to each value", &sums[0].download()?, &right)?;
    }
    Ok(Some(measured))
}

/// µs of the key and the first value of each run of `EACH` elements. The last one may be shorter.
fn unique<const EACH: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let device = bench.device;
    let values = &bench.stock.inputs::<f32>(device, load.n, 1)?[0];
    let host = keys(load.n, EACH);
    let keys = device.upload(&host)?;
    let mut firsts = RunFirsts::new(device, load.n)?;
    let call = |_| firsts.find(&keys, values).map(drop);
    // SAFETY: a call only reads both arrays, and leaves its memory ready for the next one. All of
    // them outlive the measurement.
    let measured = unsafe { time_cold(device, &load.plan, bench.sampling, call) }?;
    let (right, first_values) = unique_by_key_on_cpu(&host, &values.download()?, Nans::Apart);
    check("the keys of the runs", &firsts.keys().download_part(0..right.len())?, &right)?;
    let kept = firsts.values().download_part(0..right.len())?;
    check("the first values of the runs", &kept, &first_values)?;
    Ok(Some(measured))
}

/// `n` keys in runs of `each`.
fn keys(n: usize, each: usize) -> Vec<u32> {
    (0..n).map(|i| (i / each) as u32).collect()
}

/// Compares every bit.
fn check<T: Pod>(what: &str, found: &[T], right: &[T]) -> Result<(), MeasureError> {
    let bytes = bytemuck::cast_slice::<T, u8>;
    if bytes(found) == bytes(right) {
        Ok(())
    } else {
        Err(MeasureError::Wrong(format!("{what} differ from those on the CPU")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_measured_and_right() {
        for case in BY_KEY.cases {
            assert!(case.alone_in_emulator(3000).is_some(), "{}", case.op);
        }
    }

    #[test]
    fn keys_and_values_are_read_and_only_scans_are_measured_in_a_row() {
        let records = BY_KEY.in_emulator(&BY_KEY.cases[2..4], 100);
        let told: Vec<_> = records
            .iter()
            .map(|record| {
                (record.params["op"].as_str(), record.params["calls"].as_u64(), record.bytes)
            })
            .collect();
        let of = |op, calls, arrays: u64| (Some(op), Some(calls), Some(arrays * 4 * 100));
        assert_eq!(told, [of("scan-2", 256, 3), of("reduce-1024", 1, 2), of("scan-2", 1, 3)]);
    }

    #[test]
    fn a_wrong_or_a_missing_result_is_found() {
        assert_eq!(check("they", &[1.0f32, 2.0], &[1.0, 2.0]), Ok(()));
        assert!(check("they", &[1.0f32, -2.0], &[1.0, 2.0]).is_err());
        let missing = check("the keys", &[1u32], &[1, 2]).expect_err("one is missing");
        assert_eq!(missing.to_string(), "the keys differ from those on the CPU");
    }
}

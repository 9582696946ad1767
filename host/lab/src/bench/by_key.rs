//! The suite `by-key`: runs of equal keys, whose values are reduced or scanned, or of which the first
//! is kept, compared with CUB.

use super::throughput::{Bench, Load, Measure, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use bytemuck::Pod;
use gridsync::device::{Buffer, DeviceError};
use gridsync::primitives::scan::Form;
use gridsync::primitives::segments::by_key::{
    Nans, reduce_by_key, runs_on_cpu, scan_by_key, scan_by_key_on_cpu, unique_by_key,
    unique_by_key_on_cpu,
};
use gridsync::primitives::segments::reduce_segments_on_cpu;
use gridsync_kernels::op::Sum;

/// The suite: runs of 2, 16 and 1024 equal keys of u32, each with a value of f32. The values of a
/// run are summed, or all of its sums up to each value are written, or its first value is kept.
///
/// The library has no object to keep for this. Each of its functions allocates buffers and frees them,
/// and the host waits inside: a reduction and a selection for the number of runs, and then for their
/// keys and results, which they copy to the host; a scan until its working memory can be freed. So one
/// call is measured alone, and all of this is in its time, as a program would find it. CUB is lent its
/// memory, and leaves everything on the GPU: where there are many runs, the copy is most of the
/// difference.
///
/// The bytes are those of the keys and the values, and of the sums of a scan.
pub const BY_KEY: Throughput = Throughput {
    name: "by-key",
    cases: &[
        of("reduce-2", reduce::<2>),
        of("reduce-16", reduce::<16>),
        of("reduce-1024", reduce::<1024>),
        of("scan-2", scan::<2>).writing(SCANNED),
        of("scan-16", scan::<16>).writing(SCANNED),
        of("scan-1024", scan::<1024>).writing(SCANNED),
        of("unique-16", unique::<16>),
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

/// What a scan moves besides its values, as a percentage of them: keys and sums.
const SCANNED: u64 = 200;

/// The result of a measurement.
type Measured = Result<Option<Measurement>, MeasureError>;

/// An operation, compared with the peer.
const fn of(op: &'static str, measure: Measure) -> Case {
    Case::new::<f32>("runs", op, &["default"], measure).alone()
}

/// µs of the key and the sum of each run of `EACH` elements. The last one may be shorter.
fn reduce<const EACH: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let op = Sum::<f32>::new();
    measure(
        bench,
        load,
        EACH,
        |keys, values| reduce_by_key(op, keys, values, Nans::Apart),
        |(firsts, sums), keys, values| {
            let (right, offsets) = runs_on_cpu(keys, Nans::Apart);
            check("the keys of the runs", &firsts, &right)?;
            check("the sums of the runs", &sums, &reduce_segments_on_cpu(op, values, &offsets))
        },
    )
}

/// µs of the inclusive sums of each run.
fn scan<const EACH: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let (form, nans) = (Form::Inclusive, Nans::Apart);
    measure(
        bench,
        load,
        EACH,
        |keys, values| scan_by_key::<Sum<f32>, _>(keys, values, form, nans),
        |sums, keys, values| {
            let right = scan_by_key_on_cpu::<Sum<f32>, _>(keys, values, form, nans);
            check("the sums up to each value", &sums.download()?, &right)
        },
    )
}

/// µs of the key and the first value of each run.
fn unique<const EACH: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    measure(
        bench,
        load,
        EACH,
        |keys, values| unique_by_key(keys, values, Nans::Apart),
        |(firsts, kept), keys, values| {
            let (right, first_values) = unique_by_key_on_cpu(keys, values, Nans::Apart);
            check("the keys of the runs", &firsts, &right)?;
            check("the first values of the runs", &kept, &first_values)
        },
    )
}

/// µs of one `call(keys, values)`, where each run has `each` keys. Then `verify` gets what the last
/// call found, the keys and the values. Each call drops what the one before it found, as a program
/// would in the end.
fn measure<T>(
    bench: &mut Bench<'_>,
    load: &Load,
    each: usize,
    call: impl Fn(&Buffer<u32>, &Buffer<f32>) -> Result<T, DeviceError>,
    verify: impl FnOnce(T, &[u32], &[f32]) -> Result<(), MeasureError>,
) -> Measured {
    let values = &bench.stock.inputs::<f32>(bench.device, load.n, 1)?[0];
    let host: Vec<u32> = (0..load.n).map(|i| (i / each) as u32).collect();
    let keys = bench.device.upload(&host)?;
    let mut found = None;
    let timed = |_| {
        found = Some(call(&keys, values)?);
        Ok(())
    };
    // SAFETY: a call only reads both arrays, which outlive the measurement, and writes new ones.
    let measured = unsafe { time_cold(bench.device, &load.plan, bench.sampling, timed) }?;
    verify(found.expect("there was a call"), &host, &values.download()?)?;
    Ok(Some(measured))
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
    fn a_call_is_measured_alone_and_reads_keys_and_values() {
        let records = BY_KEY.in_emulator(&BY_KEY.cases[2..4], 100);
        let told: Vec<_> = records
            .iter()
            .map(|record| {
                (record.params["op"].as_str(), record.params["calls"].as_u64(), record.bytes)
            })
            .collect();
        let of = |op, arrays: u64| (Some(op), Some(1), Some(arrays * 4 * 100));
        assert_eq!(told, [of("reduce-1024", 2), of("scan-2", 3)]);
    }

    #[test]
    fn a_wrong_or_a_missing_result_is_found() {
        assert_eq!(check("they", &[1.0f32, 2.0], &[1.0, 2.0]), Ok(()));
        assert!(check("they", &[1.0f32, -2.0], &[1.0, 2.0]).is_err());
        let missing = check("the keys", &[1u32], &[1, 2]).expect_err("one is missing");
        assert_eq!(missing.to_string(), "the keys differ from those on the CPU");
    }
}

//! The suite `sort`: arrays in order, compared with CUB's `DeviceRadixSort`, and rows of matrices and
//! segments, compared with its `DeviceSegmentedSort`.

use super::throughput::{Bench, Element, Load, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::primitives::sort::{
    Key, Order, Segments, Sorter, argsort_on_cpu, sort_on_cpu, sort_rows_on_cpu,
};

/// The mode of the peer.
const DEFAULT: &[&str] = &["default"];

/// The suite: keys of which every digit differs. CUB has no sort of indices: its input has the
/// indices too, and their making is not timed.
///
/// The bytes are those of the input and the output, as if they were moved once.
pub const SORT: Throughput = Throughput {
    name: "sort",
    cases: &[
        Case::new::<u32>("radix", "keys", DEFAULT, keys::<u32>),
        // The values too are read and written.
        Case::new::<u32>("radix", "pairs", DEFAULT, pairs).writing(300),
        Case::new::<f32>("radix", "keys", DEFAULT, keys::<f32>),
        Case::new::<f32>("radix", "argsort", DEFAULT, argsort),
        Case::new::<u64>("radix", "keys", DEFAULT, keys::<u64>),
        Case::new::<f64>("radix", "keys", DEFAULT, keys::<f64>),
        Case::new::<f32>("radix", "rows-16", DEFAULT, rows::<16>),
        Case::new::<f32>("radix", "rows-1000", DEFAULT, rows::<1000>),
        Case::new::<f32>("radix", "rows-100000", DEFAULT, rows::<100_000>),
        Case::new::<f32>("radix", "segments-16", DEFAULT, segments::<16>),
        Case::new::<f32>("radix", "segments-1000", DEFAULT, segments::<1000>),
        Case::new::<f32>("radix", "segments-1e5", DEFAULT, segments::<100_000>),
    ],
    sizes: &[1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28],
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "cub::DeviceRadixSort and DeviceSegmentedSort",
        source: include_str!("../../peers/cub_sort.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The result of a measurement.
type Measured = Result<Option<Measurement>, MeasureError>;

/// µs of one sort of keys in device memory to another array.
fn keys<K: Hashed>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let Load { n, plan } = *load;
    let inputs = bench.stock.hashed(bench.device, n, plan.calls, K::of_hashes)?;
    let mut outputs = room::<K>(bench.device, load)?;
    let mut sorter = Sorter::new(bench.device, n)?;
    let sort = |i: usize| sorter.launch(Order::ASCENDING, &inputs[i], &mut outputs[i]);
    // SAFETY: a sort only reads its input, writes its output and leaves its workspace ready for the
    // next one. All of them outlive the measurement.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, sort) }?;
    if load.is_checked() {
        let right = sort_on_cpu(Order::ASCENDING, &inputs[0].download()?);
        check(&outputs[0].download()?, &right)?;
    }
    Ok(Some(measured))
}

/// The same with values of 4 bytes: those of the next input.
fn pairs(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let Load { n, plan } = *load;
    let inputs = bench.stock.hashed(bench.device, n, 2 * plan.calls, u32::of_hashes)?;
    let (mut outputs, mut moved) = (room(bench.device, load)?, room(bench.device, load)?);
    let mut sorter = Sorter::new(bench.device, n)?;
    let sort = |i: usize| {
        let input = (&inputs[2 * i], &inputs[2 * i + 1]);
        sorter.launch_pairs(Order::ASCENDING, input, (&mut outputs[i], &mut moved[i]))
    };
    // SAFETY: as for keys.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, sort) }?;
    if load.is_checked() {
        // All inputs are alike, so each value is its key.
        let right = sort_on_cpu(Order::ASCENDING, &inputs[0].download()?);
        check(&outputs[0].download()?, &right)?;
        check(&moved[0].download()?, &right)?;
    }
    Ok(Some(measured))
}

/// µs of writing the indices of f32 in the order of their elements.
fn argsort(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let Load { n, plan } = *load;
    let inputs = bench.stock.hashed(bench.device, n, plan.calls, f32::of_hashes)?;
    let mut outputs = room::<u32>(bench.device, load)?;
    let mut sorter = Sorter::new(bench.device, n)?;
    let sort = |i: usize| sorter.launch_argsort(Order::ASCENDING, &inputs[i], &mut outputs[i]);
    // SAFETY: as for keys.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, sort) }?;
    if load.is_checked() {
        let right: Vec<u32> = argsort_on_cpu(Order::ASCENDING, &inputs[0].download()?);
        check(&outputs[0].download()?, &right)?;
    }
    Ok(Some(measured))
}

/// µs of sorting rows of so many f32. Elements that are left over are not sorted.
fn rows<const COLUMNS: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let rows = load.n / COLUMNS;
    each_row(bench, load, COLUMNS, |sorter, input, output| {
        sorter.rows(rows, COLUMNS).launch(Order::ASCENDING, input, output)
    })
}

/// The same elements in segments by offsets, which are prepared once and before the measurement.
fn segments<const LEN: usize>(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let offsets: Vec<u64> = (0..=load.n / LEN).map(|segment| (segment * LEN) as u64).collect();
    let segments = Segments::new(bench.device, &offsets)?;
    each_row(bench, load, LEN, |sorter, input, output| {
        sorter.segments(&segments).launch(Order::ASCENDING, input, output)
    })
}

/// µs of `sort` of as many rows of so many f32 as there are.
fn each_row(
    bench: &mut Bench<'_>,
    load: &Load,
    columns: usize,
    sort: impl Fn(&mut Sorter<f32>, &Buffer<f32>, &mut Buffer<f32>) -> Result<(), DeviceError>,
) -> Measured {
    let (rows, plan) = (load.n / columns, load.plan);
    if rows == 0 {
        return Ok(None);
    }
    let load = Load { n: rows * columns, ..*load };
    let inputs = bench.stock.hashed(bench.device, load.n, plan.calls, f32::of_hashes)?;
    let mut outputs = room::<f32>(bench.device, &load)?;
    let mut sorter = Sorter::new(bench.device, 0)?;
    let call = |i: usize| sort(&mut sorter, &inputs[i], &mut outputs[i]);
    // SAFETY: as for keys.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, call) }?;
    if load.is_checked() {
        let right = sort_rows_on_cpu(Order::ASCENDING, &inputs[0].download()?, rows, columns);
        check(&outputs[0].download()?, &right)?;
    }
    Ok(Some(measured))
}

/// An output for each call.
fn room<T: Element>(device: &Device, load: &Load) -> Result<Vec<Buffer<T>>, DeviceError> {
    (0..load.plan.calls).map(|_| device.alloc(load.n)).collect()
}

/// Compares every element.
fn check<T: Element>(got: &[T], right: &[T]) -> Result<(), MeasureError> {
    let differ = |(a, b): (&T, &T)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b);
    match got.iter().zip(right).position(differ) {
        None => Ok(()),
        Some(at) => Err(MeasureError::Wrong(format!(
            "a sort of {} elements has a wrong {} at {at}",
            right.len(),
            T::DTYPE
        ))),
    }
}

/// An element computed from two hashes. The peer computes the same.
pub(super) trait Hashed: Element + Key {
    fn of_hashes(hashes: [u32; 2]) -> Self;
}

impl Hashed for u32 {
    fn of_hashes([hash, _]: [u32; 2]) -> Self {
        hash
    }
}

impl Hashed for f32 {
    /// Neither infinite nor NaN: one bit of the exponent is zero.
    fn of_hashes([hash, _]: [u32; 2]) -> Self {
        Self::from_bits(hash & !(1 << 30))
    }
}

impl Hashed for u64 {
    fn of_hashes([low, high]: [u32; 2]) -> Self {
        Self::from(high) << 32 | Self::from(low)
    }
}

impl Hashed for f64 {
    /// Neither infinite nor NaN: one bit of the exponent is zero.
    fn of_hashes(hashes: [u32; 2]) -> Self {
        Self::from_bits(u64::of_hashes(hashes) & !(1 << 62))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_measured_and_right() {
        for case in SORT.cases {
            let is_measured = case.alone_in_emulator(300).is_some();
            let is_possible = !case.op.ends_with("000") && !case.op.ends_with("e5");
            assert_eq!(is_measured, is_possible, "{} {}", case.op, case.dtype);
        }
    }

    #[test]
    fn a_wrong_element_is_found() {
        assert_eq!(check(&[1, 2, 3], &[1, 2, 3]), Ok(()));
        let wrong = check(&[1, 3, 2], &[1, 2, 3]).expect_err("two elements are exchanged");
        assert_eq!(wrong.to_string(), "a sort of 3 elements has a wrong i32 at 1");
    }

    #[test]
    fn keys_are_finite() {
        assert!(f32::of_hashes([!0, 0]).is_finite() && f64::of_hashes([!0; 2]).is_finite());
        assert_eq!(u64::of_hashes([1, 2]), 0x2_0000_0001);
    }
}

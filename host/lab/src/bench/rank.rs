//! The suite `rank`: the elements at some ranks of an array or of its rows, and its distinct values.

use super::sort::Hashed;
use super::throughput::{Bench, Load, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, Throughput};
use gridsync::device::DeviceError;
use gridsync::primitives::rank::{
    Arranged, RankError, Ranker, kth_on_cpu, median_on_cpu, top_k_on_cpu, top_k_rows_on_cpu,
};
use gridsync::primitives::sort::Order;
use gridsync::primitives::value_counts::{ValueCounter, ValueCounts, value_counts_on_cpu};

/// The suite: f32 of which every digit differs, and u32 that repeat.
///
/// The host waits for each result, so the times of calls in a row would not differ from those of one
/// alone, and only these are measured. PyTorch and CuPy leave their results on the GPU. We have no peer
/// in CUDA C++.
pub const RANK: Throughput = Throughput {
    name: "rank",
    cases: &[
        Case::new::<f32>("sampled", "top-64", &[], |bench, load| top(bench, load, 64)).alone(),
        Case::new::<f32>("sampled", "top-4096", &[], |bench, load| top(bench, load, 4096)).alone(),
        Case::new::<f32>("sampled", "kth", &[], kth).alone(),
        Case::new::<f32>("sampled", "median", &[], median).alone(),
        Case::new::<f32>("sorted", "top-8-rows", &[], top_of_rows).alone(),
        Case::new::<u32>("sorted", "values", &[], values).alone(),
    ],
    sizes: &[1 << 16, 1 << 20, 1 << 24, 1 << 28],
    ceiling: Ceiling::Read,
    peer: None,
    on_cpu: None,
};

/// Elements of a row.
const COLUMNS: usize = 1000;

/// How many of the greatest elements of each row are found.
const OF_ROW: usize = 8;

/// Distinct values of the elements that repeat.
const VALUES: u32 = 1000;

/// The result of a measurement.
type Measured = Result<Option<Measurement>, MeasureError>;

/// µs of the `k` greatest elements of an array, with their indices, in order.
fn top(bench: &mut Bench<'_>, load: &Load, k: usize) -> Measured {
    if k > load.n {
        return Ok(None);
    }
    let inputs = bench.stock.hashed(bench.device, load.n, 1, f32::of_hashes)?;
    let (mut first, mut indices) = (bench.device.alloc(k)?, bench.device.alloc(k)?);
    let mut ranker = Ranker::new(bench.device, load.n)?;
    let call = |_| {
        let to = (&mut first, &mut indices);
        ranker.top_k(Order::DESCENDING, &inputs[0], Arranged::ByRank, to).map_err(of_device)
    };
    // SAFETY: the call only reads its input, writes its outputs and leaves its working memory ready
    // for the next one. All of them outlive the measurement.
    let measured = unsafe { time_cold(bench.device, &load.plan, bench.sampling, call) }?;
    let right = top_k_on_cpu(Order::DESCENDING, &inputs[0].download()?, k, Arranged::ByRank);
    check("the first elements", &(first.download()?, indices.download()?), &right)?;
    Ok(Some(measured))
}

/// µs of the element at a quarter of the ranks, and its index.
fn kth(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let inputs = bench.stock.hashed(bench.device, load.n, 1, f32::of_hashes)?;
    let mut ranker = Ranker::new(bench.device, load.n)?;
    let (order, rank) = (Order::ASCENDING, load.n / 4);
    let mut found = None;
    let call = |_| {
        found = Some(ranker.kth(order, &inputs[0], rank).map_err(of_device)?);
        Ok(())
    };
    // SAFETY: as for the first elements.
    let measured = unsafe { time_cold(bench.device, &load.plan, bench.sampling, call) }?;
    let right = kth_on_cpu(order, &inputs[0].download()?, rank).map(Some);
    check("the element of a rank", &found, &right)?;
    Ok(Some(measured))
}

/// µs of the median.
fn median(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let inputs = bench.stock.hashed(bench.device, load.n, 1, f32::of_hashes)?;
    let mut ranker = Ranker::new(bench.device, load.n)?;
    let mut found = None;
    let call = |_| {
        found = Some(ranker.median(&inputs[0]).map_err(of_device)?);
        Ok(())
    };
    // SAFETY: as for the first elements.
    let measured = unsafe { time_cold(bench.device, &load.plan, bench.sampling, call) }?;
    check("the median", &found, &median_on_cpu(&inputs[0].download()?).map(Some))?;
    Ok(Some(measured))
}

/// µs of the greatest elements of each row, with their indices: one launch for all rows. Elements that
/// are left over are not searched.
fn top_of_rows(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let rows = load.n / COLUMNS;
    if rows == 0 {
        return Ok(None);
    }
    let (shape, kept) = ((rows, COLUMNS), rows * OF_ROW);
    let inputs = bench.stock.hashed(bench.device, rows * COLUMNS, 1, f32::of_hashes)?;
    let (mut first, mut indices) = (bench.device.alloc(kept)?, bench.device.alloc(kept)?);
    let mut ranker = Ranker::new(bench.device, COLUMNS)?;
    let call = |_| {
        let to = (&mut first, &mut indices);
        ranker.top_k_rows(Order::DESCENDING, &inputs[0], shape, to).map_err(of_device)
    };
    // SAFETY: as for the first elements.
    let measured = unsafe { time_cold(bench.device, &load.plan, bench.sampling, call) }?;
    let right = top_k_rows_on_cpu(Order::DESCENDING, &inputs[0].download()?, shape, OF_ROW);
    check("the first elements of rows", &(first.download()?, indices.download()?), &right)?;
    Ok(Some(measured))
}

/// µs of the distinct values of an array, with the count and the first index of each, on the host.
fn values(bench: &mut Bench<'_>, load: &Load) -> Measured {
    let inputs = bench.stock.hashed(bench.device, load.n, 1, |[hash, _]| hash % VALUES)?;
    let mut counter = ValueCounter::new(bench.device, load.n)?;
    let mut found = ValueCounts::default();
    let call = |_| {
        found = counter.count(Order::ASCENDING, &inputs[0])?;
        Ok(())
    };
    // SAFETY: as for the first elements.
    let measured = unsafe { time_cold(bench.device, &load.plan, bench.sampling, call) }?;
    let right = value_counts_on_cpu(Order::ASCENDING, &inputs[0].download()?);
    check("the distinct values", &found, &Ok(right))?;
    Ok(Some(measured))
}

/// The error of the device.
fn of_device(error: RankError) -> DeviceError {
    match error {
        RankError::Device(error) => error,
        refused => unreachable!("the ranks exist: {refused}"),
    }
}

/// Compares a result with that of the CPU.
fn check<T: PartialEq>(
    what: &str,
    found: &T,
    right: &Result<T, RankError>,
) -> Result<(), MeasureError> {
    if right.as_ref() == Ok(found) {
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
        for case in RANK.cases {
            assert!(case.alone_in_emulator(5000).is_some(), "{} {}", case.op, case.dtype);
        }
    }

    #[test]
    fn a_wrong_element_is_found() {
        assert_eq!(check("it", &Some(1.0), &Ok(Some(1.0))), Ok(()));
        assert!(check("it", &None, &Ok(Some(1.0))).is_err());
    }
}

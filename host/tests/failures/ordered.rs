//! Primitives that order elements or count them, and their expected results.

use super::scenarios::{Bytes, Scenario, bytes, floats};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::histogram::{Bins, Histogram};
use gridsync::primitives::rank::{Arranged, RankError, Ranker, top_k_on_cpu};
use gridsync::primitives::sort::{Order, Sorter, argsort_on_cpu};
use gridsync::primitives::value_counts::{ValueCounter, ValueCounts, value_counts_on_cpu};

const LEN: usize = 601;
/// How many of the first elements are selected.
const FIRST: usize = 50;
const ORDER: Order = Order::DESCENDING;

fn rank_error(error: RankError) -> DeviceError {
    match error {
        RankError::Device(error) => error,
        other => panic!("the array is long enough: {other}"),
    }
}

fn bins() -> Bins<f32> {
    Bins::even(-11.0, 20.0, 9).expect("its edges ascend")
}

fn of_values(found: &ValueCounts<f32>) -> Bytes {
    [bytes(&found.elements), bytes(&found.counts), bytes(&found.indices)].concat()
}

pub(crate) const ORDERED: &[Scenario<Device>] = &[
    Scenario {
        name: "argsort",
        begin: |device| {
            let input = device.upload(&floats(LEN))?;
            let mut indices = device.alloc::<u64>(LEN)?;
            let mut sorter = Sorter::new(device, 0)?;
            Ok(Box::new(move || {
                sorter.launch_argsort(ORDER, &input, &mut indices)?;
                Ok(bytes(&indices.download()?))
            }))
        },
        expected: || bytes(&argsort_on_cpu::<f32, u64>(ORDER, &floats(LEN))),
    },
    Scenario {
        name: "the first of an order, by index",
        begin: |device| {
            let input = device.upload(&floats(LEN))?;
            let (mut elements, mut indices) = (device.alloc(FIRST)?, device.alloc(FIRST)?);
            let mut ranker = Ranker::new(device, LEN)?;
            Ok(Box::new(move || {
                let to = (&mut elements, &mut indices);
                ranker.top_k(ORDER, &input, Arranged::ByIndex, to).map_err(rank_error)?;
                Ok([bytes::<f32>(&elements.download()?), bytes(&indices.download()?)].concat())
            }))
        },
        expected: || {
            let found = top_k_on_cpu(ORDER, &floats(LEN), FIRST, Arranged::ByIndex);
            let (elements, indices) = found.expect("the array is long enough");
            [bytes(&elements), bytes(&indices)].concat()
        },
    },
    Scenario {
        name: "distinct values",
        begin: |device| {
            let input = device.upload(&floats(LEN))?;
            // It is created for 0 elements, so it has to grow.
            let mut counter = ValueCounter::new(device, 0)?;
            Ok(Box::new(move || Ok(of_values(&counter.count(ORDER, &input)?))))
        },
        expected: || of_values(&value_counts_on_cpu(ORDER, &floats(LEN))),
    },
    Scenario {
        name: "histogram",
        begin: |device| {
            let input = device.upload(&floats(LEN))?;
            let mut counts = device.alloc::<u64>(bins().len())?;
            let mut counter = Histogram::new(device, bins())?;
            Ok(Box::new(move || {
                counter.launch(&input, &mut counts)?;
                Ok(bytes(&counts.download()?))
            }))
        },
        expected: || bytes(&bins().count_on_cpu(&floats(LEN))),
    },
];

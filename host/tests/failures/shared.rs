//! Primitives that two devices share, and their expected results.

use super::scenarios::{
    Scenario, backwards, bytes, correlated, device_error, floats, of_kendall, part_error,
    range_error,
};
use bytemuck::Pod;
use gridsync::device::Devices;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::primitives::select::{FirstOfRun, Within, partition_on_cpu, positions_on_cpu};
use gridsync::primitives::{
    PartCorrelator, PartReducer, PartScanner, PartSelector, Spread, SpreadReducer, Wanted,
    range_sums_in_parts,
};
use gridsync_kernels::op::{ArgMin, Sum};

/// The part of `input` that starts at element `done`, with at most `part` elements.
fn next_part<T: Pod>(input: &[T], done: usize, part: usize) -> &[T] {
    &input[done..input.len().min(done + part)]
}

/// The minimum is in the last share of the last part. Its index counts from the start of the array.
fn falling() -> Vec<f64> {
    (0..3001).map(|i| -f64::from(i)).collect()
}

pub(crate) const SHARED: &[Scenario<Devices>] = &[
    Scenario {
        name: "shared: argmin",
        begin: |devices| {
            let (input, part) = (falling(), 2000);
            let devices = devices.clone();
            Ok(Box::new(move || {
                let mut least = PartReducer::new(ArgMin::<f64>::new(), &devices, 3001, part)
                    .map_err(part_error)?;
                for elements in input.chunks(part) {
                    least.next(elements).map_err(part_error)?;
                }
                Ok(bytes(&[least.finish().expect("there are elements").index]))
            }))
        },
        expected: || {
            let found = reduce_on_cpu(ArgMin::<f64>::new(), &falling());
            bytes(&[found.expect("there are elements").index])
        },
    },
    Scenario {
        name: "shared: sum, part after part",
        begin: |devices| {
            let (input, part): (Vec<u64>, _) = ((0..3001).map(|i| i * i).collect(), 1000);
            let new = PartReducer::new(Sum::<u64>::new(), devices, 3001, part);
            let (mut sum, mut done) = (Some(new.map_err(part_error)?), 0);
            Ok(Box::new(move || {
                // Retry a part that failed.
                while let (Some(sum), true) = (&mut sum, done < input.len()) {
                    let elements = next_part(&input, done, part);
                    sum.next(elements).map_err(part_error)?;
                    done += elements.len();
                }
                let all = sum.take().map(PartReducer::finish);
                Ok(bytes(&[all.unwrap_or(SQUARES)]))
            }))
        },
        expected: || bytes(&[SQUARES]),
    },
    Scenario {
        name: "shared: sum of an array that is spread",
        begin: |devices| {
            // It is on the first device: arrays on both have more than 4 MiB, see
            // `several_devices/main.rs`.
            let input: Vec<u64> = (0..3001).map(|i| i * i).collect();
            let spread = Spread::upload(devices, &input)?;
            let mut sums = SpreadReducer::new(Sum::<u64>::new(), devices)?;
            Ok(Box::new(move || {
                let waited = sums.reduce(&spread)?;
                sums.launch(&spread)?;
                Ok(bytes(&[waited, sums.result(&spread)?]))
            }))
        },
        expected: || bytes(&[SQUARES; 2]),
    },
    Scenario {
        name: "shared: scan of one unit",
        begin: |devices| {
            let input: Vec<i32> = (0..3000).collect();
            let (op, len) = (Sum::<i32, i64>::new(), input.len() << 20);
            let mut scanner =
                PartScanner::new(op, devices, len, Form::Inclusive, 0).map_err(part_error)?;
            let (mut sums, mut done) = (vec![0i64; 3000], 0);
            Ok(Box::new(move || {
                while done < 3000 {
                    let part = done..done + 1000;
                    scanner.next(&input[part.clone()], &mut sums[part]).map_err(part_error)?;
                    done += 1000;
                }
                Ok(bytes(&sums))
            }))
        },
        expected: || {
            let input: Vec<i32> = (0..3000).collect();
            bytes(&scan_on_cpu(Sum::<i32, i64>::new(), &input, Form::Inclusive))
        },
    },
    Scenario {
        name: "shared: range sums",
        begin: |devices| {
            let devices = devices.clone();
            Ok(Box::new(move || {
                let (input, op) = (vec![2i32; 1200], Sum::<i32, i64>::new());
                let sums = range_sums_in_parts(op, &devices, &input, &[[5, 900]], 1, |_| ());
                Ok(bytes(&sums.map_err(range_error)?))
            }))
        },
        expected: || bytes(&[2 * 895i64]),
    },
    Scenario {
        name: "shared: partition",
        begin: |devices| {
            let devices = devices.clone();
            Ok(Box::new(move || {
                let (by, input) = (Within::greater_than(0.0f32), floats(301));
                let wanted = Wanted { rest: true, positions: true };
                let mut selector =
                    PartSelector::new(by, &devices, 301, wanted).map_err(part_error)?;
                let found = selector.next(&input).map_err(part_error)?;
                let rest = found.rest.expect("it was wanted");
                let positions = found.positions.expect("they were wanted");
                Ok([bytes(&found.kept), bytes(&rest), bytes(&positions)].concat())
            }))
        },
        expected: || {
            let (by, input) = (Within::greater_than(0.0f32), floats(301));
            let [kept, rest] = partition_on_cpu(by, &input);
            [bytes(&kept), bytes(&rest), bytes(&positions_on_cpu(by, &input))].concat()
        },
    },
    Scenario {
        name: "shared: unique, part after part",
        begin: |devices| {
            // Runs of equal elements cross the borders of shares and of parts.
            let (by, input, part) = (FirstOfRun::<f32>::new(), floats(161), 90);
            let mut selector =
                PartSelector::new(by, devices, part, Wanted::POSITIONS).map_err(part_error)?;
            let (mut all, mut done) = (Vec::new(), 0);
            Ok(Box::new(move || {
                while done < input.len() {
                    let elements = next_part(&input, done, part);
                    let found = selector.next(elements).map_err(part_error)?;
                    all.extend(found.positions.expect("they were wanted"));
                    done += elements.len();
                }
                Ok(bytes(&all))
            }))
        },
        expected: || bytes(&positions_on_cpu(FirstOfRun::<f32>::new(), &floats(161))),
    },
    Scenario {
        name: "shared: Kendall",
        begin: |devices| {
            let mut correlator = PartCorrelator::new(devices, 90, 60).map_err(device_error)?;
            Ok(Box::new(move || {
                let (x, y) = (floats(90), backwards(floats, 90));
                let all = correlator.correlate(&x, &y, |_, _| ());
                Ok(of_kendall(&all.map_err(device_error)?))
            }))
        },
        expected: || correlated(floats, 90),
    },
];

/// The sum of the squares of 0 to 3000.
const SQUARES: u64 = 3000 * 3001 * 6001 / 6;

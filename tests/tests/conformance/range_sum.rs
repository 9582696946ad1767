//! Range sums: every sum × size × backend, and queries that are not ranges.

use crate::matrix::run;
use gridsync::device::Device;
use gridsync::primitives::range_sum::{BadRange, RangeSumError, RangeSums, range_sums_on_cpu};
use gridsync_kernels::op::Sum;
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Primitive, Size, kinds, sample, sample_ranges};

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            the_first_bad_query_is_the_first_under_every_schedule;
        on_each_backend:
            the_first_invalid_range_is_reported_with_its_ends,
            one_scan_answers_queries_after_an_invalid_one,
            a_range_that_fits_is_right_even_if_the_sums_before_it_wrap;
    };
    let short = [0, 1, 2, 33, 1024, 6007];
    for len in short {
        trials.test(format!("on_the_emulator::len_{len}"), move || every_sum(&emulator(), len));
    }
    for len in short.into_iter().chain([(1 << 20) + 7]) {
        trials.test(format!("on_cuda::len_{len}"), move || {
            with_cuda(|cuda| every_sum(cuda, len));
        });
    }
    trials
}

/// Runs the library's case for every sum.
fn every_sum(device: &Device, len: usize) {
    kinds(Primitive::Ranges).for_each(|kind| run(device, kind, Size::Array(len), len));
}

/// The answer of the device, checked against that of the CPU, and the error of the CPU, if any.
fn ask(
    device: &Device,
    queries: &[[u64; 2]],
) -> (Result<Vec<i64>, RangeSumError>, Option<BadRange>) {
    let host = sample::<i32>(Input::Values, 1000, 1);
    let input = device.upload(&host).expect("the input should fit");
    let sum = Sum::<i32, i64>::new();
    let mut ranges = RangeSums::<Sum<i32, i64>>::new(device, &input).expect("it should be scanned");
    let on_the_cpu = range_sums_on_cpu(sum, &host, queries);
    let got = ranges.query(queries);
    let bad = on_the_cpu.as_ref().err().copied();
    assert_eq!(got, on_the_cpu.map_err(RangeSumError::BadRange));
    (got, bad)
}

fn the_first_invalid_range_is_reported_with_its_ends(device: &Device) {
    let mut queries = sample_ranges(1000, 700, 3);
    assert!(ask(device, &queries).0.is_ok());
    for (query, range) in [(699, [1000, 1001]), (600, [u64::MAX, u64::MAX]), (17, [5, 3])] {
        queries[query] = range;
        let bad = ask(device, &queries).1.expect("it is no range");
        assert_eq!((bad.query, [bad.from, bad.to], bad.len), (query, range, 1000));
    }
    let told = ask(device, &queries).0.expect_err("it is no range").to_string();
    assert!(told.starts_with("query 17: 5..3 is not a valid range of 1000 elements"), "{told}");
}

fn one_scan_answers_queries_after_an_invalid_one(device: &Device) {
    let input = device.upload(&[1u32, 2, 3]).expect("the input should fit");
    let mut ranges = RangeSums::<Sum<u32, u64>>::new(device, &input).expect("it should be scanned");
    assert!(ranges.query(&[[0, 4]]).is_err());
    assert_eq!(ranges.query(&[[0, 3], [1, 2], [3, 3]]), Ok(vec![6, 2, 0]));
    assert_eq!(ranges.query(&[]), Ok(vec![]));
}

fn a_range_that_fits_is_right_even_if_the_sums_before_it_wrap(device: &Device) {
    let host = [i64::MAX, i64::MAX, 5, -7];
    let input = device.upload(&host).expect("the input should fit");
    let mut ranges = RangeSums::<Sum<i64>>::new(device, &input).expect("it should be scanned");
    assert_eq!(ranges.query(&[[2, 4], [1, 2]]), Ok(vec![-2, i64::MAX]));
}

fn the_first_bad_query_is_the_first_under_every_schedule() {
    for schedule in schedules() {
        let mut queries = sample_ranges(1000, 64, 5);
        for query in [63, 31, 40, 8, 33] {
            queries[query] = [2, 1];
        }
        let bad = ask(&emulator_under(schedule), &queries).1;
        assert_eq!(bad.map(|bad| bad.query), Some(8), "{schedule:?}");
    }
}

//! Means: sums divided by the number of elements, of arrays and of rows.

use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::{Checked, Reducer, RowReducer};
use gridsync::reference;
use gridsync_entries::reduce::Reducible;
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::op::{CompensatedSum, Mean, Operation, Sum, Total, WideSum};
use gridsync_tests::devices::emulator;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            a_mean_cannot_be_recorded_because_a_replay_lacks_its_length;
        on_each_backend:
            means_of_every_type_are_right,
            a_mean_of_64_bit_integers_is_right_even_if_the_sum_exceeds_64_bits,
            rows_have_the_same_means_as_alone;
    }
}

const LENS: [usize; 7] = [1, 2, 33, 1000, 4097, 12_345, 65_537];

/// The mean of `host` on `device`. Checks that the CPU gives the same bits.
fn mean_of<O>(device: &Device, sum: O, host: &[O::Element]) -> Option<f64>
where
    O: Reducible<Element: Pod> + Operation<Output: Total>,
{
    let mean = Mean::new(sum);
    let input = device.upload(host).expect("the input should fit");
    let mut reducer = Reducer::new(mean, device).expect("a reducer should fit");
    let got = reducer.reduce(&input).expect("it should reduce");
    let on_the_cpu = reference::reduce(mean, host);
    assert_eq!(got.map(f64::to_bits), on_the_cpu.map(f64::to_bits), "{} elements", host.len());
    got
}

/// Checks the means of sampled elements, and shows that the check can fail.
fn means_are_right<O>(device: &Device)
where
    O: Reducible<Element: Pod + Sample> + Operation<Output: Total> + Default,
    Mean<O>: Checked + Operation<Element = O::Element, Output = Option<f64>>,
{
    for len in LENS {
        let host = sample::<O::Element>(Input::Values, len, len as u64);
        let mean = mean_of(device, O::default(), &host);
        let op = Mean::new(O::default());
        let depth = reference::reduce_depth::<O>(len);
        let check = op.check(&host, mean, depth);
        assert!(check.ok, "{len} elements: {mean:?}, {check:?}");
        let wrong = mean.map(|mean| mean + check.bound * 1.01 + mean.abs() * 1e-6 + 1e-3);
        assert!(!op.check(&host, wrong, depth).ok, "{len} elements: {wrong:?}");
        assert!(!op.check(&host, None, depth).ok, "{len} elements have a mean");
    }
    assert_eq!(mean_of(device, O::default(), &[]), None);
}

fn means_of_every_type_are_right(device: &Device) {
    means_are_right::<Sum<f32>>(device);
    means_are_right::<Sum<f32, f64>>(device);
    means_are_right::<Sum<f64>>(device);
    means_are_right::<Sum<f16, f32>>(device);
    means_are_right::<Sum<bf16, f64>>(device);
    means_are_right::<CompensatedSum<f32>>(device);
    means_are_right::<CompensatedSum<f64>>(device);
    means_are_right::<Sum<i32, i64>>(device);
    means_are_right::<Sum<u32, u64>>(device);
    means_are_right::<WideSum<i64>>(device);
    means_are_right::<WideSum<u64>>(device);
}

fn a_mean_of_64_bit_integers_is_right_even_if_the_sum_exceeds_64_bits(device: &Device) {
    let mean = |host: &[i64]| mean_of(device, WideSum::<i64>::new(), host);
    assert_eq!(mean(&[i64::MAX; 5000]), Some(i64::MAX as f64));
    assert_eq!(mean(&[i64::MIN; 4097]), Some(i64::MIN as f64));
    assert_eq!(mean(&[i64::MAX, i64::MIN, i64::MAX, i64::MIN]), Some(-0.5));
    let unsigned = vec![u64::MAX; 3000];
    assert_eq!(mean_of(device, WideSum::<u64>::new(), &unsigned), Some(u64::MAX as f64));
    let input = device.upload(&unsigned).expect("the input should fit");
    let mut sum = Reducer::new(WideSum::<u64>::new(), device).expect("a reducer should fit");
    assert_eq!(sum.reduce(&input), Ok(3000 * i128::from(u64::MAX)));
}

fn rows_have_the_same_means_as_alone(device: &Device) {
    rows_are_right::<Sum<f32>>(device);
    rows_are_right::<Sum<i32, i64>>(device);
    rows_are_right::<Sum<f16, f32>>(device);
}

/// Compares the means of rows, short and long, with the mean of each row alone.
fn rows_are_right<O>(device: &Device)
where
    O: Reducible<Element: Pod + Sample> + RowReducible + Operation<Output: Total> + Default,
{
    for columns in [0, 1, 7, 100, 5000] {
        let rows = 9;
        let host = sample::<O::Element>(Input::Values, rows * columns, 5);
        let input = device.upload(&host).expect("the input should fit");
        let mut reducer = RowReducer::new(Mean::<O>::default(), device, rows, columns)
            .expect("a reducer should fit");
        let got = reducer.reduce(&input).expect("it should reduce");
        let alone = |row: usize| {
            reference::reduce(Mean::new(O::default()), &host[row * columns..][..columns])
        };
        let expected: Vec<_> = (0..rows).map(alone).collect();
        let bits =
            |means: &[Option<f64>]| means.iter().map(|x| x.map(f64::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(&got), bits(&expected), "{columns} columns");
    }
}

fn a_mean_cannot_be_recorded_because_a_replay_lacks_its_length() {
    let device = emulator();
    let input = device.upload(&[1i64, 2]).expect("the input should fit");
    let mut mean =
        Reducer::new(Mean::<WideSum<i64>>::default(), &device).expect("a reducer should fit");
    let refused = device.record(|| mean.launch(&input));
    let error = refused.expect_err("it should be refused");
    assert!(matches!(error, DeviceError::NotRecordable { .. }), "{error}");
    assert_eq!(mean.reduce(&input), Ok(Some(1.5)));
}

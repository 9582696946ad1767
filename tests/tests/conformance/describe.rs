//! Several statistics of an array in one read.

use bytemuck::Pod;
use gridsync::device::{Device, Devices, EmulatorConfig};
use gridsync::primitives::{Checked, PartReducer, describe, describe_on_cpu};
use gridsync::reference;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{
    Describable, Describe, Description, Deviation, MeanOfNumbers, MinMax, Operation, SkipNan, Sum,
    Then, Variance,
};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            descriptions_of_every_type_are_right,
            each_statistic_is_that_of_its_own_operation,
            nan_elements_are_counted_and_left_out,
            what_is_not_defined_is_none,
            infinite_elements_are_extremes_and_have_no_deviation;
        test:
            a_check_finds_any_wrong_statistic,
            parts_and_several_gpus_have_the_bits_of_the_whole;
    }
}

const LENS: [usize; 7] = [1, 2, 33, 1000, 4097, 12_345, 65_537];

/// The description of `host` on `device`. Checks that the CPU gives the same bits.
fn described<T: Describable + Pod>(device: &Device, host: &[T], ddof: u64) -> Description<T>
where
    Describe<T>: Reducible<Element = T, Output = Description<T>> + Checked,
{
    let input = device.upload(host).expect("the input should fit");
    let got = describe(&input, ddof).expect("it should reduce");
    assert!(Describe::<T>::same(describe_on_cpu(host, ddof), got), "{} elements", host.len());
    got
}

fn descriptions_of_every_type_are_right(device: &Device) {
    fn of<T: Describable + Pod + Sample + Debug>(device: &Device)
    where
        Describe<T>: Reducible<Element = T, Output = Description<T>> + Checked,
    {
        for len in LENS {
            let host = sample::<T>(Input::Values, len, len as u64);
            let depth = reference::reduce_depth::<Describe<T>>(len);
            for ddof in [0, 1] {
                let found = described(device, &host, ddof);
                let check = Describe::with_ddof(ddof).check(&host, found, depth);
                assert!(check.ok, "{len} elements: {found:?}, {check:?}");
            }
        }
    }
    of::<f32>(device);
    of::<f64>(device);
    of::<i32>(device);
    of::<u32>(device);
    of::<i64>(device);
    of::<u64>(device);
}

fn each_statistic_is_that_of_its_own_operation(device: &Device) {
    let host = sample::<f64>(Input::Values, 12_345, 7);
    let found = described(device, &host, 1);
    let deviation = Deviation::<f64>::of(Variance::with_ddof(1));
    let extremes = reference::reduce(MinMax::<f64>::new(), &host).expect("some elements");
    assert_eq!(found.deviation, reference::reduce(deviation, &host));
    assert_eq!(found.mean, reference::reduce(MeanOfNumbers::<f64>::new(), &host));
    assert_eq!(found.sum, reference::reduce(Sum::<f64>::new(), &host));
    assert_eq!((found.min, found.max), (Some(extremes.least), Some(extremes.greatest)));
    let host = sample::<i32>(Input::Values, 12_345, 8);
    let sum: i64 = host.iter().map(|&x| i64::from(x)).sum();
    let found = described(device, &host, 0);
    assert_eq!((found.sum, found.mean), (sum, Some(sum as f64 / 12_345.0)));
    assert_eq!((found.min, found.max), (host.iter().min().copied(), host.iter().max().copied()));
}

fn nan_elements_are_counted_and_left_out(device: &Device) {
    for len in [1, 2, 33, 1000, 12_345] {
        let numbers: Vec<f64> = (0..len).map(|i| f64::from((i * 7919) % 1013) - 500.0).collect();
        let mixed: Vec<f64> = numbers.iter().flat_map(|&x| [f64::NAN, x, -f64::NAN]).collect();
        let found = described(device, &mixed, 1);
        let alone = described(device, &numbers, 1);
        assert_eq!((found.count, found.nan), (len as u64, 2 * len as u64));
        assert_eq!((found.min, found.max), (alone.min, alone.max));
        // Sums of such whole numbers are exact in any order.
        assert_eq!(found.sum, alone.sum);
        let deviation = SkipNan::of(Variance::<f64>::with_ddof(1));
        let deviation =
            reference::reduce(Then::<_, gridsync_kernels::op::Root>::of(deviation), &mixed);
        assert_eq!(found.deviation, deviation);
        let depth = reference::reduce_depth::<Describe<f64>>(mixed.len());
        let check = Describe::with_ddof(1).check(&mixed, found, depth);
        assert!(check.ok, "{len} numbers: {found:?}, {check:?}");
    }
}

fn what_is_not_defined_is_none(device: &Device) {
    for host in [vec![], vec![f32::NAN], vec![f32::NAN; 5000]] {
        let found = described(device, &host, 0);
        let expected = Description {
            count: 0,
            nan: host.len() as u64,
            min: None,
            max: None,
            mean: None,
            deviation: None,
            sum: 0.0,
        };
        assert_eq!(found, expected);
        assert!(Describe::new().check(&host, found, 9).ok, "{} elements", host.len());
    }
    let found = described(device, &[7u64, 9], 2);
    assert_eq!((found.mean, found.deviation, found.sum), (Some(8.0), None, 16));
    assert!(Describe::with_ddof(2).check(&[7u64, 9], found, 9).ok);
    assert_eq!(described(device, &[7u64], 0).deviation, Some(0.0));
}

fn infinite_elements_are_extremes_and_have_no_deviation(device: &Device) {
    for at in [0, 1, 77, 4999] {
        let mut host: Vec<f64> = (0..5000).map(f64::from).collect();
        host[at] = f64::NEG_INFINITY;
        let found = described(device, &host, 0);
        assert_eq!((found.min, found.max.is_some_and(f64::is_finite)), (Some(host[at]), true));
        assert_eq!((found.mean, found.sum), (Some(host[at]), host[at]));
        assert!(found.deviation.is_some_and(f64::is_nan), "{found:?}");
        let depth = reference::reduce_depth::<Describe<f64>>(host.len());
        assert!(Describe::new().check(&host, found, depth).ok, "{found:?}");
        host[4999 - at] = f64::INFINITY;
        let found = described(device, &host, 0);
        assert!(found.sum.is_nan() && found.mean.is_some_and(f64::is_nan), "{found:?}");
        assert!(Describe::new().check(&host, found, depth).ok, "{found:?}");
    }
    let large = [f64::MAX, -f64::MAX, f64::MAX, -f64::MAX];
    let found = described(device, &large, 0);
    assert_eq!((found.mean, found.sum), (Some(0.0), 0.0));
    assert!(Describe::new().check(&large, found, 9).ok, "{found:?}");
}

fn a_check_finds_any_wrong_statistic() {
    fn of<T: Describable + Debug>(host: &[T], other: T, off: impl Fn(T::Total) -> T::Total)
    where
        Describe<T>: Operation<Element = T, Output = Description<T>> + Checked,
    {
        let (op, found) = (Describe::with_ddof(1), describe_on_cpu(host, 1));
        let depth = reference::reduce_depth::<Describe<T>>(host.len());
        let is_right = |found: Description<T>| op.check(host, found, depth).ok;
        assert!(is_right(found), "{found:?}");
        let bent = |x: Option<f64>| x.map(|x| x * (1.0 + 1e-9));
        for wrong in [
            Description { count: found.count + 1, ..found },
            Description { nan: found.nan + 1, ..found },
            Description { min: Some(other), ..found },
            Description { max: Some(other), ..found },
            Description { min: None, ..found },
            Description { min: None, max: None, ..found },
            Description { mean: bent(found.mean), ..found },
            Description { mean: None, ..found },
            Description { deviation: bent(found.deviation), ..found },
            Description { deviation: None, ..found },
            Description { sum: off(found.sum), ..found },
        ] {
            assert!(!is_right(wrong), "{wrong:?}");
            assert!(!Describe::<T>::same(wrong, found), "{wrong:?}");
        }
    }
    of(&[1.0f32, 2.5, f32::NAN, -7.0, 4.0], 2.5, |sum| sum + 1e-9);
    of(&[1i64, 2, i64::MAX, -7, 4], 2, |sum| sum + 1);
}

fn parts_and_several_gpus_have_the_bits_of_the_whole() {
    let len = (1 << 20) + 12_345;
    let mut host: Vec<f64> = (0..len).map(|i| 1e6 + (i * 7919 % 10_007) as f64 / 7.0).collect();
    host.iter_mut().step_by(13).for_each(|x| *x = f64::NAN);
    let op = Describe::<f64>::with_ddof(1);
    let whole = reference::reduce(op, &host);
    let is_same = |mut parts: PartReducer<Describe<f64>>| {
        for elements in host.chunks(parts.part()) {
            parts.next(elements).expect("it runs");
        }
        Describe::same(parts.finish(), whole)
    };
    for part in [1 << 16, 3 << 18, len] {
        assert!(is_same(PartReducer::on_cpu(op, len, part)), "{part} at a time");
    }
    let config = EmulatorConfig { gpus: 3, ..EmulatorConfig::default() };
    let devices = Devices::emulated(config).expect("there may be so many");
    assert!(is_same(PartReducer::new(op, &devices, len, 1 << 19).expect("there is room")));
}

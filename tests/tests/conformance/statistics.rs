//! Variances, norms and ranges of arrays and of rows.

use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::{Checked, PartReducer, Reducer, RowReducer};
use gridsync::reference;
use gridsync_entries::reduce::Reducible;
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::op::{
    All, Any, ArgMax, ArgMin, Deviation, Exponent, Extremes, LogSumExp, MaxOfNumbers, Mean,
    MeanOfNumbers, MinMax, MinOfNumbers, Norm, PeakToPeak, Real, SkipNan, Sum, Variance, WideSum,
};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            deviations_and_norms_of_every_type_are_right,
            a_sum_of_exponentials_of_any_size_is_within_its_bound,
            a_variance_keeps_its_digits_if_the_mean_is_large,
            the_mean_of_large_integers_does_not_wrap,
            the_variance_of_equal_elements_is_zero,
            an_infinite_or_nan_element_makes_the_variance_nan,
            rows_have_the_same_variances_as_alone,
            any_and_all_of_nothing_are_false_and_true,
            both_extremes_come_from_one_read,
            skipped_nan_elements_change_no_result;
        test:
            parts_have_the_variance_of_the_whole,
            columns_have_the_means_of_their_elements;
    }
}

const LENS: [usize; 7] = [1, 2, 33, 1000, 4097, 12_345, 65_537];

/// The result of `op` for `host` on `device`. Checks that the CPU gives the same bits.
fn result_of<O>(device: &Device, op: O, host: &[O::Element]) -> O::Output
where
    O: Reducible<Element: Pod> + Checked,
{
    let input = device.upload(host).expect("the input should fit");
    let mut reducer = Reducer::new(op, device).expect("a reducer should fit");
    let got = reducer.reduce(&input).expect("it should reduce");
    assert!(O::same(reference::reduce(op, host), got), "{} elements", host.len());
    got
}

fn deviations_and_norms_of_every_type_are_right(device: &Device) {
    fn of<T: Real + Pod + Sample>(device: &Device)
    where
        Deviation<T>: Reducible<Element = T, Output = Option<f64>>,
        Norm<T>: Reducible<Element = T, Output = f64>,
    {
        for len in LENS {
            let host = sample::<T>(Input::Values, len, len as u64);
            let depth = reference::reduce_depth::<Variance<T>>(len);
            for ddof in [0, 1] {
                let op = Deviation::<T>::of(Variance::with_ddof(ddof));
                let result = result_of(device, op, &host);
                let check = op.check(&host, result, depth);
                assert!(check.ok, "{len} elements: {result:?}, {check:?}");
                let wrong = result.map(|x| x + check.bound * 1.01 + x * 1e-9 + 1e-9);
                assert!(
                    wrong.is_none_or(|x| !x.is_finite()) || !op.check(&host, wrong, depth).ok,
                    "{len} elements: {wrong:?}"
                );
            }
            let norm = result_of(device, Norm::<T>::new(), &host);
            let check = Norm::<T>::new().check(&host, norm, depth);
            assert!(check.ok, "{len} elements: {norm:?}, {check:?}");
        }
        assert_eq!(result_of(device, Deviation::<T>::new(), &[]), None);
        assert_eq!(result_of(device, Norm::<T>::new(), &[]), 0.0);
    }
    of::<f32>(device);
    of::<f64>(device);
    of::<i32>(device);
    of::<u32>(device);
    of::<i64>(device);
    of::<u64>(device);
}

fn a_sum_of_exponentials_of_any_size_is_within_its_bound(device: &Device) {
    fn of<T: Exponent + Pod + Sample>(device: &Device, from: impl Fn(f64) -> T)
    where
        LogSumExp<T>: Reducible<Element = T, Output = f64> + Checked,
    {
        let op = LogSumExp::<T>::new();
        for (len, scale) in [(1, 1.0), (33, 800.0), (5000, 1e-3), (70_001, 30.0), (9000, 1e30)] {
            let number = |i: u32| f64::from(i.wrapping_mul(0x9E37_79B1) >> 8) / 16_777_216.0;
            let host: Vec<T> = (0..len).map(|i| from((number(i) - 0.5) * scale)).collect();
            let result = result_of(device, op, &host);
            let depth = reference::reduce_depth::<LogSumExp<T>>(host.len());
            let check = op.check(&host, result, depth);
            assert!(check.ok, "{len} elements of {scale}: {result}, {check:?}");
            let wrong = result + check.bound * 1.01 + result.abs() * 1e-9;
            assert!(!op.check(&host, wrong, depth).ok, "{len} elements of {scale}: {wrong}");
        }
        assert_eq!(result_of(device, op, &[]), f64::NEG_INFINITY);
    }
    of::<f32>(device, |x| x as f32);
    of::<f64>(device, |x| x);
}

fn a_variance_keeps_its_digits_if_the_mean_is_large(device: &Device) {
    // The offsets that Arrow's variance was fixed for in 2020 (apache/arrow#8437), and larger ones.
    for offset in [0.0, 1e8, 1e9, 1e12, 1e15] {
        let host = [4.0, 7.0, 13.0, 16.0].map(|x| x + offset);
        let found = result_of(device, Variance::<f64>::with_ddof(1), &host);
        assert_eq!(found, Some(30.0), "an offset of {offset}");
    }
    for offset in [0, 1 << 30, 1 << 53, 1 << 62] {
        let host = [4, 7, 13, 16].map(|x: i64| x + offset);
        assert_eq!(result_of(device, Variance::<i64>::with_ddof(1), &host), Some(30.0));
        assert_eq!(
            result_of(device, Variance::<u64>::with_ddof(1), &host.map(|x| x as u64 + (1 << 63))),
            Some(30.0)
        );
    }
    // The sum of the squares and the square of the sum would agree in all 53 bits.
    let host: Vec<f64> = (0..100_000).map(|i| 1e9 + f64::from(i % 2)).collect();
    assert_eq!(result_of(device, Variance::<f64>::new(), &host), Some(0.25));
    assert_eq!(
        result_of(device, Variance::<i64>::new(), &[i64::MIN, i64::MAX]),
        Some(2f64.powi(126))
    );
}

/// Integers whose sum does not fit in 64 bits: the mean in Arrow was 2.07e18 (apache/arrow#34909).
fn the_mean_of_large_integers_does_not_wrap(device: &Device) {
    let host = [-1_303_487_490_025_821_099, -8_371_390_547_526_583_103, -2_572_374_159_461_887_095];
    let mean = result_of(device, Mean::new(WideSum::<i64>::new()), &host);
    assert_eq!(mean, Some(-4.082_417_399_004_763_6e18));
    let mean = result_of(device, Mean::new(WideSum::<i64>::new()), &[i64::MAX, 1]);
    assert_eq!(mean, Some(2f64.powi(62)));
    // A negative mean in pandas (pandas#10155).
    let host = [20_150_515_061_816_532; 500];
    let mean = result_of(device, Mean::new(WideSum::<i64>::new()), &host);
    assert_eq!(mean, Some(20_150_515_061_816_532.0));
}

/// A constant array, whose deviation pandas with Bottleneck gave as 0.229 (bottleneck#443).
fn the_variance_of_equal_elements_is_zero(device: &Device) {
    assert_eq!(result_of(device, Deviation::<f32>::new(), &vec![271.46; 150_000]), Some(0.0));
    assert_eq!(result_of(device, Deviation::<u64>::new(), &vec![u64::MAX; 5000]), Some(0.0));
}

fn an_infinite_or_nan_element_makes_the_variance_nan(device: &Device) {
    for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for at in [0, 1, 77, 4999] {
            let mut host: Vec<f64> = (0..5000).map(f64::from).collect();
            host[at] = special;
            let found = result_of(device, Variance::<f64>::new(), &host);
            assert_eq!(found.map(f64::to_bits), Some(f64::NAN.to_bits()), "{special} at {at}");
        }
    }
    assert_eq!(result_of(device, Variance::<f32>::with_ddof(2), &[1.0, 2.0]), None);
}

fn rows_have_the_same_variances_as_alone(device: &Device) {
    fn of<T: Real + Pod + Sample>(device: &Device)
    where
        Variance<T>: RowReducible<Element = T, Output = Option<f64>>,
    {
        for columns in [0, 1, 7, 100, 5000] {
            let rows = 9;
            let host = sample::<T>(Input::Values, rows * columns, 5);
            let input = device.upload(&host).expect("the input should fit");
            let mut reducer = RowReducer::new(Variance::<T>::new(), device, rows, columns)
                .expect("a reducer should fit");
            let got = reducer.reduce(&input).expect("it should reduce");
            let alone = |row: usize| {
                reference::reduce(Variance::<T>::new(), &host[row * columns..][..columns])
            };
            for (row, &found) in got.iter().enumerate() {
                assert!(Variance::<T>::same(found, alone(row)), "row {row} of {columns} columns");
            }
        }
    }
    of::<f32>(device);
    of::<f64>(device);
    of::<i64>(device);
}

fn any_and_all_of_nothing_are_false_and_true(device: &Device) {
    let any = |host: &[f32]| result_of(device, Any::<f32>::new(), host);
    let all = |host: &[f32]| result_of(device, All::<f32>::new(), host);
    assert_eq!((any(&[]), all(&[])), (false, true));
    let mut host = [0.0, -0.0, 0.0].repeat(1000);
    assert_eq!((any(&host), all(&host)), (false, false));
    host[2999] = f32::NAN;
    assert_eq!((any(&host), all(&host)), (true, false));
    host.fill(-1e-40);
    assert_eq!((any(&host), all(&host)), (true, true));
    host[1234] = 0.0;
    assert_eq!((any(&host), all(&host)), (true, false));
}

fn both_extremes_come_from_one_read(device: &Device) {
    let host: Vec<i32> = (0..10_000).map(|i| (i * 7919) % 10_007 - 5000).collect();
    let least = *host.iter().min().expect("some elements");
    let greatest = *host.iter().max().expect("some elements");
    let both = result_of(device, MinMax::<i32>::new(), &host);
    assert_eq!(both, Some(Extremes { least, greatest }));
    let apart = result_of(device, PeakToPeak::<i32>::new(), &[i32::MAX, i32::MIN, 0]);
    assert_eq!(apart, Some(u32::MAX), "a distance of i32 may not fit in i32");
    assert_eq!(result_of(device, PeakToPeak::<i32>::new(), &[]), None);
    let with_nan = result_of(device, PeakToPeak::<f32>::new(), &[1.0, f32::NAN, 3.0]);
    assert!(with_nan.is_some_and(f32::is_nan), "{with_nan:?}");
}

/// The results with NaN elements, where these are skipped, and those without.
fn skipped_nan_elements_change_no_result(device: &Device) {
    for len in [1, 2, 33, 1000, 12_345] {
        let numbers: Vec<f64> = (0..len).map(|i| f64::from((i * 7919) % 1013) - 500.0).collect();
        let mixed: Vec<f64> = numbers.iter().flat_map(|&x| [f64::NAN, x, -f64::NAN]).collect();
        let depth = reference::reduce_depth::<Variance<f64>>(mixed.len());
        macro_rules! agree {
            ($($op:expr => $plain:expr;)*) => {$(
                let result = result_of(device, $op, &mixed);
                assert!($op.check(&mixed, result, depth).ok, "{len} numbers: {result:?}");
                // Sums of such whole numbers, and of their squares, are exact in any order.
                assert_eq!(result, result_of(device, $plain, &numbers), "{len} numbers");
            )*};
        }
        agree! {
            SkipNan::of(Sum::<f64>::new()) => Sum::<f64>::new();
            SkipNan::of(PeakToPeak::<f64>::new()) => PeakToPeak::<f64>::new();
        }
        let mean = MeanOfNumbers::<f64>::new();
        let result = result_of(device, mean, &mixed);
        assert!(mean.check(&mixed, result, depth).ok, "{len} numbers: {result:?}");
        let both = result_of(device, MinMax::<f64>::new(), &numbers).expect("some numbers");
        assert_eq!(result_of(device, MinOfNumbers::<f64>::new(), &mixed), Some(both.least));
        assert_eq!(result_of(device, MaxOfNumbers::<f64>::new(), &mixed), Some(both.greatest));
        for ddof in [0, 1] {
            let op = SkipNan::of(Variance::<f64>::with_ddof(ddof));
            let result = result_of(device, op, &mixed);
            assert!(op.check(&mixed, result, depth).ok, "{len} numbers: {result:?}");
        }
        let least = result_of(device, SkipNan::of(ArgMin::<f64>::new()), &mixed);
        let first = numbers.iter().position(|&x| x == both.least).expect("it is one of them");
        assert_eq!(least.map(|found| found.index), Some(3 * first as u64 + 1));
    }
    let none = [f32::NAN; 100];
    assert_eq!(result_of(device, MinOfNumbers::<f32>::new(), &none), None);
    assert_eq!(result_of(device, MeanOfNumbers::<f32>::new(), &none), None);
    assert_eq!(result_of(device, SkipNan::of(Variance::<f32>::new()), &none), None);
    assert_eq!(result_of(device, SkipNan::of(ArgMax::<f32>::new()), &none), None);
    assert_eq!(result_of(device, SkipNan::of(Sum::<f32>::new()), &none), 0.0);
}

fn parts_have_the_variance_of_the_whole() {
    let len = (4 << 20) + 12_345;
    let host: Vec<f32> = (0..len).map(|i| 1e6 + (i * 7919 % 10_007) as f32).collect();
    let op = Deviation::<f32>::of(Variance::with_ddof(1));
    let whole = reference::reduce(op, &host);
    for part in [1 << 16, 3 << 20, len] {
        let mut parts = PartReducer::on_cpu(op, len, part);
        for elements in host.chunks(parts.part()) {
            parts.next(elements).expect("the CPU does not fail");
        }
        assert_eq!(parts.finish().map(f64::to_bits), whole.map(f64::to_bits), "{part} at a time");
    }
}

/// A mean by column, which NumPy gave as 0.1024 in place of 0.5 (numpy#9393).
fn columns_have_the_means_of_their_elements() {
    let (rows, columns) = (1 << 22, 4);
    let host: Vec<f32> = (0..rows * columns).map(|i| ((i * 7919) % 1009) as f32 / 1008.0).collect();
    let means = reference::reduce_columns(Mean::new(Sum::<f32>::new()), &host, rows, columns);
    for mean in means {
        let mean = mean.expect("some elements");
        assert!((mean - 0.5).abs() < 1e-5, "{mean}");
    }
}

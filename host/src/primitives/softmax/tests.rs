use super::*;
use crate::device::{Emulator, EmulatorConfig};
use cuda_std::{bf16, f16};
use std::fmt::Debug;

/// Columns around the edges of packs, warps, runs and tiles of every type.
const COLUMNS: [usize; 25] = [
    1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 100, 127, 129, 511, 512, 513, 1023, 1024, 1025, 2049, 4096,
    4097, 8193, 16_385, 32_769,
];

fn emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig::default()))
}

trait Sample: SoftmaxElement + Pod + Debug {
    fn of(x: f64) -> Self;
    /// Half a unit in the last place of 1, and the least normal number.
    const ROUNDING: [f64; 2];

    fn value(self) -> f64 {
        Self::to_f64(self.widen())
    }
}

macro_rules! samples {
    ($($ty:ident: $of:expr, $rounding:expr;)*) => {$(
        impl Sample for $ty {
            const ROUNDING: [f64; 2] = $rounding;

            fn of(x: f64) -> Self {
                let of: fn(f64) -> Self = $of;
                of(x)
            }
        }
    )*};
}
samples! {
    f32: |x| x as f32, [0.0, f32::MIN_POSITIVE as f64];
    f64: |x| x, [0.0, f64::MIN_POSITIVE];
    f16: f16::from_f64, [1.0 / 2048.0, 1.0 / 16_384.0];
    bf16: bf16::from_f64, [1.0 / 256.0, f32::MIN_POSITIVE as f64];
}

/// Pseudorandom numbers from −`most` to `most`.
fn drawn<T: Sample>(len: usize, most: f64) -> Vec<T> {
    let mut bits = 0x9E37_79B9_7F4A_7C15u64 ^ len as u64;
    let next = |_| {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        T::of((bits >> 11) as f64 / (1u64 << 52) as f64 * most - most / 2.0)
    };
    (0..len).map(next).collect()
}

/// The softmax on the emulator. Checks that the CPU gives the same bits.
fn softened<T: Sample>(device: &Device, host: &[T], columns: usize) -> Vec<T> {
    let input = device.upload(host).expect("there is room");
    let results = softmax_rows(&input, columns).and_then(|output| output.download());
    let results = results.expect("it should run");
    let on_cpu = softmax_rows_on_cpu(host, columns);
    for (at, (a, b)) in results.iter().zip(&on_cpu).enumerate() {
        let same = bytemuck::bytes_of(a) == bytemuck::bytes_of(b);
        assert!(same, "element {at} of rows of {columns}: {a:?}, on the CPU {b:?}");
    }
    results
}

/// Whether the results are within the bound of the module.
fn expect_accurate<T: Sample>(host: &[T], results: &[T], columns: usize) {
    let u = if size_of::<T>() == 8 { f64::EPSILON / 2.0 } else { f64::from(f32::EPSILON) / 2.0 };
    let is_long = columns > most_of_middle::<T>();
    let depth = if is_long { reference::reduce_depth::<T::Sum>(columns) } else { 1 };
    let [rounding, least] = T::ROUNDING;
    for (row, results) in host.chunks(columns).zip(results.chunks(columns)) {
        let greatest = row.iter().map(|x| x.value()).fold(f64::NEG_INFINITY, f64::max);
        let exponentials = row.iter().map(|x| (x.value() - greatest).exp());
        let sum = exponentials.clone().collect::<reference::Unrounded>().rounded();
        for ((x, e), y) in row.iter().zip(exponentials).zip(results) {
            let steps = greatest - x.value() + (columns as f64).ln() + 2.2 * depth as f64 + 8.0;
            let bound = (u * steps + rounding) * (e / sum).max(least);
            let error = (y.value() - e / sum).abs();
            assert!(error <= bound, "{y:?} is not {} ± {bound:e}, {columns} columns", e / sum);
        }
        let total: f64 = results.iter().map(|y| y.value()).sum();
        let bound = u * (100.0 + 3.0 * depth as f64) + rounding + least * columns as f64;
        assert!((total - 1.0).abs() <= bound, "a row of {columns} sums to {total}");
    }
}

fn every_width<T: Sample>() {
    let device = emulator();
    for columns in COLUMNS {
        let rows = 600usize.div_ceil(columns).max(2) + 1;
        for most in [3.0, 40.0] {
            let host = drawn::<T>(rows * columns, most);
            expect_accurate(&host, &softened(&device, &host, columns), columns);
        }
    }
}

#[test]
fn softmax_of_f32_has_the_bits_of_the_cpu_and_is_accurate() {
    every_width::<f32>();
}

#[test]
fn softmax_of_f64_has_the_bits_of_the_cpu_and_is_accurate() {
    every_width::<f64>();
}

#[test]
fn softmax_of_f16_has_the_bits_of_the_cpu_and_is_accurate() {
    every_width::<f16>();
}

#[test]
fn softmax_of_bf16_has_the_bits_of_the_cpu_and_is_accurate() {
    every_width::<bf16>();
}

#[test]
fn long_rows_of_several_tiles_are_accurate() {
    let device = emulator();
    let columns = 70_001;
    let host = drawn::<f32>(3 * columns, 300.0);
    expect_accurate(&host, &softened(&device, &host, columns), columns);
    let host = drawn::<bf16>(2 * columns, 20.0);
    expect_accurate(&host, &softened(&device, &host, columns), columns);
}

#[test]
fn a_row_has_the_same_bits_in_any_matrix() {
    let device = emulator();
    for columns in [3, 33, 1000, 1026, 9001] {
        let row = drawn::<f32>(columns, 9.0);
        let alone = softened(&device, &row, columns);
        let host = [drawn(2 * columns, 5.0), row, drawn(columns, 5.0)].concat();
        let within = softened(&device, &host, columns);
        assert_eq!(within[2 * columns..3 * columns], alone, "{columns} columns");
    }
}

#[test]
fn rows_without_elements_have_no_softmax() {
    let device = emulator();
    for columns in [0, 1, 5, 20_000] {
        assert_eq!(softened::<f32>(&device, &[], columns), [0f32; 0]);
    }
}

#[test]
fn infinities_and_nan_have_the_results_of_the_formula() {
    fn of<T: Sample>(device: &Device) {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for columns in [3, 65, 1100, 20_000] {
            for (special, is_nan) in [([nan, 1.0], true), ([inf, -inf], true), ([-inf, 2.0], false)]
            {
                let mut host = drawn::<T>(columns, 4.0);
                host[columns / 2] = T::of(special[0]);
                host[columns - 1] = T::of(special[1]);
                let results = softened(device, &host, columns);
                assert!(results.iter().all(|y| y.value().is_nan() == is_nan), "{special:?}");
                assert!(is_nan || results[columns / 2].value() == 0.0);
                let bits = |y: &T| bytemuck::bytes_of(y).to_vec();
                assert!(!is_nan || results.iter().all(|y| bits(y) == bits(&results[0])));
            }
            let results = softened(device, &vec![T::of(-inf); columns], columns);
            assert!(results.iter().all(|y| y.value().is_nan()), "{columns} times −∞");
        }
    }
    let device = emulator();
    of::<f32>(&device);
    of::<f64>(&device);
    of::<f16>(&device);
    of::<bf16>(&device);
}

#[test]
fn a_matrix_of_another_size_is_refused() {
    let device = emulator();
    let input = device.upload(&[1f32, 2.0, 3.0]).expect("there is room");
    for (columns, rows) in [(2, 1), (0, 0)] {
        let error = softmax_rows(&input, columns).err();
        assert_eq!(error, Some(DeviceError::ShapeMismatch { rows, columns, given: 3 }));
    }
    let mut softmax = RowSoftmax::<f32>::new(&device, 1, 3).expect("there is room");
    let mut output = device.alloc(2).expect("there is room");
    let error = softmax.launch(&input, &mut output).err();
    assert_eq!(error, Some(DeviceError::ShapeMismatch { rows: 1, columns: 3, given: 2 }));
}

//! Results of rows that stay on the device, as elements.

use bytemuck::Pod;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::{Device, DeviceError};
use gridsync::op::{
    ArgMax, ArgMin, Deviation, LogSumExp, Max, Mean, Min, Product, Stored, Sum, SumOfSquares,
    Variance,
};
use gridsync::primitives::RowReducer;
use gridsync::primitives::reduce_rows::{Finished, RowReducible, reduce_rows_on_cpu};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};
use std::any::type_name;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            results_of_rows_stay_on_the_device_with_the_bits_of_the_cpu,
            the_results_of_nan_are_canonical,
            an_output_that_is_not_one_element_per_row_is_refused;
    }
}

/// Short rows, long ones, rows of two tiles, and more rows than a block of the last kernel has threads.
const SHAPES: [(usize, usize); 5] = [(1, 1), (300, 7), (129, 40), (5, 5000), (2, 20_000)];

fn results_of_rows_stay_on_the_device_with_the_bits_of_the_cpu(device: &Device) {
    all(device, &SHAPES);
}

pub(crate) fn results_of_short_rows_stay_on_the_device(device: &Device) {
    all(device, &[(5, 19)]);
}

fn all(device: &Device, shapes: &[(usize, usize)]) {
    macro_rules! check {
        ($($op:expr => $result:ty;)*) => { $(check::<$result, _>(device, $op, shapes);)* };
    }
    check! {
        Sum::<f32>::new() => f32;
        Sum::<f64>::new() => f64;
        Sum::<f16, f32>::new() => f16;
        Sum::<bf16, f32>::new() => bf16;
        Sum::<i32, i64>::new() => i64;
        Sum::<u64>::new() => u64;
        Product::<f32>::new() => f32;
        Product::<bf16, f32>::new() => bf16;
        Product::<i32, i64>::new() => i64;
        Max::<f32>::new() => f32;
        Max::<u32>::new() => u32;
        Min::<f16, f32>::new() => f16;
        Min::<i64>::new() => i64;
        Mean::new(Sum::<f32>::new()) => f32;
        Mean::new(Sum::<f64>::new()) => f64;
        Mean::new(Sum::<f16, f32>::new()) => f16;
        Mean::new(Sum::<bf16, f32>::new()) => bf16;
        Mean::new(Sum::<i32, i64>::new()) => f64;
        Mean::new(Sum::<u32, u64>::new()) => f64;
        SumOfSquares::<f32>::new() => f32;
        SumOfSquares::<f16>::new() => f16;
        SumOfSquares::<bf16>::new() => bf16;
        SumOfSquares::<i64>::new() => f64;
        LogSumExp::<f32>::new() => f32;
        LogSumExp::<f64>::new() => f64;
        LogSumExp::<f16>::new() => f16;
        LogSumExp::<bf16>::new() => bf16;
        Variance::<f32>::with_ddof(1) => f32;
        Variance::<f64>::with_ddof(0) => f64;
        Variance::<i32>::with_ddof(2) => f64;
        Variance::<u64>::with_ddof(1) => f64;
        Deviation::<f32>::with_ddof(1) => f32;
        Deviation::<f64>::with_ddof(3) => f64;
        Deviation::<u32>::with_ddof(0) => f64;
        Deviation::<i64>::with_ddof(1) => f64;
        ArgMax::<f32>::new() => i64;
        ArgMax::<bf16, f32>::new() => i64;
        ArgMin::<u32>::new() => i64;
        ArgMin::<f64>::new() => i64;
    }
}

fn check<R: Pod + Scalar, O>(device: &Device, op: O, shapes: &[(usize, usize)])
where
    O: RowReducible<Element: Pod + Sample, Output: Stored<R> + Send> + Finished<R>,
{
    for &(rows, columns) in shapes {
        let host = sample::<O::Element>(Input::Values, rows * columns, 3);
        let input = device.upload(&host).expect("the input should fit");
        let mut output = device.alloc::<R>(rows).expect("the output should fit");
        let mut reducer = RowReducer::new(op, device, rows, columns).expect("a plan should fit");
        let on_cpu = reduce_rows_on_cpu(op, &host, rows, columns);
        let expected: Vec<R> = on_cpu.into_iter().map(Stored::stored).collect();
        for time in 0..2 {
            reducer.launch_into(&input, &mut output).expect("it should reduce");
            let found = output.download().expect("the results are there");
            let bytes = |results: &[R]| bytemuck::cast_slice::<R, u8>(results).to_vec();
            let what = type_name::<O>();
            assert_eq!(bytes(&found), bytes(&expected), "{what}, {rows} × {columns}, time {time}");
            let refused = reducer.results().err();
            assert!(matches!(refused, Some(DeviceError::NoResult { .. })), "{refused:?}");
        }
    }
}

fn the_results_of_nan_are_canonical(device: &Device) {
    let odd = f32::from_bits(0xffa1_2345);
    let input = device.upload(&[1.0, odd, 2.0, 3.0]).expect("the input should fit");
    let mut output = device.alloc::<f32>(2).expect("the output should fit");
    let mut sums = RowReducer::new(Sum::<f32>::new(), device, 2, 2).expect("a plan should fit");
    sums.launch_into(&input, &mut output).expect("it should reduce");
    let bits: Vec<u32> =
        output.download().expect("the results are there").into_iter().map(f32::to_bits).collect();
    assert_eq!(bits, [f32::NAN.to_bits(), 5.0f32.to_bits()]);
}

fn an_output_that_is_not_one_element_per_row_is_refused(device: &Device) {
    let input = device.zeroed::<f32>(12).expect("the input should fit");
    let mut output = device.alloc::<f32>(3).expect("the output should fit");
    let mut sums = RowReducer::new(Sum::<f32>::new(), device, 4, 3).expect("a plan should fit");
    let refused = sums.launch_into(&input, &mut output);
    assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 3, given: 4 }));
}

//! Scans of the rows of a matrix: the bits of a scan of each row alone.

use super::{FORMS, same_bits};
use bytemuck::Pod;
use gridsync::device::{Buffer, Device, DeviceError, Emulator, EmulatorConfig};
use gridsync::primitives::RowScanner;
use gridsync::primitives::scan::{Form, RowScannable, Scanner, scan_rows_on_cpu};
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::{Operation, Product, Sum};
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Check, Trials};
use gridsync_verify::{Input, Sample, sample};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            rows_of_any_length_are_right_under_every_schedule,
            a_warp_goes_through_the_tiles_of_its_row,
            large_matrices_have_the_bits_of_each_row_on_cuda;
        on_each_backend:
            a_row_has_the_bits_of_a_scan_of_it_alone,
            a_row_has_the_same_bits_in_any_batch,
            rows_are_scanned_in_place,
            a_matrix_without_elements_is_scanned,
            a_matrix_of_another_size_is_refused;
    };
    for &(name, check, _) in TYPES {
        let claim = format!("{name}::every_shape_has_the_bits_of_the_cpu");
        trials.test(format!("{claim}_on_the_emulator"), move || check(&emulator()));
        trials.test(format!("{claim}_on_cuda"), move || with_cuda(check));
    }
    trials
}

macro_rules! types {
    ($($name:ident: $op:ty;)*) => {
        &[$((stringify!($name), every_shape::<$op>, small_shapes::<$op>)),*]
    };
}

/// Each operation: its name, and the checks of all shapes and of two small ones.
const TYPES: &[(&str, Check, Check)] = types! {
    sum_f32: Sum<f32>;
    sum_f64: Sum<f64>;
    sum_i32_in_i64: Sum<i32, i64>;
    sum_u32_in_u64: Sum<u32, u64>;
    sum_i64: Sum<i64>;
    sum_u64: Sum<u64>;
    prod_f32: Product<f32>;
    prod_f64: Product<f64>;
    prod_i32_in_i64: Product<i32, i64>;
    prod_u32_in_u64: Product<u32, u64>;
    prod_i64: Product<i64>;
    prod_u64: Product<u64>;
};

pub(crate) fn small_matrices_have_the_bits_of_the_cpu(device: &Device) {
    TYPES.iter().for_each(|(.., check)| check(device));
}

/// The numbers of rows and columns around every limit: of a pack, the lanes of a row, a tile.
fn shapes<O: Operation>(device: &Device) -> Vec<(usize, usize)> {
    use cuda_std::memory::Scalar;
    let (pack, row) = (O::Element::PACK, Shape::row::<O::Element>());
    let tile = Shape::of::<O::Element, O::Accumulator>(1).tile::<O::Element>();
    let many = 8 * device.properties().multiprocessors as usize;
    vec![
        (1, 1),
        (259, 1),
        (300, pack - 1),
        (300, pack),
        (131, pack + 1),
        (70, 3 * pack),
        (11, row / 2 + 1),
        (9, row - 1),
        (9, row),
        (9, row + 1),
        (5, 3 * row + pack),
        (3, tile - 1),
        (3, tile),
        (3, tile + 1),
        (2, 3 * tile + pack),
        // Many rows of several tiles have a warp each.
        (many, tile + 1),
    ]
}

fn scanned<O>(
    device: &Device,
    input: &Buffer<O::Element>,
    columns: usize,
    form: Form,
) -> Vec<O::Output>
where
    O: RowScannable<Element: Pod, Output: Pod> + Default,
{
    let mut output = device.alloc(input.len()).expect("the output should fit");
    let scanner = RowScanner::new(O::default(), device, input.len() / columns, columns);
    let mut scanner = scanner.expect("a plan should fit");
    // The second launch finds the words of the first.
    for _ in 0..2 {
        scanner.launch(input, &mut output, form).expect("it should scan");
    }
    output.download().expect("the results are there")
}

fn every_shape<O>(device: &Device)
where
    O: RowScannable<Element: Pod + Sample, Output: Pod + Debug> + Default,
{
    for (rows, columns) in shapes::<O>(device) {
        check::<O>(device, rows, columns);
    }
}

fn small_shapes<O>(device: &Device)
where
    O: RowScannable<Element: Pod + Sample, Output: Pod + Debug> + Default,
{
    for (rows, columns) in [(5, 19), (2, 200), (1, 1025)] {
        check::<O>(device, rows, columns);
    }
}

fn check<O>(device: &Device, rows: usize, columns: usize)
where
    O: RowScannable<Element: Pod + Sample, Output: Pod + Debug> + Default,
{
    let host = sample::<O::Element>(Input::Factors, rows * columns, 5);
    let input = device.upload(&host).expect("the input should fit");
    for form in FORMS {
        let expected = scan_rows_on_cpu(O::default(), &host, columns, form);
        let found = scanned::<O>(device, &input, columns, form);
        same_bits(&format!("{form:?}, {rows} × {columns}"), &found, &expected);
    }
}

fn rows_of_any_length_are_right_under_every_schedule() {
    let tile = Shape::of::<f32, f32>(1).tile::<f32>();
    for schedule in schedules() {
        let device = emulator_under(schedule);
        let many = 8 * device.properties().multiprocessors as usize;
        for (rows, columns) in [(30, 7), (3, 200), (3, 2 * tile + 9), (many, tile + 4)] {
            check::<Sum<f32>>(&device, rows, columns);
        }
    }
}

fn a_warp_goes_through_the_tiles_of_its_row() {
    let config = EmulatorConfig { multiprocessors: 1, ..EmulatorConfig::default() };
    let tile = Shape::of::<f32, f32>(1).tile::<f32>();
    // As many rows as one multiprocessor needs.
    check::<Sum<f32>>(&Device::new(Emulator::new(config)), 8, 21 * tile + 700);
}

fn large_matrices_have_the_bits_of_each_row_on_cuda() {
    with_cuda(|cuda| {
        // More rows than blocks along y, rows of many tiles and of several groups.
        for (rows, columns) in [
            (1_000_003, 17),
            (70_001, 132),
            (1003, 4099),
            (1100, 262_144),
            (1100, 250_001),
            (7, (1 << 24) + 1025),
        ] {
            check::<Sum<f32>>(cuda, rows, columns);
        }
        check::<Sum<f64>>(cuda, 3, 9_000_002);
    });
}

fn a_row_has_the_bits_of_a_scan_of_it_alone(device: &Device) {
    for columns in [100, 1000, 2500] {
        let host = sample::<f32>(Input::Values, 3 * columns, 7);
        let input = device.upload(&host).expect("the input should fit");
        let found = scanned::<Sum<f32>>(device, &input, columns, Form::Inclusive);
        let mut scanner = Scanner::new(Sum::<f32>::new(), device, columns).expect("it should fit");
        for (row, results) in found.chunks(columns).enumerate() {
            let mut alone = device.alloc(columns).expect("the output should fit");
            let part = row * columns..(row + 1) * columns;
            scanner
                .launch_part(&input, part, &mut alone, 0..columns, Form::Inclusive)
                .expect("it should scan");
            let alone = alone.download().expect("the results are there");
            same_bits(&format!("row {row} of {columns}"), results, &alone);
        }
    }
}

fn a_row_has_the_same_bits_in_any_batch(device: &Device) {
    let columns = 77;
    let host = sample::<f32>(Input::Values, 300 * columns, 9);
    let whole = scan_rows_on_cpu(Sum::<f32>::new(), &host, columns, Form::Inclusive);
    for (first, rows) in [(0, 1), (299, 1), (1, 2), (44, 255), (43, 257)] {
        let batch = first * columns..(first + rows) * columns;
        let input = device.upload(&host[batch.clone()]).expect("the input should fit");
        let found = scanned::<Sum<f32>>(device, &input, columns, Form::Inclusive);
        same_bits(&format!("{rows} rows from {first}"), &found, &whole[batch]);
    }
}

fn rows_are_scanned_in_place(device: &Device) {
    for columns in [6, 300, 3000] {
        let host = sample::<u64>(Input::Values, 5 * columns, 2);
        let mut array = device.upload(&host).expect("the array should fit");
        let expected = scan_rows_on_cpu(Sum::<u64>::new(), &host, columns, Form::Exclusive);
        let scanner = RowScanner::new(Sum::<u64>::new(), device, 5, columns);
        let mut scanner = scanner.expect("a plan should fit");
        scanner.launch_in_place(&mut array, Form::Exclusive).expect("it should scan");
        let found = array.download().expect("the results are there");
        same_bits(&format!("{columns} columns"), &found, &expected);
    }
}

fn a_matrix_without_elements_is_scanned(device: &Device) {
    let (input, mut output) = (device.zeroed(0), device.zeroed(0).expect("it should fit"));
    for (rows, columns) in [(0, 5), (5, 0)] {
        let scanner = RowScanner::new(Sum::<f32>::new(), device, rows, columns);
        let done = scanner.expect("a plan should fit").launch(
            input.as_ref().expect("it should fit"),
            &mut output,
            Form::Inclusive,
        );
        assert_eq!(done, Ok(()), "{rows} × {columns}");
    }
}

fn a_matrix_of_another_size_is_refused(device: &Device) {
    let input = device.zeroed::<f32>(12).expect("the input should fit");
    let mut output = device.zeroed::<f32>(12).expect("the output should fit");
    let launch = |rows, columns, output: &mut _| {
        let scanner = RowScanner::new(Sum::<f32>::new(), device, rows, columns);
        scanner.expect("a plan should fit").launch(&input, output, Form::Inclusive)
    };
    let refused = launch(5, 3, &mut output);
    assert_eq!(refused, Err(DeviceError::ShapeMismatch { rows: 5, columns: 3, given: 12 }));
    let mut short = device.zeroed::<f32>(11).expect("the output should fit");
    let refused = launch(4, 3, &mut short);
    assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 11, given: 12 }));
}

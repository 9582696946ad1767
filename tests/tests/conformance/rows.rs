//! The matrix of the reductions of rows: one test for each operation, shape and backend.

use crate::matrix::{each_is_named_after_its_kernels, each_is_there_once, run};
use cuda_std::f16;
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::scan::Form;
use gridsync::primitives::{RowReducer, reduce_rows};
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{Max, Sum};
use gridsync_tests::devices::{
    emulator, emulator_under, schedules, skipped, unjudged_under, with_cuda,
};
use gridsync_tests::oracle::{self, Plain, Type};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Kind, Primitive, Sample, Size, kinds, sample};
use simt::{Policy, Schedule};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_operation_of_the_library_is_in_the_matrix,
            each_operation_is_named_after_its_kernels,
            rows_of_several_tiles_are_right_under_every_schedule,
            more_than_two_to_the_32_elements_are_right_on_cuda;
        on_each_backend:
            rows_of_f16_from_any_start,
            rows_of_f32_from_any_start,
            rows_of_f64_from_any_start,
            rows_of_i32_from_any_start,
            a_matrix_of_another_size_is_refused;
        thorough:
            rows_of_larger_shapes_have_the_bits_of_the_cpu_on_the_emulator;
    };
    for kind in kinds(Primitive::Rows) {
        add_row(&mut trials, kind);
    }
    trials
}

/// Adds the tests of one operation, one for each shape.
fn add_row(trials: &mut Trials, kind: &'static Kind) {
    let (row, pack, tile) = (kind.name, kind.pack, kind.tile);
    let warp = 32 * pack;
    let run_of = 8 * warp;
    let shapes = [
        ("no_rows", 0, 5),
        ("rows_of_nothing", 5, 0),
        ("one_element", 1, 1),
        ("one_column", 259, 1),
        ("one_pack_less_one", 300, pack - 1),
        ("one_pack", 300, pack),
        ("one_pack_and_one", 131, pack + 1),
        ("three_packs", 70, 3 * pack),
        ("odd_rows", 11, 77),
        ("a_load_of_a_warp", 9, warp),
        ("a_load_of_a_warp_and_one", 9, warp + 1),
        ("three_loads_and_a_half", 5, 7 * warp / 2),
        ("one_run_less_one", 3, run_of - 1),
        ("one_run", 3, run_of),
        ("one_run_and_one", 4, run_of + 1),
        ("one_tile", 2, tile),
        ("one_tile_and_one", 3, tile + 1),
    ];
    for (shape, rows, columns) in shapes {
        trials.test(format!("{row}::on_the_emulator::{shape}"), move || {
            run(&emulator(), kind, Size::Matrix(rows, columns), columns);
        });
        trials.test(format!("{row}::on_the_cpu::{shape}"), move || {
            on_the_cpu(kind, rows, columns);
        });
    }
    let large = [
        ("many_rows", 100_003, 17),
        ("middle_rows", 1003, 4099),
        ("more_rows_than_blocks_along_y", 70_001, run_of + pack),
        ("long_rows", 7, (1 << 20) + 1025),
    ];
    for (shape, rows, columns) in shapes.into_iter().chain(large) {
        trials.test(format!("{row}::on_cuda::{shape}"), move || {
            with_cuda(|cuda| run(cuda, kind, Size::Matrix(rows, columns), columns));
        });
    }
}

/// Runs the case of the operation with this name.
fn run_named(device: &Device, operation: &str, rows: usize, columns: usize) {
    let kind = kinds(Primitive::Rows).find(|kind| kind.name == operation);
    run(device, kind.expect("it is in the table"), Size::Matrix(rows, columns), columns);
}

/// Compares the result of the CPU with a plain loop.
fn on_the_cpu(kind: &Kind, rows: usize, columns: usize) {
    let cpu = kind.on_cpu(Size::Matrix(rows, columns), columns as u64, Form::Inclusive);
    let cpu = cpu.expect("it is a reduction of rows");
    assert_eq!((cpu.input.len(), cpu.results.len()), (rows * columns, rows));
    let output = Type::named(cpu.output);
    for (row, got) in cpu.results.into_iter().enumerate() {
        let elements = &cpu.input[row * columns..][..columns];
        let expected = oracle::reduce_numbers(kind.op, elements, output, cpu.depth);
        assert!(expected.admits(got), "row {row}: {got:?} is not {expected:?}");
    }
}

fn every_operation_of_the_library_is_in_the_matrix() {
    each_is_there_once(Primitive::Rows, &trials(), |name| {
        format!("rows::{name}::on_the_emulator::one_tile")
    });
}

fn each_operation_is_named_after_its_kernels() {
    let families = ["reduce_short_rows_", "reduce_long_rows_"];
    each_is_named_after_its_kernels(Primitive::Rows, &families);
}

/// A matrix that starts 0 to 8 elements past an aligned address. The elements around it would
/// change the results.
fn every_start<O>(device: &Device)
where
    O: RowReducible + Default,
    O::Element: Plain + Sample,
    O::Output: Plain + Debug,
{
    let run = Shape::run::<O::Element>();
    let shapes = [(300, 1), (70, 3), (33, 16), (9, 33), (5, run), (3, run + 5)];
    for (rows, columns) in shapes {
        let mut reducer =
            RowReducer::new(O::default(), device, rows, columns).expect("a reducer should fit");
        for start in 0..=8 {
            let len = rows * columns;
            let host = sample::<O::Element>(Input::Values, start + len + 9, len as u64);
            let input = device.upload(&host).expect("the input should fit");
            reducer
                .launch_part(&input, start..start + len)
                .unwrap_or_else(|error| panic!("{rows} × {columns} from {start}: {error}"));
            let results = reducer.results().expect("it should have run");
            for (row, result) in results.iter().enumerate() {
                let alone = reduce_on_cpu(O::default(), &host[start + row * columns..][..columns]);
                assert_eq!(
                    bytemuck::bytes_of(result),
                    bytemuck::bytes_of(&alone),
                    "row {row} of {rows} × {columns} from {start}: {result:?}, not {alone:?}"
                );
            }
        }
    }
}

fn rows_of_f16_from_any_start(device: &Device) {
    every_start::<Sum<f16, f32>>(device)
}

fn rows_of_f32_from_any_start(device: &Device) {
    every_start::<Sum<f32>>(device)
}

fn rows_of_f64_from_any_start(device: &Device) {
    every_start::<Max<f64>>(device)
}

fn rows_of_i32_from_any_start(device: &Device) {
    every_start::<Sum<i32, i64>>(device)
}

fn a_matrix_of_another_size_is_refused(device: &Device) {
    let input = device.upload(&[0f32; 12]).expect("there is room");
    let refused = reduce_rows(Sum::<f32>::new(), &input, 5, 3);
    let expected = DeviceError::ShapeMismatch { rows: 5, columns: 3, given: 12 };
    assert_eq!(refused, Err(expected));
    let refused = reduce_rows(Sum::<f32>::new(), &input, 1 << 63, 2);
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(reduce_rows(Sum::<f32>::new(), &input, 4, 3), Ok(vec![0.0; 4]));
}

fn rows_of_several_tiles_are_right_under_every_schedule() {
    for schedule in schedules() {
        let device = emulator_under(schedule);
        let tile = Shape::of::<f32>(1).tile::<f32>();
        run_named(&device, "sum_f32", 3, tile + 1);
    }
}

fn rows_of_larger_shapes_have_the_bits_of_the_cpu_on_the_emulator() {
    // Without race checks: the code is the same, and they would take too long.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    let columns = [(1 << 18) + 1, (1 << 20) + 1025];
    let shapes = columns.map(Shape::of::<f32>);
    assert_ne!(shapes[0].warps, shapes[1].warps);
    assert!(shapes[0].leaves_are_strips() && !shapes[1].leaves_are_strips());
    for columns in columns {
        run_named(&device, "sum_f32", 2, columns);
        run_named(&device, "sum_i32_in_i64", 2, columns);
    }
}

/// More than 2^32 elements: a matrix of zeros with a 1 at both ends of some rows.
fn more_than_two_to_the_32(cuda: &Device, rows: usize, columns: usize) {
    assert!(rows * columns > 1 << 32);
    let input = match cuda.zeroed::<f16>(rows * columns) {
        Ok(input) => input,
        Err(error @ DeviceError::OutOfMemory { .. }) => return skipped(&error.to_string()),
        Err(error) => panic!("{error}"),
    };
    let marked = [0, rows / 2, rows - 1];
    for at in marked.map(|row| [row * columns, (row + 1) * columns - 1]).concat() {
        let address = input.address() + (at * size_of::<f16>()) as u64;
        // SAFETY: the element is in the buffer, which is live and idle.
        unsafe { cuda.backend().upload(address, bytemuck::bytes_of(&f16::ONE)) }
            .expect("an element should be copied");
    }
    let sums =
        reduce_rows(Sum::<f16, f32>::new(), &input, rows, columns).expect("they are computed");
    for (row, sum) in sums.into_iter().enumerate() {
        let expected = if marked.contains(&row) { 2.0 } else { 0.0 };
        assert_eq!(sum, expected, "row {row} of {rows} × {columns}");
    }
}

fn more_than_two_to_the_32_elements_are_right_on_cuda() {
    with_cuda(|cuda| {
        more_than_two_to_the_32(cuda, 5_000_001, 1001);
        more_than_two_to_the_32(cuda, 3, (1 << 31) + 9);
    });
}

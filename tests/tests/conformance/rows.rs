//! The matrix of the reductions of rows: one test for each operation, shape and backend.

use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::reduce_rows::reduce_rows_on_cpu;
use gridsync::primitives::{Checked, RowReducer, reduce_rows};
use gridsync::reference::reduce_depth;
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{Max, Min, Operation, Sum};
use gridsync_program::verify::{Kind, Sample, reduce_rows_case, row_kinds, sample};
use gridsync_tests::devices::{
    emulator, emulator_under, schedules, skipped, unjudged_under, with_cuda,
};
use gridsync_tests::oracle::{self, Plain};
use simt::{Policy, Schedule};
use std::any::type_name;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// The library's case for `rows` rows of `columns`.
fn run<O>(device: &Device, rows: usize, columns: usize)
where
    O: RowReducible + Checked + Default,
    O::Element: Plain + Sample,
    O::Output: Debug,
{
    reduce_rows_case(
        O::default(),
        device,
        Kind::Values,
        rows,
        columns,
        columns as u64,
    )
    .unwrap_or_else(|error| panic!("{error}"));
}

/// The CPU form against a plain loop.
fn run_on_cpu<O>(op: &str, rows: usize, columns: usize)
where
    O: RowReducible + Default,
    O::Element: Plain + Sample,
    O::Output: Plain + Send,
{
    let input = sample::<O::Element>(Kind::Values, rows * columns, columns as u64);
    let results = reduce_rows_on_cpu(O::default(), &input, rows, columns);
    assert_eq!(results.len(), rows);
    for (row, result) in results.into_iter().enumerate() {
        let elements = &input[row * columns..][..columns];
        let depth = reduce_depth::<O>(columns);
        let expected = oracle::reduce::<O::Element, O::Output>(op, elements, depth);
        let got = result.number();
        assert!(
            expected.admits(got),
            "row {row}: {got:?} is not {expected:?}"
        );
    }
}

/// The elements of a tile of a small array.
fn tile<O: Operation>() -> usize {
    Shape::of::<O::Element>(1).tile::<O::Element>()
}

/// Stamps the tests of one operation for each shape.
macro_rules! shapes {
    ($op:literal $($name:ident: $rows:expr, $columns:expr;)*) => {
        mod on_the_emulator {
            use super::*;
            $(#[test] fn $name() { run::<This>(&emulator(), $rows, $columns) })*
        }
        mod on_cuda {
            use super::*;
            $(#[test] fn $name() { with_cuda(|cuda| run::<This>(cuda, $rows, $columns)) })*
            #[test] fn many_rows() { with_cuda(|cuda| run::<This>(cuda, 100_003, 17)) }
            #[test] fn middle_rows() { with_cuda(|cuda| run::<This>(cuda, 1003, 4099)) }
            #[test] fn more_rows_than_blocks_along_y() {
                with_cuda(|cuda| run::<This>(cuda, 70_001, RUN + PACK));
            }
            #[test] fn long_rows() { with_cuda(|cuda| run::<This>(cuda, 7, (1 << 20) + 1025)) }
        }
        mod on_the_cpu {
            use super::*;
            $(#[test] fn $name() { run_on_cpu::<This>($op, $rows, $columns) })*
        }
    };
}

macro_rules! matrix {
    ($($module:ident: $op:literal $this:ty;)*) => {
        /// Each operation: its name, the types of its elements and accumulators, the end of its
        /// kernels' names, and the kernels.
        fn stamped() -> Vec<([&'static str; 3], &'static str, [&'static str; 2])> {
            // Of `half::binary16::f16`, the last part.
            let short = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
            vec![$({
                type This = $this;
                let element = short(type_name::<<This as Operation>::Element>());
                let accumulator = short(type_name::<<This as Operation>::Accumulator>());
                (
                    [$op, element, accumulator],
                    stringify!($module),
                    [<This as RowReducible>::Short::NAME, <This as RowReducible>::Long::NAME],
                )
            }),*]
        }

        $(mod $module {
            use super::*;

            type This = $this;
            const PACK: usize = <<$this as Operation>::Element as Scalar>::PACK;
            const WARP: usize = 32 * PACK;
            const RUN: usize = 8 * WARP;

            shapes! {
                $op
                no_rows: 0, 5;
                rows_of_nothing: 5, 0;
                one_element: 1, 1;
                one_column: 259, 1;
                one_pack_less_one: 300, PACK - 1;
                one_pack: 300, PACK;
                one_pack_and_one: 131, PACK + 1;
                three_packs: 70, 3 * PACK;
                odd_rows: 11, 77;
                a_load_of_a_warp: 9, WARP;
                a_load_of_a_warp_and_one: 9, WARP + 1;
                three_loads_and_a_half: 5, 7 * WARP / 2;
                one_run_less_one: 3, RUN - 1;
                one_run: 3, RUN;
                one_run_and_one: 4, RUN + 1;
                one_tile: 2, tile::<This>();
                one_tile_and_one: 3, tile::<This>() + 1;
            }
        })*
    };
}
matrix! {
    sum_f32: "sum" Sum<f32>;
    sum_f64: "sum" Sum<f64>;
    sum_i32_in_i64: "sum" Sum<i32, i64>;
    sum_u32_in_u64: "sum" Sum<u32, u64>;
    sum_i64: "sum" Sum<i64>;
    sum_u64: "sum" Sum<u64>;
    sum_f16_in_f32: "sum" Sum<f16, f32>;
    sum_bf16_in_f32: "sum" Sum<bf16, f32>;
    min_f32: "min" Min<f32>;
    min_f64: "min" Min<f64>;
    min_i32: "min" Min<i32>;
    min_u32: "min" Min<u32>;
    min_i64: "min" Min<i64>;
    min_u64: "min" Min<u64>;
    max_f32: "max" Max<f32>;
    max_f64: "max" Max<f64>;
    max_i32: "max" Max<i32>;
    max_u32: "max" Max<u32>;
    max_i64: "max" Max<i64>;
    max_u64: "max" Max<u64>;
}

/// The kernels that are tested here.
pub(crate) fn kernels() -> impl Iterator<Item = &'static str> {
    stamped().into_iter().flat_map(|(.., kernels)| kernels)
}

#[test]
fn every_operation_of_the_library_is_in_the_matrix() {
    let stamped: BTreeSet<_> = stamped().into_iter().map(|(what, ..)| what).collect();
    let library: BTreeSet<_> = row_kinds()
        .iter()
        .map(|kind| {
            [kind.op, kind.element, kind.accumulator]
                .map(|name| name.rsplit("::").next().unwrap_or(name))
        })
        .collect();
    assert_eq!(stamped, library);
}

#[test]
fn each_operation_is_named_after_its_kernels() {
    for (_, module, kernels) in stamped() {
        let named = ["short", "long"].map(|rows| format!("reduce_{rows}_rows_{module}"));
        assert_eq!(kernels, named);
    }
}

/// A matrix that begins 0 to 8 elements past an aligned address, in the midst of others that would
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
            RowReducer::<O>::new(device, rows, columns).expect("a reducer should fit");
        for start in 0..=8 {
            let len = rows * columns;
            let host = sample::<O::Element>(Kind::Values, start + len + 9, len as u64);
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

on_each_backend! {
    fn rows_of_f16_from_any_start(device: &Device) { every_start::<Sum<f16, f32>>(device) }
    fn rows_of_f32_from_any_start(device: &Device) { every_start::<Sum<f32>>(device) }
    fn rows_of_f64_from_any_start(device: &Device) { every_start::<Max<f64>>(device) }
    fn rows_of_i32_from_any_start(device: &Device) { every_start::<Sum<i32, i64>>(device) }
    fn a_matrix_of_another_size_is_refused(device: &Device) {
        let input = device.upload(&[0f32; 12]).expect("there is room");
        let refused = reduce_rows(Sum::<f32>::new(), &input, 5, 3);
        let expected = DeviceError::ShapeMismatch { rows: 5, columns: 3, given: 12 };
        assert_eq!(refused, Err(expected));
        let refused = reduce_rows(Sum::<f32>::new(), &input, 1 << 63, 2);
        assert!(refused.is_err(), "{refused:?}");
        assert_eq!(reduce_rows(Sum::<f32>::new(), &input, 4, 3), Ok(vec![0.0; 4]));
    }
}

#[test]
fn rows_of_several_tiles_are_right_under_every_schedule() {
    for schedule in schedules() {
        let device = emulator_under(schedule);
        run::<Sum<f32>>(&device, 3, tile::<Sum<f32>>() + 1);
    }
}

#[test]
fn rows_of_larger_shapes_have_the_bits_of_the_cpu_on_the_emulator() {
    // Data races are not looked for: it is the same code, and it would take too long.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    let columns = [(1 << 18) + 1, (1 << 20) + 1025];
    let shapes = columns.map(Shape::of::<f32>);
    assert_ne!(shapes[0].warps, shapes[1].warps);
    assert!(shapes[0].leaves_are_strips() && !shapes[1].leaves_are_strips());
    for columns in columns {
        run::<Sum<f32>>(&device, 2, columns);
        run::<Sum<i32, i64>>(&device, 2, columns);
    }
}

/// A matrix of zeros with a 1 at both ends of some rows: more than 2^32 elements in all.
fn more_than_two_to_the_32(cuda: &Device, rows: usize, columns: usize) {
    assert!(rows * columns > 1 << 32);
    let input = match cuda.zeroed::<f16>(rows * columns) {
        Ok(input) => input,
        Err(error @ DeviceError::OutOfMemory { .. }) => return skipped(&error.to_string()),
        Err(error) => panic!("{error}"),
    };
    let marked = [0, rows / 2, rows - 1];
    for at in marked
        .map(|row| [row * columns, (row + 1) * columns - 1])
        .concat()
    {
        let address = input.address() + (at * size_of::<f16>()) as u64;
        // SAFETY: the element lies within the buffer, which is live and idle.
        unsafe {
            cuda.backend()
                .upload(address, bytemuck::bytes_of(&f16::ONE))
        }
        .expect("an element should be copied");
    }
    let sums =
        reduce_rows(Sum::<f16, f32>::new(), &input, rows, columns).expect("they are computed");
    for (row, sum) in sums.into_iter().enumerate() {
        let expected = if marked.contains(&row) { 2.0 } else { 0.0 };
        assert_eq!(sum, expected, "row {row} of {rows} × {columns}");
    }
}

#[test]
fn more_than_two_to_the_32_elements_are_right_on_cuda() {
    with_cuda(|cuda| {
        more_than_two_to_the_32(cuda, 5_000_001, 1001);
        more_than_two_to_the_32(cuda, 3, (1 << 31) + 9);
    });
}

//! One test for each kernel, size and backend.

use super::Bench;
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use gridsync::device::Device;
use gridsync::primitives::select::{Comparable, FirstOfRun, Within};
use gridsync_entries::select::Selectable;
use gridsync_kernels::grid::scan::{Shape, most_rows};
use gridsync_program::verify::{Kind, Sample, SelectKind, runs, sample, select_kinds, shares};
use gridsync_tests::devices::{emulator, emulator_under, with_cuda};
use simt::{Policy, Schedule};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// Runs the library's case of `op` on elements of that name, on one seed of its own for each length.
fn run(device: &Device, op: &str, element: &str, len: usize) {
    let kind: SelectKind = select_kinds()
        .into_iter()
        .find(|kind| (kind.op, kind.element) == (op, element))
        .unwrap_or_else(|| panic!("{op} {element} should be one of select_kinds()"));
    (kind.case)(device, len, len as u64).unwrap_or_else(|error| panic!("{error}"));
}

/// A length of two groups of four tiles, one tile and one element, in blocks of two warps.
fn in_groups<T: Scalar>(rows: u32) -> Shape {
    let tile = Shape::with::<T>(0, 2, rows, 4).tile::<T>();
    let shape = Shape::with::<T>(9 * tile + 1, 2, rows, 4);
    assert_eq!((shape.tiles, shape.groups()), (10, 3));
    shape
}

/// How many elements such a shape is for.
fn len_of<T: Scalar>(shape: Shape) -> usize {
    (shape.tiles as usize - 1) * shape.tile::<T>() + 1
}

/// Where a comparison holds, for every share, in three groups.
fn where_in_groups<T>(device: &Device, rows: u32)
where
    T: Comparable + Sample + Pod + Debug,
    Within<T>: Selectable<Element = T>,
{
    let shape = in_groups::<T>(rows);
    let host = sample::<T>(Kind::Values, len_of::<T>(shape), 9);
    for within in shares(&host) {
        Bench::new(within, device, shape, host.clone(), 0).run();
    }
}

/// The first of each run, in three groups.
fn unique_in_groups<T>(device: &Device, rows: u32)
where
    T: Comparable + Sample + Pod + Debug,
    FirstOfRun<T>: Selectable<Element = T> + Debug,
{
    let shape = in_groups::<T>(rows);
    let host = runs::<T>(len_of::<T>(shape), 9);
    Bench::new(FirstOfRun::<T>::new(), device, shape, host, 0).run();
}

/// Stamps the tests of one kernel for each length.
macro_rules! lengths {
    ($op:literal $element:ident $in_groups:ident; $($name:ident: $len:expr;)*) => {
        mod on_the_emulator {
            use super::*;
            $(#[test] fn $name() { run(&emulator(), $op, stringify!($element), $len) })*
            #[test] fn in_several_groups() {
                for rows in [1, 2, most_rows::<$element, $element>()] {
                    $in_groups::<$element>(&emulator(), rows);
                }
            }
        }
        mod on_cuda {
            use super::*;
            $(#[test] fn $name() { with_cuda(|cuda| run(cuda, $op, stringify!($element), $len)) })*
            #[test] fn in_several_groups() {
                for rows in [1, 2, most_rows::<$element, $element>()] {
                    with_cuda(|cuda| $in_groups::<$element>(cuda, rows));
                }
            }
            #[test] fn len_1048583() {
                with_cuda(|cuda| run(cuda, $op, stringify!($element), (1 << 20) + 7))
            }
            #[test] fn len_16777217() {
                with_cuda(|cuda| run(cuda, $op, stringify!($element), (1 << 24) + 1))
            }
        }
    };
}

/// Stamps the tests of one kernel for each schedule of the emulator, on three groups.
macro_rules! schedules {
    ($element:ident $in_groups:ident; $($name:ident: $seed:literal $policy:expr;)*) => {
        mod in_several_groups {
            use super::*;
            $(#[test] fn $name() {
                let schedule = Schedule::seeded($policy, $seed);
                $in_groups::<$element>(&emulator_under(schedule), 1)
            })*
        }
    };
}

macro_rules! matrix {
    ($($module:ident: $op:literal $by:ident $element:ident $in_groups:ident;)*) => {
        /// The entry points in the PTX.
        pub(crate) fn kernels() -> Vec<&'static str> {
            vec![$(<$by<$element> as Selectable>::Kernel::NAME),*]
        }

        /// What the rows are of, and their modules.
        fn rows() -> Vec<(&'static str, &'static str, &'static str)> {
            vec![$(($op, stringify!($element), stringify!($module))),*]
        }

        $(mod $module {
            use super::*;

            const PACK: usize = <$element as Scalar>::PACK;
            const ROW: usize = 32 * PACK;
            const TILE: usize = 8 * ROW;

            lengths! {
                $op $element $in_groups;
                len_0: 0;
                len_1: 1;
                len_31: 31;
                len_32: 32;
                len_33: 33;
                one_pack_less_one: PACK - 1;
                one_pack: PACK;
                one_pack_and_one: PACK + 1;
                one_row_less_one: ROW - 1;
                one_row: ROW;
                one_row_and_one: ROW + 1;
                one_tile_less_one: TILE - 1;
                one_tile: TILE;
                one_tile_and_one: TILE + 1;
                len_6007: 6007;
            }
            schedules! {
                $element $in_groups;
                under_round_robin: 0 Policy::RoundRobin;
                under_run_ahead: 0 Policy::RunAhead;
                under_reverse: 0 Policy::Reverse;
                under_random_steps: 1 Policy::Random { quantum: 1 };
                under_random_turns: 2 Policy::Random { quantum: 50 };
            }
        })*
    };
}
matrix! {
    select_f32: "where" Within f32 where_in_groups;
    select_f64: "where" Within f64 where_in_groups;
    select_i32: "where" Within i32 where_in_groups;
    select_u32: "where" Within u32 where_in_groups;
    select_i64: "where" Within i64 where_in_groups;
    select_u64: "where" Within u64 where_in_groups;
    unique_f32: "unique" FirstOfRun f32 unique_in_groups;
    unique_f64: "unique" FirstOfRun f64 unique_in_groups;
    unique_i32: "unique" FirstOfRun i32 unique_in_groups;
    unique_u32: "unique" FirstOfRun u32 unique_in_groups;
    unique_i64: "unique" FirstOfRun i64 unique_in_groups;
    unique_u64: "unique" FirstOfRun u64 unique_in_groups;
}

#[test]
fn every_selection_of_the_library_is_in_the_matrix_and_once() {
    let stamped: Vec<_> = rows()
        .iter()
        .map(|&(op, element, _)| (op, element))
        .collect();
    let distinct: BTreeSet<_> = stamped.iter().copied().collect();
    assert_eq!(
        distinct.len(),
        stamped.len(),
        "a row should stand there once"
    );
    let kinds = select_kinds();
    let library: BTreeSet<_> = kinds.iter().map(|kind| (kind.op, kind.element)).collect();
    assert_eq!(distinct, library);
}

#[test]
fn each_row_is_named_after_its_kernel() {
    let modules: Vec<_> = rows().iter().map(|&(.., module)| module).collect();
    assert_eq!(kernels(), modules);
}

//! One test for each kernel, size and backend.

use super::{FORMS, same_bits, scan_in};
use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::ScanChecked;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::reference;
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::scan::{Shape, most_rows};
use gridsync_kernels::op::{And, Count, Max, Min, Operation, Or, Product, Sum, Xor};
use gridsync_program::verify::{Kind, Sample, ScanKind, sample, scan_kinds};
use gridsync_tests::devices::{emulator, emulator_under, with_cuda};
use gridsync_tests::oracle::{self, Number, Plain};
use simt::{Policy, Schedule};
use std::any::type_name;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// One row of the matrix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    op: &'static str,
    element: &'static str,
    accumulator: &'static str,
    /// The entry point in the PTX.
    pub(crate) kernel: &'static str,
    /// The module of its tests.
    module: &'static str,
}

/// The row of `O`, from its types alone.
fn row<O: Scannable>(op: &'static str, module: &'static str) -> Row {
    // Of `half::binary16::f16`, the last part.
    let short = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
    Row {
        op,
        element: short(type_name::<O::Element>()),
        accumulator: short(type_name::<O::Output>()),
        kernel: O::Kernel::NAME,
        module,
    }
}

/// The library's own entry for `row`.
fn kind(row: &Row) -> ScanKind {
    scan_kinds()
        .into_iter()
        .find(|kind| {
            (kind.op, kind.element, kind.accumulator) == (row.op, row.element, row.accumulator)
        })
        .unwrap_or_else(|| panic!("{row:?} should be one of scan_kinds()"))
}

/// Runs the library's case for `row`, on one seed of its own for each length.
fn run(device: &Device, row: &Row, len: usize) {
    (kind(row).case)(device, len, len as u64).unwrap_or_else(|error| panic!("{error}"));
}

/// The elements of a tile of a small array.
fn tile<O: Scannable>() -> usize {
    Shape::of::<O::Element, O::Accumulator>(1).tile::<O::Element>()
}

/// Scans two groups of four tiles, one tile and one element, in small blocks.
fn run_in_groups<O>(device: &Device, inputs: Kind, rows: u32)
where
    O: Scannable + ScanChecked + Default,
    O::Element: Plain + Sample,
    O::Output: Plain + Debug,
{
    let of = |len| Shape::with::<O::Element>(len, 2, rows, 4);
    let len = 9 * of(0).tile::<O::Element>() + 1;
    let (op, host) = (O::default(), sample::<O::Element>(inputs, len, 9));
    assert_eq!(of(len).groups(), 3);
    for form in FORMS {
        let results = scan_in(O::default(), device, of(len), &host, form);
        let expected = reference::scan_in(op, of(len), &host, form);
        same_bits(&format!("{form:?}, {rows} rows"), &results, &expected);
        let depth = of(len).depth::<O::Element>().into();
        let check = op
            .check_scan(&host, &results, form, depth)
            .expect("there are elements");
        assert!(check.check.ok, "{form:?}, {rows} rows: {check:?}");
    }
}

/// The same with both numbers of rows that the kernel was made for.
fn run_in_groups_by_rows<O>(device: &Device, inputs: Kind)
where
    O: Scannable + ScanChecked + Default,
    O::Element: Plain + Sample,
    O::Output: Plain + Debug,
{
    for rows in BTreeSet::from([1, most_rows::<O::Element, O::Accumulator>()]) {
        run_in_groups::<O>(device, inputs, rows);
    }
}

/// The CPU form against plain loops, at some places.
fn run_on_cpu<O>(row: &Row, inputs: Kind, len: usize)
where
    O: Scannable + Default,
    O::Element: Plain + Sample,
    O::Output: Plain,
{
    let input = sample::<O::Element>(inputs, len, len as u64);
    let depth = reference::scan_depth::<O>(len);
    for form in FORMS {
        let results = scan_on_cpu(O::default(), &input, form);
        assert_eq!(results.len(), len);
        for at in (0..len).step_by(len / 40 + 1).chain(len.checked_sub(1)) {
            let part = match form {
                Form::Inclusive => &input[..=at],
                Form::Exclusive => &input[..at],
            };
            let mut expected = oracle::reduce::<O::Element, O::Output>(row.op, part, depth);
            expected.value = wrapped::<O::Output>(expected.value);
            let got = results[at].number();
            assert!(
                expected.admits(got),
                "{form:?}, {at} of {len}: {got:?} is not {expected:?}"
            );
        }
    }
}

/// An integer as one of 32 bits holds it, if that is what `A` is; the oracle's have more.
fn wrapped<A: Plain>(number: Number) -> Number {
    match (number, A::NAME) {
        (Number::Int(x), "i32") => Number::Int((x as i32).into()),
        (Number::Int(x), "u32") => Number::Int((x as u32).into()),
        (number, _) => number,
    }
}

/// Stamps the tests of one row for each length.
macro_rules! lengths {
    ($($name:ident: $len:expr;)*) => {
        mod on_the_emulator {
            use super::*;
            $(#[test] fn $name() { run(&emulator(), &this(), $len) })*
            #[test] fn in_several_groups() { run_in_groups_by_rows::<This>(&emulator(), INPUTS) }
        }
        mod on_cuda {
            use super::*;
            $(#[test] fn $name() { with_cuda(|cuda| run(cuda, &this(), $len)) })*
            #[test] fn in_several_groups() {
                with_cuda(|cuda| run_in_groups_by_rows::<This>(cuda, INPUTS))
            }
            #[test] fn len_1048583() { with_cuda(|cuda| run(cuda, &this(), (1 << 20) + 7)) }
            #[test] fn len_16777217() { with_cuda(|cuda| run(cuda, &this(), (1 << 24) + 1)) }
        }
        mod on_the_cpu {
            use super::*;
            $(#[test] fn $name() { run_on_cpu::<This>(&this(), INPUTS, $len) })*
        }
    };
}

/// Stamps the tests of one row for each schedule of the emulator, on three groups.
macro_rules! schedules {
    ($($name:ident: $seed:literal $policy:expr;)*) => {
        mod in_several_groups {
            use super::*;
            $(#[test] fn $name() {
                let schedule = Schedule::seeded($policy, $seed);
                run_in_groups::<This>(&emulator_under(schedule), INPUTS, 1)
            })*
        }
    };
}

macro_rules! matrix {
    ($($module:ident: $op:literal $this:ty, $inputs:ident;)*) => {
        /// All rows.
        pub(crate) fn rows() -> Vec<Row> {
            vec![$(row::<$this>($op, stringify!($module))),*]
        }

        $(mod $module {
            use super::*;

            type This = $this;
            const INPUTS: Kind = Kind::$inputs;
            const PACK: usize = <<This as Operation>::Element as Scalar>::PACK;
            const ROW: usize = 32 * PACK;

            fn this() -> Row {
                row::<$this>($op, stringify!($module))
            }

            lengths! {
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
                one_tile_less_one: tile::<This>() - 1;
                one_tile: tile::<This>();
                one_tile_and_one: tile::<This>() + 1;
                len_6007: 6007;
            }
            schedules! {
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
    sum_f32: "sum" Sum<f32>, Values;
    sum_f32_in_f64: "sum" Sum<f32, f64>, Values;
    sum_f64: "sum" Sum<f64>, Values;
    sum_i32: "sum" Sum<i32>, Values;
    sum_i32_in_i64: "sum" Sum<i32, i64>, Values;
    sum_u32: "sum" Sum<u32>, Values;
    sum_u32_in_u64: "sum" Sum<u32, u64>, Values;
    sum_i64: "sum" Sum<i64>, Values;
    sum_u64: "sum" Sum<u64>, Values;
    sum_f16_in_f32: "sum" Sum<f16, f32>, Values;
    sum_f16_in_f64: "sum" Sum<f16, f64>, Values;
    sum_bf16_in_f32: "sum" Sum<bf16, f32>, Values;
    sum_bf16_in_f64: "sum" Sum<bf16, f64>, Values;
    prod_f32: "prod" Product<f32>, Factors;
    prod_f32_in_f64: "prod" Product<f32, f64>, Factors;
    prod_f64: "prod" Product<f64>, Factors;
    prod_i32_in_i64: "prod" Product<i32, i64>, Factors;
    prod_u32_in_u64: "prod" Product<u32, u64>, Factors;
    prod_i64: "prod" Product<i64>, Factors;
    prod_u64: "prod" Product<u64>, Factors;
    min_f32: "min" Min<f32>, Values;
    min_f64: "min" Min<f64>, Values;
    min_i32: "min" Min<i32>, Values;
    min_u32: "min" Min<u32>, Values;
    min_i64: "min" Min<i64>, Values;
    min_u64: "min" Min<u64>, Values;
    max_f32: "max" Max<f32>, Values;
    max_f64: "max" Max<f64>, Values;
    max_i32: "max" Max<i32>, Values;
    max_u32: "max" Max<u32>, Values;
    max_i64: "max" Max<i64>, Values;
    max_u64: "max" Max<u64>, Values;
    xor_i32: "xor" Xor<i32>, Values;
    xor_u32: "xor" Xor<u32>, Values;
    and_i32: "and" And<i32>, FewZeros;
    and_u32: "and" And<u32>, FewZeros;
    or_i32: "or" Or<i32>, FewOnes;
    or_u32: "or" Or<u32>, FewOnes;
    count_f32: "count" Count<f32>, Values;
    count_i32: "count" Count<i32>, Values;
    count_u32: "count" Count<u32>, Values;
}

#[test]
fn every_scan_of_the_library_is_in_the_matrix_and_once() {
    let stamped: Vec<_> = rows()
        .iter()
        .map(|row| (row.op, row.element, row.accumulator))
        .collect();
    let distinct: BTreeSet<_> = stamped.iter().copied().collect();
    assert_eq!(
        distinct.len(),
        stamped.len(),
        "a row should stand there once"
    );
    let library: BTreeSet<_> = scan_kinds()
        .iter()
        .map(|kind| (kind.op, kind.element, kind.accumulator))
        .collect();
    let missing: Vec<_> = library.difference(&distinct).collect();
    let unknown: Vec<_> = distinct.difference(&library).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "stamp {missing:?} in the matrix, and offer {unknown:?} in scan_kinds()"
    );
}

#[test]
fn each_row_is_named_after_its_kernel() {
    for row in rows() {
        assert_eq!(row.kernel, format!("scan_{}", row.module));
    }
}

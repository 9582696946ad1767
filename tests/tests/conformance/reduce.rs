//! The matrix of the reductions: one test for each kernel, size and backend.

use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::reference::reduce_depth;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Max, Min, Or, Product, ProductModulo, Sum,
    WideSum, Xor,
};
use gridsync_program::verify::{Kind, ReduceKind, Sample, modulo_a_prime, reduce_kinds, sample};
use gridsync_tests::devices::{emulator, emulator_under, with_cuda};
use gridsync_tests::oracle::{self, Plain};
use gridsync_tests::outcome::Outcome;
use simt::{Policy, Schedule};
use std::any::type_name;
use std::collections::BTreeSet;

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
fn row<O: Reducible>(op: &'static str, module: &'static str) -> Row {
    // Of `half::binary16::f16`, the last part.
    let short = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
    Row {
        op,
        element: short(type_name::<O::Element>()),
        accumulator: short(type_name::<O::Accumulator>()),
        kernel: O::Kernel::NAME,
        module,
    }
}

/// The library's own entry for `row`.
fn kind(row: &Row) -> ReduceKind {
    reduce_kinds()
        .into_iter()
        .find(|kind| {
            (kind.op, kind.element, kind.accumulator) == (row.op, row.element, row.accumulator)
        })
        .unwrap_or_else(|| panic!("{row:?} should be one of reduce_kinds()"))
}

/// Runs the library's case for `row`, on one seed of its own for each length.
fn run(device: &Device, row: &Row, len: usize) {
    (kind(row).case)(device, len, len as u64).unwrap_or_else(|error| panic!("{error}"));
}

/// The CPU form against a plain loop.
fn run_on_cpu<O>(op: O, row: &Row, inputs: Kind, len: usize)
where
    O: Reducible,
    O::Element: Plain + Sample,
    O::Output: Outcome,
{
    let input = sample::<O::Element>(inputs, len, len as u64);
    let expected = oracle::reduce::<O::Element, <O::Output as Outcome>::Plain>(
        row.op,
        &input,
        reduce_depth::<O>(len),
    );
    let got = reduce_on_cpu(op, &input).number();
    assert!(expected.admits(got), "{got:?} is not {expected:?}");
}

/// The elements of a tile of a small array.
fn tile<O: Reducible>() -> usize {
    Shape::of::<O::Element>(1).tile::<O::Element>()
}

/// Stamps the tests of one row for each length.
macro_rules! lengths {
    ($($name:ident: $len:expr;)*) => {
        mod on_the_emulator {
            use super::*;
            $(#[test] fn $name() { run(&emulator(), &this(), $len) })*
        }
        mod on_cuda {
            use super::*;
            $(#[test] fn $name() { with_cuda(|cuda| run(cuda, &this(), $len)) })*
            #[test] fn len_1048583() { with_cuda(|cuda| run(cuda, &this(), (1 << 20) + 7)) }
            #[test] fn len_16777217() { with_cuda(|cuda| run(cuda, &this(), (1 << 24) + 1)) }
        }
        mod on_the_cpu {
            use super::*;
            $(#[test] fn $name() { run_on_cpu(op(), &this(), INPUTS, $len) })*
        }
    };
}

/// Stamps the tests of one row for each schedule of the emulator, on two blocks.
macro_rules! schedules {
    ($($name:ident: $seed:literal $policy:expr;)*) => {
        mod on_two_blocks {
            use super::*;
            $(#[test] fn $name() {
                let schedule = Schedule::seeded($policy, $seed);
                run(&emulator_under(schedule), &this(), tile::<This>() + 1)
            })*
        }
    };
}

/// The operation of a row.
macro_rules! operation {
    ($this:ty) => {
        <$this>::new()
    };
    ($this:ty, $op:expr) => {
        $op
    };
}

macro_rules! matrix {
    ($($module:ident: $op:literal $this:ty, $inputs:ident $(, $value:expr)?;)*) => {
        /// All rows.
        pub(crate) fn rows() -> Vec<Row> {
            vec![$(row::<$this>($op, stringify!($module))),*]
        }

        $(mod $module {
            use super::*;

            type This = $this;
            const INPUTS: Kind = Kind::$inputs;
            const PACK: usize = <<$this as gridsync_kernels::op::Operation>::Element as Scalar>::PACK;

            fn this() -> Row {
                row::<$this>($op, stringify!($module))
            }

            fn op() -> This {
                operation!($this $(, $value)?)
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
                one_tile_less_one: tile::<This>() - 1;
                one_tile: tile::<This>();
                one_tile_and_one: tile::<This>() + 1;
                len_12345: 12345;
                len_65537: 65537;
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
    sum_i32_in_i64: "sum" Sum<i32, i64>, Values;
    sum_u32_in_u64: "sum" Sum<u32, u64>, Values;
    sum_i64: "sum" Sum<i64>, Values;
    sum_u64: "sum" Sum<u64>, Values;
    sum_i64_in_i128: "sum" WideSum<i64>, Values;
    sum_u64_in_i128: "sum" WideSum<u64>, Values;
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
    prod_f16_in_f32: "prod" Product<f16, f32>, Factors;
    prod_f16_in_f64: "prod" Product<f16, f64>, Factors;
    prod_bf16_in_f32: "prod" Product<bf16, f32>, Factors;
    prod_bf16_in_f64: "prod" Product<bf16, f64>, Factors;
    min_f32: "min" Min<f32>, Values;
    min_f64: "min" Min<f64>, Values;
    min_i32: "min" Min<i32>, Values;
    min_u32: "min" Min<u32>, Values;
    min_i64: "min" Min<i64>, Values;
    min_u64: "min" Min<u64>, Values;
    min_f16_in_f32: "min" Min<f16, f32>, Values;
    min_bf16_in_f32: "min" Min<bf16, f32>, Values;
    max_f32: "max" Max<f32>, Values;
    max_f64: "max" Max<f64>, Values;
    max_i32: "max" Max<i32>, Values;
    max_u32: "max" Max<u32>, Values;
    max_i64: "max" Max<i64>, Values;
    max_u64: "max" Max<u64>, Values;
    max_f16_in_f32: "max" Max<f16, f32>, Values;
    max_bf16_in_f32: "max" Max<bf16, f32>, Values;
    xor_i32: "xor" Xor<i32>, Values;
    xor_u32: "xor" Xor<u32>, Values;
    xor_i64: "xor" Xor<i64>, Values;
    xor_u64: "xor" Xor<u64>, Values;
    and_i32: "and" And<i32>, FewZeros;
    and_u32: "and" And<u32>, FewZeros;
    and_i64: "and" And<i64>, FewZeros;
    and_u64: "and" And<u64>, FewZeros;
    or_i32: "or" Or<i32>, FewOnes;
    or_u32: "or" Or<u32>, FewOnes;
    or_i64: "or" Or<i64>, FewOnes;
    or_u64: "or" Or<u64>, FewOnes;
    count_f32: "count" Count<f32>, Values;
    count_f64: "count" Count<f64>, Values;
    count_i32: "count" Count<i32>, Values;
    count_u32: "count" Count<u32>, Values;
    count_i64: "count" Count<i64>, Values;
    count_u64: "count" Count<u64>, Values;
    count_f16: "count" Count<f16>, Values;
    count_bf16: "count" Count<bf16>, Values;
    sum_compensated_f32: "sum" CompensatedSum<f32>, Values;
    sum_compensated_f64: "sum" CompensatedSum<f64>, Values;
    prod_mod_i32: "prod-mod" ProductModulo<i32>, Factors, modulo_a_prime();
    prod_mod_u32: "prod-mod" ProductModulo<u32>, Factors, modulo_a_prime();
    prod_mod_i64: "prod-mod" ProductModulo<i64>, Factors, modulo_a_prime();
    prod_mod_u64: "prod-mod" ProductModulo<u64>, Factors, modulo_a_prime();
    argmin_f32: "argmin" ArgMin<f32>, Values;
    argmin_f64: "argmin" ArgMin<f64>, Values;
    argmin_i32: "argmin" ArgMin<i32>, Values;
    argmin_u32: "argmin" ArgMin<u32>, Values;
    argmin_i64: "argmin" ArgMin<i64>, Values;
    argmin_u64: "argmin" ArgMin<u64>, Values;
    argmin_f16_in_f32: "argmin" ArgMin<f16, f32>, Values;
    argmin_bf16_in_f32: "argmin" ArgMin<bf16, f32>, Values;
    argmax_f32: "argmax" ArgMax<f32>, Values;
    argmax_f64: "argmax" ArgMax<f64>, Values;
    argmax_i32: "argmax" ArgMax<i32>, Values;
    argmax_u32: "argmax" ArgMax<u32>, Values;
    argmax_i64: "argmax" ArgMax<i64>, Values;
    argmax_u64: "argmax" ArgMax<u64>, Values;
    argmax_f16_in_f32: "argmax" ArgMax<f16, f32>, Values;
    argmax_bf16_in_f32: "argmax" ArgMax<bf16, f32>, Values;
    compose_u64: "compose" Compose, Factors;
}

#[test]
fn every_reduction_of_the_library_is_in_the_matrix_and_once() {
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
    let library: BTreeSet<_> = reduce_kinds()
        .iter()
        .map(|kind| (kind.op, kind.element, kind.accumulator))
        .collect();
    let missing: Vec<_> = library.difference(&distinct).collect();
    let unknown: Vec<_> = distinct.difference(&library).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "stamp {missing:?} in the matrix, and offer {unknown:?} in reduce_kinds()"
    );
}

#[test]
fn each_row_is_named_after_its_kernel() {
    for row in rows() {
        assert_eq!(row.kernel, format!("reduce_{}", row.module));
    }
}

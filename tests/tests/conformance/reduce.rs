//! The matrix of the reductions: one test for each kernel, size and backend.

use crate::matrix::{
    Lengths, add_lengths, add_schedules, around, each_is_named_after_its_kernels,
    each_is_there_once, exactly,
};
use gridsync::primitives::scan::Form;
use gridsync_tests::oracle::{self, Type};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Kind, Primitive, Size, kinds};

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_reduction_of_the_library_is_in_the_matrix_and_once,
            each_row_is_named_after_its_kernel;
    };
    for kind in kinds(Primitive::Reduce) {
        add_row(&mut trials, kind);
    }
    trials
}

fn lengths(kind: &Kind) -> Lengths {
    [
        exactly(&[0, 1, 31, 32, 33]),
        around("one_pack", kind.pack),
        around("one_tile", kind.tile),
        exactly(&[12_345, 65_537]),
    ]
    .concat()
}

fn add_row(trials: &mut Trials, kind: &'static Kind) {
    let (row, lengths, two_blocks) = (kind.name, lengths(kind), kind.tile + 1);
    add_lengths(trials, kind, &lengths, two_blocks);
    for (length, len) in lengths {
        trials.test(format!("{row}::on_the_cpu::{length}"), move || on_the_cpu(kind, len));
    }
    let case = (Size::Array(two_blocks), two_blocks);
    add_schedules(trials, &format!("{row}::on_two_blocks"), kind, case);
}

/// Compares the result of the CPU with a plain loop.
fn on_the_cpu(kind: &Kind, len: usize) {
    let cpu = kind.on_cpu(Size::Array(len), len as u64, Form::Inclusive);
    let cpu = cpu.expect("it is a reduction");
    assert_eq!((cpu.input.len(), cpu.results.len()), (len, 1));
    let output = Type::named(cpu.output);
    let expected = oracle::reduce_numbers(kind.op, &cpu.input, output, cpu.depth);
    let got = cpu.results[0];
    assert!(expected.admits(got), "{got:?} is not {expected:?}");
}

fn every_reduction_of_the_library_is_in_the_matrix_and_once() {
    each_is_there_once(Primitive::Reduce, &trials(), |name| {
        format!("reduce::{name}::on_two_blocks::under_reverse")
    });
}

fn each_row_is_named_after_its_kernel() {
    each_is_named_after_its_kernels(Primitive::Reduce, &["reduce_"]);
}

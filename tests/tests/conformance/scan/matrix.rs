//! One test for each kernel, size and backend.

use super::FORMS;
use crate::matrix::{
    Lengths, add_groups, add_lengths, around, each_is_named_after_its_kernels, each_is_there_once,
    exactly,
};
use gridsync::primitives::scan::Form;
use gridsync_tests::oracle::{self, Type};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Kind, Primitive, Size, kinds};
use std::collections::BTreeSet;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_scan_of_the_library_is_in_the_matrix_and_once,
            each_row_is_named_after_its_kernel;
    };
    for kind in kinds(Primitive::Scan) {
        add_row(&mut trials, kind);
    }
    trials
}

fn lengths(kind: &Kind) -> Lengths {
    [
        exactly(&[0, 1, 31, 32, 33]),
        around("one_pack", kind.pack),
        around("one_row", 32 * kind.pack),
        around("one_tile", kind.tile),
        exactly(&[6007]),
    ]
    .concat()
}

fn add_row(trials: &mut Trials, kind: &'static Kind) {
    let (row, lengths) = (kind.name, lengths(kind));
    add_lengths(trials, kind, &lengths, kind.tile + 1);
    for (length, len) in lengths {
        trials.test(format!("{row}::on_the_cpu::{length}"), move || on_the_cpu(kind, len));
    }
    // The smallest and the largest number of rows that the kernel supports.
    add_groups(trials, kind, BTreeSet::from([1, kind.most_rows]));
}

/// Compares the result of the CPU with plain loops, at some indices.
fn on_the_cpu(kind: &Kind, len: usize) {
    for form in FORMS {
        let cpu = kind.on_cpu(Size::Array(len), len as u64, form).expect("it is a scan");
        assert_eq!((cpu.input.len(), cpu.results.len()), (len, len));
        let output = Type::named(cpu.output);
        for at in (0..len).step_by(len / 40 + 1).chain(len.checked_sub(1)) {
            let part = match form {
                Form::Inclusive => &cpu.input[..=at],
                Form::Exclusive => &cpu.input[..at],
            };
            let expected = oracle::reduce_numbers(kind.op, part, output, cpu.depth);
            let got = cpu.results[at];
            assert!(expected.admits(got), "{form:?}, {at} of {len}: {got:?} is not {expected:?}");
        }
    }
}

fn every_scan_of_the_library_is_in_the_matrix_and_once() {
    each_is_there_once(Primitive::Scan, &trials(), |name| {
        format!("scan::matrix::{name}::in_several_groups::under_reverse")
    });
}

fn each_row_is_named_after_its_kernel() {
    each_is_named_after_its_kernels(Primitive::Scan, &["scan_"]);
}

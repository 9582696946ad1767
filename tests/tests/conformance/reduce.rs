//! The matrix of the reductions: one test for each kernel, size and backend.

use crate::matrix::{
    Lengths, add_lengths, add_schedules, around, exactly, is_named, is_there_once,
};
use gridsync::device::Device;
use gridsync_tests::oracle::{self, Type};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{ReduceKind, reduce_kinds};
use std::collections::BTreeSet;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_reduction_of_the_library_is_in_the_matrix_and_once,
            each_row_is_named_after_its_kernel;
    };
    for kind in reduce_kinds() {
        add_row(&mut trials, kind);
    }
    trials
}

fn lengths(kind: &ReduceKind) -> Lengths {
    [
        exactly(&[0, 1, 31, 32, 33]),
        around("one_pack", kind.pack),
        around("one_tile", kind.tile),
        exactly(&[12_345, 65_537]),
    ]
    .concat()
}

fn add_row(trials: &mut Trials, kind: ReduceKind) {
    let (row, lengths, two_blocks) = (kind.name, lengths(&kind), kind.tile + 1);
    add_lengths(trials, row, kind.case, &lengths, two_blocks);
    for (length, len) in lengths {
        trials.test(format!("{row}::on_the_cpu::{length}"), move || on_the_cpu(&kind, len));
    }
    add_schedules(trials, &format!("{row}::on_two_blocks"), move |device| {
        run(device, &kind, two_blocks);
    });
}

/// Runs the library's case, with a different seed for each length.
fn run(device: &Device, kind: &ReduceKind, len: usize) {
    (kind.case)(device, len, len as u64).unwrap_or_else(|error| panic!("{error}"));
}

/// Compares the result of the CPU with a plain loop.
fn on_the_cpu(kind: &ReduceKind, len: usize) {
    let cpu = (kind.on_cpu)(len, len as u64);
    assert_eq!((cpu.input.len(), cpu.results.len()), (len, 1));
    let output = Type::named(cpu.output);
    let expected = oracle::reduce_numbers(kind.op, &cpu.input, output, cpu.depth);
    let got = cpu.results[0];
    assert!(expected.admits(got), "{got:?} is not {expected:?}");
}

fn every_reduction_of_the_library_is_in_the_matrix_and_once() {
    let kinds = reduce_kinds();
    let what = |kind: &ReduceKind| (kind.op, kind.element, kind.accumulator);
    let distinct: BTreeSet<_> = kinds.iter().map(what).collect();
    assert_eq!(distinct.len(), kinds.len());
    let rows = trials();
    for kind in &kinds {
        let test = format!("reduce::{}::on_two_blocks::under_reverse", kind.name);
        is_there_once(&rows, &test);
    }
}

fn each_row_is_named_after_its_kernel() {
    for kind in reduce_kinds() {
        let types = [kind.element, kind.accumulator];
        assert!(
            is_named([kind.name, kind.kernel], "reduce", kind.op, types),
            "{} {types:?}",
            kind.kernel
        );
    }
}

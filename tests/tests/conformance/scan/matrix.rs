//! One test for each kernel, size and backend.

use super::FORMS;
use crate::matrix::{Lengths, add_groups, add_lengths, around, exactly, is_named, is_there_once};
use gridsync::device::Device;
use gridsync::primitives::scan::Form;
use gridsync_tests::oracle::{self, Type};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{ScanKind, scan_kinds};
use std::collections::BTreeSet;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_scan_of_the_library_is_in_the_matrix_and_once,
            each_row_is_named_after_its_kernel;
    };
    for kind in scan_kinds() {
        add_row(&mut trials, kind);
    }
    trials
}

fn lengths(kind: &ScanKind) -> Lengths {
    [
        exactly(&[0, 1, 31, 32, 33]),
        around("one_pack", kind.pack),
        around("one_row", 32 * kind.pack),
        around("one_tile", kind.tile),
        exactly(&[6007]),
    ]
    .concat()
}

fn add_row(trials: &mut Trials, kind: ScanKind) {
    let (row, lengths) = (kind.name, lengths(&kind));
    add_lengths(trials, row, kind.case, &lengths, kind.tile + 1);
    for (length, len) in lengths {
        trials.test(format!("{row}::on_the_cpu::{length}"), move || on_the_cpu(&kind, len));
    }
    let by_rows = move |device: &Device| in_groups_by_rows(device, &kind);
    add_groups(trials, row, by_rows, move |device| in_groups(device, &kind, 1));
}

/// Scans three groups.
fn in_groups(device: &Device, kind: &ScanKind, rows: u32) {
    (kind.in_groups)(device, rows).unwrap_or_else(|error| panic!("{error}"));
}

/// Scans three groups with the smallest and the largest number of rows per tile that the kernel
/// supports.
fn in_groups_by_rows(device: &Device, kind: &ScanKind) {
    for rows in BTreeSet::from([1, kind.most_rows]) {
        in_groups(device, kind, rows);
    }
}

/// Compares the result of the CPU with plain loops, at some indices.
fn on_the_cpu(kind: &ScanKind, len: usize) {
    for form in FORMS {
        let cpu = (kind.on_cpu)(form, len, len as u64);
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
    let kinds = scan_kinds();
    let what = |kind: &ScanKind| (kind.op, kind.element, kind.accumulator);
    let distinct: BTreeSet<_> = kinds.iter().map(what).collect();
    assert_eq!(distinct.len(), kinds.len());
    let rows = trials();
    for kind in &kinds {
        let test = format!("scan::matrix::{}::in_several_groups::under_reverse", kind.name);
        is_there_once(&rows, &test);
    }
}

fn each_row_is_named_after_its_kernel() {
    for kind in scan_kinds() {
        let types = [kind.element, kind.accumulator];
        assert!(
            is_named([kind.name, kind.kernel], "scan", kind.op, types),
            "{} {types:?}",
            kind.kernel
        );
    }
}

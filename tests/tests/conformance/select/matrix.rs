//! One test for each kernel, size and backend.

use crate::matrix::{Lengths, add_groups, add_lengths, around, exactly, is_there_once};
use gridsync::device::Device;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{SelectKind, select_kinds};
use std::collections::BTreeSet;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_selection_of_the_library_is_in_the_matrix_and_once,
            each_row_is_named_after_its_kernel;
    };
    for kind in select_kinds() {
        add_row(&mut trials, kind);
    }
    trials
}

/// The name of a row's tests.
fn name(kind: &SelectKind) -> String {
    let what = match kind.op {
        "where" => "select",
        op => op,
    };
    format!("{what}_{}", kind.element)
}

fn lengths(kind: &SelectKind) -> Lengths {
    let row = 32 * kind.pack;
    [
        exactly(&[0, 1, 31, 32, 33]),
        around("one_pack", kind.pack),
        around("one_row", row),
        around("one_tile", 8 * row),
        exactly(&[6007]),
    ]
    .concat()
}

fn add_row(trials: &mut Trials, kind: SelectKind) {
    let (row, lengths) = (name(&kind), lengths(&kind));
    add_lengths(trials, &row, kind.case, &lengths, 8 * 32 * kind.pack + 1);
    let by_rows = move |device: &Device| in_groups_by_rows(device, &kind);
    add_groups(trials, &row, by_rows, move |device| in_groups(device, &kind, 1));
}

/// Selects from three groups.
fn in_groups(device: &Device, kind: &SelectKind, rows: u32) {
    (kind.in_groups)(device, rows).unwrap_or_else(|error| panic!("{error}"));
}

/// Selects from three groups with each number of rows per tile that the kernel supports.
fn in_groups_by_rows(device: &Device, kind: &SelectKind) {
    for rows in [1, 2, kind.most_rows] {
        in_groups(device, kind, rows);
    }
}

fn every_selection_of_the_library_is_in_the_matrix_and_once() {
    let kinds = select_kinds();
    let distinct: BTreeSet<_> = kinds.iter().map(|kind| (kind.op, kind.element)).collect();
    assert_eq!(distinct.len(), kinds.len());
    let rows = trials();
    for kind in kinds {
        let name = name(&kind);
        let test = format!("select::matrix::{name}::in_several_groups::under_reverse");
        is_there_once(&rows, &test);
    }
}

fn each_row_is_named_after_its_kernel() {
    for kind in select_kinds() {
        let name = name(&kind);
        // Signed integers use the kernel for unsigned ones, because equality is the same.
        let names = [name.replace("unique_i", "unique_u"), name];
        assert!(names.iter().any(|name| kind.kernel == name), "{names:?}");
    }
}

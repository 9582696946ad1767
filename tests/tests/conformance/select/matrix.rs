//! One test for each kernel, size and backend.

use crate::matrix::{
    Lengths, add_groups, add_lengths, around, each_is_named_after_its_kernels, each_is_there_once,
    exactly,
};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Kind, Primitive, kinds};
use std::collections::BTreeSet;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_selection_of_the_library_is_in_the_matrix_and_once,
            each_row_is_named_after_its_kernel;
    };
    for kind in kinds(Primitive::Select) {
        add_lengths(&mut trials, kind, &lengths(kind), kind.tile + 1);
        // Each number of rows that the kernel supports.
        add_groups(&mut trials, kind, BTreeSet::from([1, 2, kind.most_rows]));
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

fn every_selection_of_the_library_is_in_the_matrix_and_once() {
    each_is_there_once(Primitive::Select, &trials(), |name| {
        format!("select::matrix::{name}::in_several_groups::under_reverse")
    });
}

fn each_row_is_named_after_its_kernel() {
    each_is_named_after_its_kernels(Primitive::Select, &[""]);
}

//! What covers what: the one list of it, and that nothing is left out.

use super::reduce::rows;
use cuda_std::launch::Kernel;
use gridsync::device::KERNELS;
use gridsync_kernels::entry::barrier::{
    barrier_only, barrier_rounds, phase_barrier_only, phase_barrier_rounds,
};
use gridsync_kernels::entry::xpx::{xpx_block_barrier, xpx_grid_barrier, xpx_no_barrier};
use std::collections::BTreeSet;

/// The kernels outside the matrix, each with the module that tests it. Those of the matrix are its
/// rows.
const OTHERS: [(&str, &str); 7] = [
    (barrier_only::NAME, "barrier"),
    (barrier_rounds::NAME, "barrier"),
    (phase_barrier_only::NAME, "barrier"),
    (phase_barrier_rounds::NAME, "barrier"),
    (xpx_no_barrier::NAME, "xpx"),
    (xpx_block_barrier::NAME, "xpx"),
    (xpx_grid_barrier::NAME, "xpx"),
];

/// The entry points of a PTX text (PTX ISA, "Kernel and Function Directives: .entry").
fn entries(ptx: &str) -> BTreeSet<&str> {
    ptx.split(".visible .entry ")
        .skip(1)
        .filter_map(|rest| rest.split(['(', ' ', '\n']).next())
        .collect()
}

#[test]
fn every_entry_point_of_the_ptx_is_tested_and_every_tested_one_is_there() {
    let rows = rows();
    let covered: BTreeSet<&str> = rows
        .iter()
        .map(|row| row.kernel)
        .chain(OTHERS.map(|(kernel, _)| kernel))
        .collect();
    for image in KERNELS {
        let built = entries(image.text);
        assert!(
            built.len() > 10,
            "the compute_{} image should hold kernels",
            image.compute
        );
        let untested: Vec<_> = built.difference(&covered).collect();
        let absent: Vec<_> = covered.difference(&built).collect();
        assert!(
            untested.is_empty() && absent.is_empty(),
            "compute_{}: no test names {untested:?}; not in the PTX: {absent:?}",
            image.compute
        );
    }
}

#[test]
fn every_image_has_the_same_entry_points() {
    for image in &KERNELS[1..] {
        assert_eq!(entries(image.text), entries(KERNELS[0].text));
    }
}

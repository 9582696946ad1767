//! The ladders (seed rows R18, R19): every rung of [`gridsync_lab_kernels::ladder`] on one input, held
//! against the reference, timed, and counted.

mod entry;
mod one_block;
mod roof;
pub mod scans;
pub mod sums;

pub use entry::Entry;
pub use roof::{Absent, Roof};

use crate::report::svg::Row;

/// What a chart says of numbers that the emulator has counted.
const COUNTED: &str = "counted by the emulator, not measured on a GPU";

/// The row of a rung in a chart.
fn row(number: u32, name: &str, values: Vec<Option<f64>>) -> Row {
    let name = format!("{number} {name}");
    Row { name, values }
}

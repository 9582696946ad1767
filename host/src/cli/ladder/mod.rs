//! `gridsync lab ladder` and `gridsync lab scans`: one computation, rung by rung.

mod scans;
mod sums;

pub(super) use scans::Scans;
pub(super) use sums::Ladder;

use super::bench::number;
use gridsync::bench::{Measurement, Warning};
use gridsync::lab::ladder::Roof;
use gridsync::report::Table;

/// The cells that tell the time of a rung: µs, GB/s, and what that is of the roof's, in percent.
fn time_cells(measured: &Measurement, gb_per_s: Option<f64>, percent: Option<f64>) -> [String; 3] {
    let rounded = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.1}"));
    [
        rounded(Some(measured.time.median)),
        rounded(gb_per_s),
        rounded(percent),
    ]
}

/// The marks of what there is to note about a measurement; the notes are kept.
fn marks(notes: &mut Vec<Warning>, measured: &Measurement) -> String {
    let numbers = measured.warnings.iter().map(|w| number(notes, *w));
    numbers.map(|number| format!("[{number}]")).collect()
}

/// The table, and below it what its marks mean.
fn with_notes(table: &Table, notes: &[Warning]) -> String {
    let notes: String = (1..)
        .zip(notes)
        .map(|(number, note)| format!("\n[{number}] {note}"))
        .collect();
    format!("{table}\n{notes}").trim_end().to_owned()
}

/// What of the rate of the roof this is, in percent.
fn percent_of(roof: Option<&Roof>, gb_per_s: Option<f64>) -> Option<f64> {
    Some(100.0 * gb_per_s? / roof?.gb_per_s)
}

//! `gridsync lab ladder` and `gridsync lab scans`: one computation, rung by rung.

mod scans;
mod sums;

pub(super) use scans::Scans;
pub(super) use sums::Ladder;

use super::bench::number;
use crate::bench::{Measurement, Warning};
use crate::lab::ladder::Roof;
use crate::report::{Table, table};

/// A row of a table begins with these: the number of a rung, its name, and its elements.
fn heads(number: u32, name: &str, len: usize) -> [String; 3] {
    [number.to_string(), name.to_owned(), len.to_string()]
}

/// A rung in the table of times.
struct Timed<'a> {
    heads: [String; 3],
    measured: Option<&'a Measurement>,
    gb_per_s: Option<f64>,
}

/// The times of the rungs beside the roof, which is the rate of only doing `what`; and below them what their marks mean.
fn times<'a>(what: &str, roof: &Roof, rungs: impl Iterator<Item = Timed<'a>>) -> String {
    let mut table = table();
    let percent = format!("% of {what}");
    table.set_header(["", "rung", "elements", "µs", "GB/s", &percent, ""]);
    let mut notes = Vec::new();
    for Timed {
        heads,
        measured,
        gb_per_s,
    } in rungs
    {
        let mut row = heads.to_vec();
        if let Some(measured) = measured {
            let percent = percent_of(Some(roof), gb_per_s);
            row.extend(time_cells(measured, gb_per_s, percent));
            row.push(marks(&mut notes, measured));
        }
        table.add_row(row);
    }
    with_notes(&table, &notes)
}

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

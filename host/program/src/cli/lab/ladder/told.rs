//! A climb as text and as JSON.

use super::{Told, both};
use crate::cli::Global;
use crate::cli::notes::Notes;
use gridsync_lab::display::table;
use gridsync_lab::ladder::{Climbed, Report, Roof};
use serde_json::{Value, json};

pub(super) fn text<L: Told>(global: &Global, device: &str, report: &Report<L>) -> String {
    let mut parts = Vec::new();
    if !global.quiet {
        let moved = report.roof.as_ref().map_or(String::new(), |roof| {
            let ([only, then], blocks) = (L::ONLY, roof.blocks);
            let rate = roof.gb_per_s;
            format!("; only {only} by {blocks} blocks, it is {then} at {rate:.0} GB/s")
        });
        let (name, len, dtype, right) = (L::NAME, report.len, L::DTYPE, L::RIGHT);
        parts.push(format!("The {name} of {len} {dtype} on {device}, each time {right}{moved}"));
    }
    parts.push(rows(report));
    for absent in &report.absent {
        parts.push(format!("without {}: {}", absent.name, absent.error));
    }
    if !global.quiet {
        parts.extend(L::left_out().map(str::to_owned));
        parts.push(L::NOTE.into());
    }
    parts.join("\n\n")
}

/// The times, if they were measured, and the counts below them.
pub(super) fn rows<L: Told>(report: &Report<L>) -> String {
    match &report.roof {
        Some(roof) => format!("{}\n\n{}", times(report, roof), counts(report)),
        None => counts(report),
    }
}

/// The first cells of every row: the number of the rung, its name, and its elements.
fn heads<L: Told>(rung: &Climbed<L>) -> [String; 3] {
    [rung.number.to_string(), rung.name.to_owned(), rung.len.to_string()]
}

/// The times of the rungs and their percentage of the roof's rate, and the meaning of the marks
/// below them.
fn times<L: Told>(report: &Report<L>, roof: &Roof) -> String {
    let mut table = table();
    let percent = format!("% of {}", L::ROOF);
    table.set_header(["", "rung", "elements", "µs", "GB/s", &percent, ""]);
    let mut notes = Notes::default();
    for rung in &report.climbed {
        let mut row = heads(rung).to_vec();
        if let Some(measured) = &rung.measured {
            let rounded = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.1}"));
            row.extend([
                rounded(Some(measured.time.median)),
                rounded(rung.gb_per_s()),
                rounded(percent_of(Some(roof), rung)),
                notes.marks(&measured.warnings),
            ]);
        }
        table.add_row(row);
    }
    let notes: String = notes.lines().map(|note| format!("\n{note}")).collect();
    format!("{table}\n{notes}").trim_end().to_owned()
}

/// The counts, a row for each rung.
fn counts<L: Told>(report: &Report<L>) -> String {
    let mut table = table();
    table.set_header(["", "rung", "elements"].iter().chain(L::HEADS));
    for rung in &report.climbed {
        table.add_row(heads(rung).into_iter().chain(L::cells(rung)));
    }
    table.to_string()
}

/// The rate of the rung in percent of the roof's.
fn percent_of<L: Told>(roof: Option<&Roof>, rung: &Climbed<L>) -> Option<f64> {
    Some(100.0 * rung.gb_per_s()? / roof?.gb_per_s)
}

pub(super) fn as_json<L: Told>(device: &str, report: &Report<L>) -> Value {
    let roof = report.roof.as_ref();
    let rungs = report.climbed.iter().map(|rung| {
        let measured = rung.measured.as_ref();
        let time = measured.map(|measured| measured.time);
        let common = json!({
            "rung": rung.number,
            "name": rung.name,
            "n": rung.len,
            "us": time.map(|time| time.median),
            "min": time.map(|time| time.min),
            "max": time.map(|time| time.max),
            "samples": time.map(|time| time.samples),
            "gb_per_s": rung.gb_per_s(),
            (format!("percent_of_{}", L::ROOF)): percent_of(roof, rung),
            "warnings": measured.map(|measured| &measured.warnings),
            "shared_accesses": rung.counted.map(|counted| counted.shared_accesses),
            "bank_conflicts": rung.counted.map(|counted| counted.bank_conflicts),
            "barriers": rung.counted.map(|counted| counted.barriers),
        });
        both(common, L::json(rung))
    });
    let absent = report
        .absent
        .iter()
        .map(|absent| json!({ "name": absent.name, "why": absent.error.to_string() }));
    json!({
        "device": device,
        "dtype": L::DTYPE,
        "n": report.len,
        (L::ROOF_RATE): roof.map(|roof| roof.gb_per_s),
        "rungs": rungs.collect::<Vec<_>>(),
        "absent": absent.collect::<Vec<_>>(),
    })
}

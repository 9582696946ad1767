//! Charts of a ladder: the rates from records, and the counts from a result.

use super::report::{Climbed, Measured, Own};
use super::sums::{INTEGER_RUNG, NO_INTEGER_RUNG};
use super::{Kind, scans, sorts, sums};
use crate::Chart;
use crate::bench::Record;
use crate::display::svg::{Bars, ChartError, Estimate, Role, Row};
use crate::display::words::length;

/// GB/s of each rung, and the rate of the roof. The records are those of one ladder, in the order
/// of the rungs. None without records.
///
/// # Errors
/// If a value has no place in the chart.
pub fn rates(records: &[&Record]) -> Result<Option<Chart>, ChartError> {
    let Some(first) = records.first() else { return Ok(None) };
    let is_of = |kind: &&Kind| kind.suite == first.suite;
    let kind = [&scans::KIND, &sorts::KIND].into_iter().find(is_of).unwrap_or(&sums::KIND);
    let Kind { name, roof, rate, suite, .. } = kind;
    let key = |record: &Record, name| record.number(name).unwrap_or(0.0);
    let n = records.iter().map(|record| key(record, "n")).fold(0.0, f64::max);
    let row = |record: &&Record| {
        let gb_per_s = record.bytes.map(|bytes| {
            Estimate::between(record.median, record.min, record.max)
                .map(|us| bytes as f64 / us / 1e3)
        });
        Row::new(format!("{} {}", key(record, "rung"), record.variant), [gb_per_s])
    };
    let dtype = first.word("dtype").unwrap_or_default();
    let chart = Bars {
        title: format!("The {name} of {} {dtype}, rung by rung", length(n)),
        x_label: "GB/s".into(),
        note: String::new(),
        series: vec![Role::Ours.named("rate")],
        rows: records.iter().map(row).collect(),
        roof: records
            .iter()
            .find_map(|record| Some((format!("only {roof}"), record.number(rate)?))),
    };
    let fewer = records.iter().filter(|record| key(record, "n") < n).count();
    let fewer = match fewer {
        0 => String::new(),
        1 => "1 slow rung has fewer elements.".into(),
        _ => format!("{fewer} slow rungs have fewer elements."),
    };
    let sentences = [fewer].into_iter().chain(missing(records));
    let sentences: Vec<_> = sentences.filter(|sentence| !sentence.is_empty()).collect();
    let chart = Chart::bars(suite, sentences.join(" "), &chart)?;
    Ok(Some(Chart { in_report: kind.in_report, ..chart }))
}

/// A sentence for each rung between the first and the last that has no record.
fn missing(records: &[&Record]) -> Vec<String> {
    let rungs: Vec<u64> =
        records.iter().filter_map(|rung| rung.number("rung")).map(|number| number as u64).collect();
    let (Some(&first), Some(&last)) = (rungs.first(), rungs.last()) else { return Vec::new() };
    let dtype = records[0].word("dtype").unwrap_or_default();
    let sentence = |number: u64| {
        let is_of_integers = number == u64::from(INTEGER_RUNG);
        if is_of_integers && lacks_the_integer_rung(&records[0].suite, dtype) {
            NO_INTEGER_RUNG.to_owned()
        } else {
            format!("Rung {number} was not measured.")
        }
    };
    (first..=last).filter(|number| !rungs.contains(number)).map(sentence).collect()
}

/// Whether the ladder of this suite has no integer rung for this type.
pub(super) fn lacks_the_integer_rung(suite: &str, dtype: &str) -> bool {
    suite == sums::KIND.suite && dtype.starts_with('f')
}

/// Counts of one block for each rung.
pub(super) fn operations(climbed: &Climbed) -> Result<Chart, ChartError> {
    let [title, x_label, first] = climbed.kind().operations;
    let row = |rung: &Measured| {
        let Measured { bank_conflicts, barriers, .. } = *rung;
        let (first, per) = match rung.own {
            Own::Sum { warp_additions, .. } => (warp_additions, 1.0),
            // The counts of a scan or a sort are shown for 256 elements.
            Own::Array { warp_operations, tile, .. } => (warp_operations, tile? as f64 / 256.0),
        };
        first?;
        let values = [first, bank_conflicts, barriers];
        let scaled = values.map(|times| times.map(|times| Estimate::from(times as f64 / per)));
        Some(Row::new(rung.label(), scaled))
    };
    let chart = Bars {
        title: title.into(),
        x_label: x_label.into(),
        note: "counted by the emulator, not measured on a GPU".into(),
        series: [first, "bank conflicts", "barriers of the block"].map(Into::into).into(),
        rows: climbed.rungs.iter().filter_map(row).collect(),
        roof: None,
    };
    Chart::bars(climbed.kind().counts, "", &chart)
}

#[cfg(test)]
mod tests {
    use super::super::report::{Roof, tests::timed};
    use super::*;

    #[test]
    fn a_counted_rung_is_a_row_and_the_note_names_the_emulator() {
        let (percent, geometry) = (None, None);
        let sum =
            |warp_additions| Own::Sum { percent_of_reading: percent, warp_additions, geometry };
        let scan = Own::Array {
            percent_of_copying: percent,
            launches: 1,
            words_moved: 0,
            tile: Some(512),
            warp_operations: Some(0),
            shuffles: Some(0),
        };
        let mut sums = timed(Roof::Reading(None), 5, "padded", sum(Some(0)));
        let uncounted = timed(Roof::Reading(None), 1, "one thread", sum(None));
        sums.rungs.extend(uncounted.rungs);
        let scans = timed(Roof::Copying(None), 5, "padded", scan);
        for (climbed, barriers) in [(sums, 18), (scans, 9)] {
            let Chart { svg, csv, .. } = operations(&climbed).expect("a whole chart");
            assert!(csv.contains("5 padded") && !csv.contains("one thread"), "{csv}");
            assert!(csv.contains(&format!(",{barriers}")), "{csv}");
            assert!(svg.contains("counted by the emulator"), "{svg}");
        }
    }
}

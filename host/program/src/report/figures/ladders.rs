//! The ladders: the rate of each rung compared with the roof.

use super::{Figure, length, rate};
use crate::records::{Record, Sourced};
use crate::report::Of;
use gridsync_lab::display::svg::{Bars, ChartError, Role, Row};
use gridsync_lab::ladder::sums::{INTEGER_RUNG, NO_INTEGER_RUNG};

/// The ladder of sums.
pub(super) fn sums(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    rungs(of, "ladder", "sum", ["reading_gb_per_s", "only reading"])
}

/// The ladder of scans.
pub(super) fn scans(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    rungs(of, "scans", "scan", ["copy_gb_per_s", "only copying"])
}

fn rungs(
    of: &Of<'_>,
    suite: &str,
    what: &str,
    [roof, only]: [&str; 2],
) -> Result<Vec<Figure>, ChartError> {
    // Each element type has a ladder. This is the one of the last record, with as many elements as
    // its fast rungs.
    let mut records = of.suite(suite);
    let Some(dtype) = records.last().and_then(|record| record.word("dtype")) else {
        return Ok(Vec::new());
    };
    records.retain(|record| record.word("dtype") == Some(dtype));
    let key = |record: &Sourced<Record>, name| record.number(name).unwrap_or(0.0);
    // Variants of a rung stay in the order of the last run.
    let mut rungs: Vec<&Sourced<Record>> = Vec::new();
    for record in records {
        let same = |rung: &&mut &Sourced<Record>| {
            (key(rung, "rung"), &rung.variant) == (key(record, "rung"), &record.variant)
        };
        match rungs.iter_mut().find(same) {
            Some(rung) if key(rung, "n") < key(record, "n") => *rung = record,
            Some(_) => {}
            None => rungs.push(record),
        }
    }
    let mut records = rungs;
    records.sort_by(|a, b| key(a, "rung").total_cmp(&key(b, "rung")));
    let n = records.iter().map(|record| key(record, "n")).fold(0.0, f64::max);
    let row = |record: &&Sourced<Record>| {
        Row::new(format!("{} {}", key(record, "rung"), record.variant), [rate(record)])
    };
    let chart = Bars {
        title: format!("The {what} of {} {dtype}, rung by rung", length(n)),
        x_label: "GB/s".into(),
        note: String::new(),
        series: vec![Role::Ours.named("rate")],
        rows: records.iter().map(row).collect(),
        roof: records.iter().find_map(|record| Some((only.to_owned(), record.number(roof)?))),
    };
    let fewer = records.iter().filter(|record| key(record, "n") < n).count();
    let mut caption = match fewer {
        0 => String::new(),
        1 => "1 slow rung has fewer elements. ".into(),
        _ => format!("{fewer} slow rungs have fewer elements. "),
    };
    caption += &missing(&records);
    let chart = (chart.svg()?, chart.csv());
    Ok(vec![of.figure(&format!("ladder-{what}"), chart, caption.trim_end(), records)])
}

/// A sentence for each rung between the first and the last that has no record.
fn missing(records: &[&Sourced<Record>]) -> String {
    let rungs: Vec<u64> =
        records.iter().filter_map(|rung| rung.number("rung")).map(|number| number as u64).collect();
    let (Some(&first), Some(&last)) = (rungs.first(), rungs.last()) else { return String::new() };
    let dtype = records[0].word("dtype").unwrap_or_default();
    let is_of_integers = |number| {
        records[0].suite == "ladder" && number == u64::from(INTEGER_RUNG) && dtype.starts_with('f')
    };
    let sentence = |number: u64| {
        if is_of_integers(number) {
            format!("{NO_INTEGER_RUNG} ")
        } else {
            format!("Rung {number} was not measured. ")
        }
    };
    (first..=last).filter(|number| !rungs.contains(number)).map(sentence).collect()
}

//! The ladders: the rate of each rung beside that of the roof.

use super::{Figure, length};
use crate::records::{Recorded, Sourced};
use crate::report::page::Of;
use crate::report::svg::{Bars, ChartError, Row};

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
    [rate, only]: [&str; 2],
) -> Result<Vec<Figure>, ChartError> {
    // Each array has a ladder: the one of the last record, on as many elements as its fast rungs.
    let mut records = of.suite(suite);
    let Some(dtype) = records.last().and_then(|record| record.word("dtype")) else {
        return Ok(Vec::new());
    };
    records.retain(|record| record.word("dtype") == Some(dtype));
    let key = |record: &Sourced<Recorded>, name| record.number(name).unwrap_or(0.0);
    records.sort_by(|a, b| {
        let rungs = key(a, "rung").total_cmp(&key(b, "rung"));
        rungs.then(key(b, "n").total_cmp(&key(a, "n")))
    });
    records.dedup_by_key(|record| key(record, "rung") as u64);
    let n = records.iter().map(|record| key(record, "n")).fold(0.0, f64::max);
    let row = |record: &&Sourced<Recorded>| Row {
        name: format!("{} {}", key(record, "rung"), record.variant),
        values: vec![record.gb_per_s()],
    };
    let chart = Bars {
        title: format!("The {what} of {} {dtype}, rung by rung", length(n)),
        x_label: "GB/s".into(),
        note: String::new(),
        series: vec!["rate".into()],
        rows: records.iter().map(row).collect(),
        roof: records.iter().find_map(|record| Some((only.to_owned(), record.number(rate)?))),
    };
    let fewer = records.iter().filter(|record| key(record, "n") < n).count();
    let caption = match fewer {
        0 => String::new(),
        1 => "1 slow rung has fewer elements.".into(),
        _ => format!("{fewer} slow rungs have fewer elements."),
    };
    Ok(vec![of.figure(&format!("ladder-{what}"), chart.svg()?, caption, records)])
}

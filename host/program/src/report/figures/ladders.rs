//! The ladders: the rate of each rung compared with the roof.

use super::Figure;
use crate::records::{Record, Sourced};
use crate::report::{Of, html::sources};
use gridsync_lab::display::svg::ChartError;
use gridsync_lab::ladder;

/// The ladder of this suite.
pub(super) fn rungs(of: &Of<'_>, suite: &str) -> Result<Vec<Figure>, ChartError> {
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
    let chart = ladder::rates(&super::records(&records))?;
    Ok(chart
        .into_iter()
        .map(|chart| of.figure_of(chart, sources(records.iter().copied())))
        .collect())
}

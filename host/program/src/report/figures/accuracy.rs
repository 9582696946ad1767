//! Errors of single results, and their bounds.

use super::Figure;
use crate::records::{Checked, Document};
use crate::report::Of;
use gridsync_lab::display::svg::{Bars, ChartError, Role, Row};
use gridsync_lab::display::words::length;

/// The error of each result that was compared with the reference, and its bound.
pub(super) fn errors(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let mut files = Vec::new();
    let mut rows = Vec::new();
    // In the order in which they were written.
    for document in of.documents.iter().rev() {
        let Document::Checked(Checked { op, dtype, n, variant, check, .. }) = &document.what else {
            continue;
        };
        let name = format!("{op} of {} {dtype}, {variant}", length(*n as f64));
        rows.push(Row::new(name, [check.abs_err, check.bound]));
        files.push(document.source.name());
    }
    if rows.iter().all(|row: &Row| row.values.iter().all(Option::is_none)) {
        return Ok(Vec::new());
    }
    files.sort_unstable();
    files.dedup();
    let chart = Bars {
        title: "How far results are from the reference".into(),
        x_label: "absolute error".into(),
        note: String::new(),
        series: vec![Role::Ours.named("error"), Role::Roof.named("bound")],
        rows,
        roof: None,
    };
    let caption = "A bound holds for the order in which the numbers are added. An error of 0 has no \
                   point, nor has a bound where nothing can be promised.";
    Ok(vec![of.figure_from("accuracy", (chart.svg()?, chart.csv()), caption, files.join(", "))])
}

//! Errors beside their bounds.

use super::{Figure, length};
use crate::records::{Checked, Document};
use crate::report::page::Of;
use crate::report::svg::{Bars, ChartError, Row};

/// The error of each result that was compared with the reference, and how large it may be.
pub(super) fn errors(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let mut files = Vec::new();
    let mut rows = Vec::new();
    // In the order in which they were written.
    for document in of.documents.iter().rev() {
        let Document::Checked(Checked { op, dtype, n, variant, check, .. }) = &document.what else {
            continue;
        };
        // An error of 0 is no length on a logarithmic axis, but a bar of none says as much.
        let row = Row {
            name: format!("{op} of {} {dtype}, {variant}", length(*n as f64)),
            values: vec![check.abs_err, check.bound],
        };
        rows.push(row);
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
        series: vec!["error".into(), "bound".into()],
        rows,
        roof: None,
    };
    let caption = "A bound holds for the order in which the numbers are added. Without a bar the \
                   error is 0, or nothing can be promised.";
    Ok(vec![of.figure_from("accuracy", chart.svg()?, caption, files.join(", "))])
}

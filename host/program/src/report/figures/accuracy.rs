//! Errors and their bounds.

use super::{Figure, length};
use crate::records::{Checked, Document, Sums};
use crate::report::Of;
use gridsync_lab::accuracy::{Mark, errors_chart};
use gridsync_lab::display::svg::{Bars, ChartError, Role, Row};

/// The errors of sums by the number of elements, with their bound: a figure for each type.
pub(super) fn sums(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let found = of.document(|document| match document {
        Document::Accuracy(accuracy) => Some(accuracy),
        _ => None,
    });
    let Some((accuracy, source)) = found else { return Ok(Vec::new()) };
    let mark = |sums: &Sums| Mark {
        input: sums.input.clone(),
        n: sums.n as f64,
        error: sums.tree.error / sums.magnitude,
        bound: sums.tree.bound / sums.magnitude,
        one_by_one: sums.one_by_one_error / sums.magnitude,
    };
    let mut figures = Vec::new();
    for dtype in ["f32", "f64"] {
        let sums = accuracy.sums.iter().filter(|sums| sums.dtype == dtype);
        let marks: Vec<Mark> = sums.map(mark).collect();
        if marks.is_empty() {
            continue;
        }
        let caption = "The bound is that of the tree of the library. The bound of a sum one by one grows \
                       with the number of elements. A sum that is exact has no point.";
        let chart = errors_chart(dtype, &marks);
        let file = format!("accuracy-{dtype}");
        figures.push(of.figure_from(&file, (chart.svg()?, chart.csv()), caption, source.clone()));
    }
    Ok(figures)
}

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

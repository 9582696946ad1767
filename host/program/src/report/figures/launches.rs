//! X→P→X by many launches and by one with a barrier: figures 5 and 6 of `lab launches`.

use super::{Figure, records};
use crate::records::{Record, Sourced};
use crate::report::{Of, html::sources};
use gridsync_lab::display::svg::ChartError;
use gridsync_lab::{Chart, launches};

/// The records of a figure, or those without a figure.
fn of_figure<'a>(of: &Of<'a>, figure: Option<f64>) -> Vec<&'a Sourced<Record>> {
    let mut records = of.suite("launches");
    records.retain(|record| record.number("figure") == figure);
    records
}

/// These charts of these records, as figures.
fn figures(
    of: &Of<'_>,
    charts: impl IntoIterator<Item = Chart>,
    records: &[&Sourced<Record>],
) -> Vec<Figure> {
    let sources = sources(records.iter().copied());
    charts.into_iter().map(|chart| of.figure_of(chart, sources.clone())).collect()
}

/// The gain of one launch over many launches and over a graph of them, at each shape.
pub(super) fn gains(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let found = of_figure(of, Some(5.0));
    Ok(figures(of, launches::gains(&records(&found))?, &found))
}

/// The time of each form by blocks, with the same number of threads in total.
pub(super) fn by_blocks(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let found = of_figure(of, Some(6.0));
    Ok(figures(of, launches::by_blocks(&records(&found))?, &found))
}

/// All forms, at the shape of the last record without a figure.
pub(super) fn at_one_shape(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let mut found = of_figure(of, None);
    if let Some(last) = found.last().copied() {
        found.retain(|record| record.params == last.params);
    }
    Ok(figures(of, launches::at_one_shape(&records(&found))?, &found))
}

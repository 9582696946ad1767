//! Graphs of kernels: the time of each method.

use super::Figure;
use crate::report::Of;
use gridsync_lab::display::svg::ChartError;
use gridsync_lab::{Chart, dag};

/// A figure for each graph.
pub(super) fn by_method(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let records = of.suite("dag");
    let mut graphs: Vec<_> = records.iter().map(|record| &record.params).collect();
    let mut seen = Vec::new();
    graphs.retain(|graph| {
        let is_new = !seen.contains(graph);
        seen.push(*graph);
        is_new
    });
    let figures = (1..).zip(graphs).map(|(number, graph)| {
        let of_graph = records.iter().copied().filter(|record| record.params == *graph);
        let of_graph: Vec<_> = of_graph.collect();
        let chart = dag::by_method(&super::records(&of_graph))?;
        let figure = |Chart { in_report, caption, svg, csv, .. }| {
            of.figure(&format!("{in_report}-{number}"), (svg, csv), caption, of_graph)
        };
        Ok(chart.map(figure))
    });
    figures.filter_map(Result::transpose).collect()
}

//! Graphs of kernels: the time of each method.

use super::{Figure, time};
use crate::records::{Record, Sourced};
use crate::report::Of;
use gridsync_lab::display::svg::{Bars, ChartError, Role, Row};
use gridsync_lab::display::words::count;

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
    let figures = graphs.into_iter().enumerate().map(|(number, graph)| {
        let of_graph = records.iter().copied().filter(|record| record.params == *graph);
        one(of, number + 1, &of_graph.collect::<Vec<_>>())
    });
    figures.collect()
}

/// The figure of one graph. Needs at least one record.
fn one(of: &Of<'_>, number: usize, records: &[&Sourced<Record>]) -> Result<Figure, ChartError> {
    let param = |name| records[0].number(name).unwrap_or(f64::NAN);
    let peer = records.iter().find_map(|record| record.peer.as_ref());
    let row = |record: &&Sourced<Record>| {
        let theirs = record.peer.as_ref().map(|peer| peer.median.into());
        let values = [Some(time(record))].into_iter().chain(peer.map(|_| theirs));
        Row::new(&record.variant, values)
    };
    let ours = [Role::Ours.named("gridsync")].into_iter();
    let series = ours.chain(peer.map(|peer| Role::Peer.named(&peer.name)));
    let chart = Bars {
        title: format!(
            "{} in {}, {} each",
            count(param("nodes"), "node"),
            count(param("levels"), "level"),
            count(param("n"), "element")
        ),
        x_label: "µs for the whole graph".into(),
        note: String::new(),
        series: series.collect(),
        rows: records.iter().map(row).collect(),
        roof: None,
    };
    let work = match param("work_us") {
        us if us > 0.0 => format!(" {us} µs of work on the longest path."),
        _ => String::new(),
    };
    let [edges, blocks, threads] = [("edges", "edge"), ("blocks", "block"), ("threads", "thread")]
        .map(|(name, one)| count(param(name), one));
    let caption = format!("{edges}; the one kernel has {blocks} of {threads}.{work}");
    let chart = (chart.svg()?, chart.csv());
    Ok(of.figure(&format!("graph-{number}"), chart, caption, records.iter().copied()))
}

//! Charts: a graph itself, and from records the time of each method.

use super::Work;
use crate::Chart;
use crate::bench::Record;
use crate::display::svg::{Bars, ChartError, Estimate, Layers, Role, Row, Vertex};
use crate::display::words::count;
use gridsync::dag::Checked;

/// The graph, level by level, with its longest path.
pub(super) fn graph(work: &Work, dag: &Checked) -> Layers {
    let levels = dag.levels();
    let mut places = vec![(0, 0); work.steps.len()];
    for (layer, level) in levels.iter().enumerate() {
        for (at, &id) in level.iter().enumerate() {
            places[id] = (layer, at);
        }
    }
    let (path, micros) = dag.critical_path();
    let vertex = |&id: &usize| {
        let step = &work.steps[id];
        let after = step.after.iter().map(|&before| places[before]).collect();
        Vertex { name: step.name.clone(), after, is_marked: path.contains(&id) }
    };
    Layers {
        title: format!("{} nodes in {} levels", work.steps.len(), levels.len()),
        note: format!("dark: the longest path, {micros:.1} µs of work"),
        layers: levels.iter().map(|level| level.iter().map(vertex).collect()).collect(),
    }
}

/// The time of each method. The records are those of one graph. None without records.
///
/// # Errors
/// If a value has no place in the chart.
pub fn by_method(records: &[&Record]) -> Result<Option<Chart>, ChartError> {
    let Some(first) = records.first() else { return Ok(None) };
    let param = |name| first.number(name).unwrap_or(f64::NAN);
    let peer = records.iter().find_map(|record| record.peer.as_ref());
    let row = |record: &&Record| {
        let ours = Estimate::between(record.median, record.min, record.max);
        let theirs = record.peer.as_ref().map(|peer| peer.median.into());
        Row::new(&record.variant, [Some(ours)].into_iter().chain(peer.map(|_| theirs)))
    };
    let ours = [Role::Ours.named("gridsync")].into_iter();
    let chart = Bars {
        title: format!(
            "{} in {}, {} each",
            count(param("nodes"), "node"),
            count(param("levels"), "level"),
            count(param("n"), "element")
        ),
        x_label: "µs for the whole graph".into(),
        note: String::new(),
        series: ours.chain(peer.map(|peer| Role::Peer.named(&peer.name))).collect(),
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
    Chart::bars("graph", caption, &chart).map(Some)
}

//! The files that `--output` writes: the graph, and when each node ran.

use super::run::Outcome;
use gridsync::device::Device;
use gridsync_lab::dag::{Runner, Span, Work};
use gridsync_lab::display::svg::{Bar, ChartError, Layers, Run, Timelines, Vertex};

/// File names.
pub(super) const NAMES: [&str; 2] = ["dag.svg", "timelines.svg"];

/// The most nodes that a drawing can show distinctly.
pub(super) const MOST: usize = 200;

/// The name and content of each file. The emulator has no timelines.
pub(super) fn files(
    device: &Device,
    work: &Work,
    outcomes: &[Outcome],
    blocks: u32,
) -> anyhow::Result<Vec<(&'static str, String)>> {
    let mut files = vec![(NAMES[0], graph(work)?)];
    let timed = outcomes.iter().filter(|it| it.time.is_some() && it.wrong.is_none());
    let mut runs = Vec::new();
    let mut runner = Runner::new(device, work, true)?;
    for outcome in timed {
        // The first run warms up.
        for _ in 0..2 {
            runner.clear()?;
            runner.ready(outcome.method, blocks)?.launch()?;
        }
        let spans = runner.spans()?;
        runs.push(Run { name: outcome.method.name().into(), bars: bars(work, &spans) });
    }
    if !runs.is_empty() {
        let title = format!("When each node ran, on {}", device.properties().name);
        let chart = Timelines { title, x_label: "µs after the first began".into(), runs };
        files.push((NAMES[1], chart.svg()?));
    }
    Ok(files)
}

fn bars(work: &Work, spans: &[Span]) -> Vec<Bar> {
    let first = spans.iter().map(|span| span.begin).min().unwrap_or(0);
    let micros = |time: u64| (time - first) as f64 / 1e3;
    let bar = |(step, span): (&gridsync_lab::dag::Step, &Span)| Bar {
        name: step.name.clone(),
        begin: micros(span.begin),
        end: micros(span.end),
    };
    work.steps.iter().zip(spans).map(bar).collect()
}

fn graph(work: &Work) -> Result<String, ChartError> {
    let dag = work.dag(0).expect("it was checked before it ran");
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
    .svg()
}

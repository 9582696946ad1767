//! The report of a graph and its runs.

use super::run::Outcome;
use crate::cli::notes::Notes;
use crate::cli::{Global, output};
use gridsync::dag::{Input, Item, Plan};
use gridsync::device::Device;
use gridsync_lab::dag::{Runner, Work};
use gridsync_lab::display::table;
use serde_json::{Value, json};

/// The number of edges of each kind in a plan by edges.
struct Links {
    /// Between tasks of one block.
    inside: usize,
    /// A word that carries a value.
    values: usize,
    /// A release and an acquire.
    ends: usize,
    /// Joins.
    joins: usize,
}

fn links(runner: &Runner<'_>, blocks: u32) -> Links {
    let plan = Plan::by_edges(runner.dag(), blocks as usize);
    let mut links = Links { inside: 0, values: 0, ends: 0, joins: plan.joins() };
    for item in plan.blocks.iter().flatten() {
        let (Item::Part { inputs, .. } | Item::Join { inputs, .. }) = item else { continue };
        for input in inputs {
            match input {
                Input::Kept(_) => links.inside += 1,
                Input::Value(_) => links.values += 1,
                Input::Ended(_) | Input::Joined(_) => links.ends += 1,
            }
        }
        if let Item::Part { node, .. } = item {
            let all = runner.dag().nodes()[*node].predecessors().len();
            links.inside += all.saturating_sub(inputs.len());
        }
    }
    links
}

/// The names of the longest path, abbreviated.
fn path_text(work: &Work, path: &[usize]) -> String {
    let name = |&id: &usize| work.steps[id].name.as_str();
    match path {
        [first, .., before, last] if path.len() > 6 => {
            format!("{} → … → {} → {}", name(first), name(before), name(last))
        }
        _ => path.iter().map(name).collect::<Vec<_>>().join(" → "),
    }
}

pub(super) fn text(
    global: &Global,
    device: &Device,
    work: &Work,
    runner: &Runner<'_>,
    blocks: u32,
    outcomes: &[Outcome],
) -> String {
    let dag = runner.dag();
    let edges: usize = work.steps.iter().map(|step| step.after.len()).sum();
    let (path, micros) = dag.critical_path();
    let levels = dag.levels().len();
    let mut table = table();
    let measured = outcomes.iter().any(|it| it.time.is_some());
    let has_peers = outcomes.iter().any(|it| it.peer.is_some());
    let times: &[_] = match (measured, has_peers) {
        (false, _) => &[],
        (true, false) => &["µs", "µs beyond the work", "per level, µs", "per node, µs"],
        (true, true) => {
            &["µs", "µs beyond the work", "per level, µs", "per node, µs", "C++, µs", "× C++"]
        }
    };
    table.set_header([&["by"], times, &["result", ""]].concat());
    let mut notes = Notes::default();
    for outcome in outcomes {
        let result = match (&outcome.wrong, &outcome.absent) {
            (Some(_), _) => "WRONG",
            (None, Some(_)) => "not on this device",
            (None, None) => "right",
        };
        let name = outcome.method.name().to_owned();
        let Some(time) = outcome.time else {
            let gap = vec![String::new(); times.len()];
            table.add_row([vec![name], gap, vec![result.into(), String::new()]].concat());
            continue;
        };
        let beyond = (time.median - micros).max(0.0);
        let mut row = vec![
            name,
            format!("{:.2}", time.median),
            format!("{beyond:.2}"),
            format!("{:.3}", beyond / levels as f64),
            format!("{:.3}", beyond / work.steps.len() as f64),
        ];
        if has_peers {
            let peer = outcome.peer.map(|peer| peer.median);
            row.push(peer.map_or(String::new(), |peer| format!("{peer:.2}")));
            row.push(peer.map_or(String::new(), |peer| format!("{:.2}", time.median / peer)));
        }
        row.extend([result.into(), notes.marks(&outcome.warnings)]);
        table.add_row(row);
    }
    if global.quiet {
        return table.to_string();
    }
    let what = outcomes.iter().map(|it| format!("{}: {}\n", it.method.name(), it.method.what()));
    let Links { inside, values, ends, joins } = links(runner, blocks);
    let mut text = format!(
        "A graph of {} nodes, {edges} edges and {levels} levels on {}: arrays of {} elements, blocks of {} threads.\n\
         The longest path, {}, has {micros:.1} µs of work.\n\n{table}\n\n{}\n\
         One kernel has {blocks} blocks. Of its edges {inside} are within a block, {values} are a word that\n\
         carries the value, and {ends} are a release and an acquire{}.\n",
        work.steps.len(),
        device.properties().name,
        work.elements,
        work.threads,
        path_text(work, &path),
        what.collect::<String>(),
        if joins > 0 { format!("; {joins} of the tasks are joins") } else { String::new() },
    );
    if !measured {
        text += "The emulator does not measure time.\n";
    }
    for note in notes.lines() {
        text += &format!("{note}\n");
    }
    for outcome in outcomes {
        if let Some(absent) = &outcome.absent {
            text += &format!("without {}: {absent}\n", outcome.method.name());
        }
    }
    text
}

pub(super) fn json(
    device: &Device,
    work: &Work,
    runner: &Runner<'_>,
    blocks: u32,
    outcomes: &[Outcome],
) -> Value {
    let dag = runner.dag();
    let (path, micros) = dag.critical_path();
    let Links { inside, values, ends, joins } = links(runner, blocks);
    let methods = outcomes.iter().map(|it| {
        json!({
            "by": it.method.name(),
            "right": it.absent.is_none().then_some(it.wrong.is_none()),
            "us": it.time.map(|time| output::number(time.median)),
            "min": it.time.map(|time| output::number(time.min)),
            "max": it.time.map(|time| output::number(time.max)),
            "cpp_us": it.peer.map(|peer| output::number(peer.median)),
            "samples": it.time.map(|time| time.samples),
            "warnings": it.warnings,
            "absent": it.absent,
        })
    });
    json!({
        "device": device.properties().name,
        "nodes": work.steps.len(),
        "edges": work.steps.iter().map(|step| step.after.len()).sum::<usize>(),
        "levels": dag.levels().len(),
        "elements": work.elements,
        "threads": work.threads,
        "critical_path": path.iter().map(|&id| work.steps[id].name.as_str()).collect::<Vec<_>>(),
        "critical_path_us": micros,
        "blocks": blocks,
        "links": { "inside": inside, "values": values, "ends": ends, "joins": joins },
        "methods": methods.collect::<Vec<_>>(),
    })
}

//! The result of `gridsync dag`, and the page about it.

use super::Method;
use crate::bench::{Notes, Peer, Record, Times, Warning};
use crate::display::svg::{ChartError, Layers, Timelines};
use crate::display::{Page, table};
use crate::{Chart, Report};
use gridsync::dag::{Checked, Input, Item, Plan};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The result of `gridsync dag`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Dag {
    /// The name of the device.
    pub device: String,
    /// Nodes.
    pub nodes: usize,
    /// Dependencies.
    pub edges: usize,
    /// Levels of the graph. The nodes of one do not depend on each other.
    pub levels: usize,
    /// Elements of each node's array.
    pub elements: u32,
    /// Threads of each block.
    pub threads: u32,
    /// The names of the nodes of the longest path, in order.
    pub critical_path: Vec<String>,
    /// The work on that path, µs.
    pub critical_path_us: f64,
    /// Blocks of one kernel for all nodes.
    pub blocks: u32,
    /// The edges of one kernel with an edge for each dependency.
    pub links: Links,
    /// The methods.
    pub methods: Vec<Outcome>,
    /// The drawings, if they are to be written.
    #[serde(skip)]
    pub drawings: Option<(Layers, Option<Timelines>)>,
}

/// The number of edges of each kind in a plan by edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Links {
    /// Edges between tasks of one block.
    pub inside: usize,
    /// Edges that are a word with the value.
    pub values: usize,
    /// Edges that are a release and an acquire.
    pub ends: usize,
    /// Tasks that only wait, for nodes with more inputs than a task has room for.
    pub joins: usize,
}

/// The result of a method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Outcome {
    /// The name of the method.
    pub by: String,
    /// Whether the result is that of the CPU reference. Null if the device does not support the
    /// method.
    pub right: Option<bool>,
    /// µs of the whole graph, the median. Null in the emulator, and if the result is wrong or there
    /// is none.
    pub us: Option<f64>,
    /// The least sample.
    pub min: Option<f64>,
    /// The greatest sample.
    pub max: Option<f64>,
    /// Number of samples.
    pub samples: Option<usize>,
    /// µs of the same in CUDA C++, the median. Null without --peers, or without a peer.
    pub cpp_us: Option<f64>,
    /// The measurement rules that were broken.
    pub warnings: Vec<Warning>,
    /// Why the device does not support the method, or null.
    pub absent: Option<String>,
    /// The first wrong element.
    #[serde(skip)]
    pub wrong: Option<String>,
}

impl Links {
    /// The edges of a plan of `dag` by edges for `blocks` blocks.
    pub(super) fn of(dag: &Checked, blocks: u32) -> Self {
        let plan = Plan::by_edges(dag, blocks as usize);
        let mut links = Self { joins: plan.joins(), ..Self::default() };
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
                let all = dag.nodes()[*node].predecessors().len();
                links.inside += all.saturating_sub(inputs.len());
            }
        }
        links
    }
}

impl Dag {
    /// The times as records.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let params = json!({
            "nodes": self.nodes, "edges": self.edges, "levels": self.levels, "n": self.elements,
            "blocks": self.blocks, "threads": self.threads, "work_us": self.critical_path_us,
        });
        let record = |method: &Outcome| {
            let times = Times {
                median: method.us?,
                min: method.min?,
                max: method.max?,
                samples: method.samples?,
                warnings: method.warnings.clone(),
            };
            let peer = method.cpp_us.map(|median| Peer::new("CUDA C++", median));
            let record = Record::new("dag", &method.by, &self.device, params.clone(), times);
            Some(record.beside(peer))
        };
        self.methods.iter().filter_map(record).collect()
    }

    /// The names of the longest path, abbreviated.
    fn path(&self) -> String {
        match &self.critical_path[..] {
            [first, .., before, last] if self.critical_path.len() > 6 => {
                format!("{first} → … → {before} → {last}")
            }
            path => path.join(" → "),
        }
    }

    /// Whether a method was timed.
    fn is_timed(&self) -> bool {
        self.methods.iter().any(|method| method.us.is_some())
    }

    /// The table of the methods, whose marks are in `notes`.
    fn table(&self, notes: &mut Notes) -> String {
        let has_peers = self.methods.iter().any(|method| method.cpp_us.is_some());
        let mut times = Vec::new();
        if self.is_timed() {
            times.extend(["µs", "µs beyond the work", "per level, µs", "per node, µs"]);
            if has_peers {
                times.extend(["C++, µs", "× C++"]);
            }
        }
        let mut table = table();
        table.set_header([&["by"], &times[..], &["result", ""]].concat());
        for method in &self.methods {
            let mut cells = vec![String::new(); times.len()];
            if let Some(us) = method.us {
                let beyond = (us - self.critical_path_us).max(0.0);
                cells[0] = format!("{us:.2}");
                cells[1] = format!("{beyond:.2}");
                cells[2] = format!("{:.3}", beyond / self.levels as f64);
                cells[3] = format!("{:.3}", beyond / self.nodes as f64);
                if let Some(peer) = method.cpp_us {
                    cells[4] = format!("{peer:.2}");
                    cells[5] = format!("{:.2}", us / peer);
                }
            }
            let result = match method.right {
                Some(false) => "WRONG",
                None => "not on this device",
                Some(true) => "right",
            };
            let ends = [result.to_owned(), notes.marks(&method.warnings)];
            table.add_row([method.by.clone()].into_iter().chain(cells).chain(ends));
        }
        table.to_string()
    }
}

impl Report for Dag {
    fn page(&self) -> Page {
        let Self { device, nodes, edges, levels, elements, threads, blocks, .. } = self;
        let mut page = Page::new(format!(
            "A graph of {nodes} nodes, {edges} edges and {levels} levels on {device}: arrays of \
             {elements} elements, blocks of {threads} threads. The longest path, {}, has {:.1} µs \
             of work.",
            self.path(),
            self.critical_path_us,
        ));
        let mut notes = Notes::default();
        page.drawing("", &self.table(&mut notes));
        let what = self.methods.iter().filter_map(|outcome| {
            let method = Method::ALL.into_iter().find(|method| method.name() == outcome.by)?;
            Some(format!("{}: {}", outcome.by, method.what()))
        });
        page.lists(what.collect::<Vec<_>>().join("\n"));
        let Links { inside, values, ends, joins } = self.links;
        let joins =
            if joins > 0 { format!("; {joins} of the tasks are joins") } else { String::new() };
        page.means(format!(
            "One kernel has {blocks} blocks. Of its edges {inside} are within a block, {values} \
             are a word that carries the value, and {ends} are a release and an acquire{joins}."
        ));
        if !self.is_timed() {
            page.means("The emulator does not measure time.");
        }
        let absent = self.methods.iter().filter_map(|method| {
            Some(format!("without {}: {}", method.by, method.absent.as_ref()?))
        });
        let lines: Vec<_> = notes.lines().chain(absent).collect();
        if !lines.is_empty() {
            page.lists(lines.join("\n"));
        }
        for method in &self.methods {
            if let Some(wrong) = &method.wrong {
                page.wrong(format!("{}: {wrong}", method.by));
            }
        }
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        let Some((graph, timelines)) = &self.drawings else { return Ok(Vec::new()) };
        let mut charts = vec![Chart::new("dag", "", graph.svg()?, String::new())];
        if let Some(timelines) = timelines {
            charts.push(Chart::new("timelines", "", timelines.svg()?, String::new()));
        }
        Ok(charts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::committed;

    #[test]
    fn a_committed_result_keeps_its_json_and_its_page_has_the_peers() {
        let dag: Dag = committed("2026-11-23-nvidia-h200/dag-chain-200-peers.json");
        let records = dag.records();
        let timed = dag.methods.iter().filter(|method| method.us.is_some());
        assert_eq!(records.len(), timed.count());
        let peer = |record: &Record| record.peer.as_ref().map(|peer| peer.median);
        let of_graph = dag.methods.iter().find(|method| method.by == "graph").expect("measured");
        let record = records.iter().find(|record| record.variant == "graph").expect("timed");
        assert!(peer(record).is_some() && peer(record) == of_graph.cpp_us);
        let text = dag.page().text(false);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in
            ["n0 → … → n198 → n199", "C++, µs × result", "821.18 0.75 right", "graph: a CUDA graph"]
        {
            assert!(text.contains(part), "{part:?}: {text}");
        }
        assert_eq!(dag.page().into_files_and_wrong().1, None);
        let chart = super::super::by_method(&records.iter().collect::<Vec<_>>());
        assert!(chart.is_ok_and(|chart| chart.is_some_and(|c| c.svg.contains("200 nodes"))));
    }

    #[test]
    fn a_wrong_result_is_reported_with_its_method() {
        let mut dag: Dag = committed("2026-11-23-nvidia-h200/dag-diamond-50us.json");
        dag.methods[2].right = Some(false);
        dag.methods[2].wrong = Some("`C`[0] is 34 and should be 35".into());
        let page = dag.page();
        assert!(page.text(true).contains("WRONG"), "{}", page.text(true));
        let wrong = page.into_files_and_wrong().1.expect("it is wrong");
        assert_eq!(wrong, format!("{}: `C`[0] is 34 and should be 35", dag.methods[2].by));
    }
}

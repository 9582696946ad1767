//! Reads the JSON of commands that contains times, and converts it to records.

use super::{Peer, Record};
use gridsync_lab::bench::{Times, Warning};
use gridsync_lab::{ladder, launches};
use serde::Deserialize;
use serde_json::json;

/// The JSON of a command that contains times.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Timed {
    Dag(Dag),
    Ladder(ladder::Report),
    Launches(launches::Comparison),
}

impl Timed {
    /// The times as records.
    pub(super) fn records(self) -> Vec<Record> {
        match self {
            Self::Dag(dag) => dag.records(),
            Self::Ladder(ladder) => ladder.records(),
            Self::Launches(launches) => launches.records(None),
        }
    }
}

/// From `dag --json`.
#[derive(Deserialize)]
pub(super) struct Dag {
    device: String,
    nodes: u64,
    edges: u64,
    levels: u64,
    elements: u64,
    blocks: u64,
    threads: u64,
    critical_path_us: f64,
    methods: Vec<Method>,
}

#[derive(Deserialize)]
struct Method {
    by: String,
    us: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    samples: Option<usize>,
    cpp_us: Option<f64>,
    #[serde(default)]
    warnings: Vec<Warning>,
}

impl Dag {
    fn records(self) -> Vec<Record> {
        let params = json!({
            "nodes": self.nodes, "edges": self.edges, "levels": self.levels, "n": self.elements,
            "blocks": self.blocks, "threads": self.threads, "work_us": self.critical_path_us,
        });
        let record = |method: Method| {
            let times = Times {
                median: method.us?,
                min: method.min?,
                max: method.max?,
                samples: method.samples?,
                warnings: method.warnings,
            };
            let peer = method.cpp_us.map(|median| Peer::new("CUDA C++", median));
            let record = Record::new("dag", method.by, &self.device, params.clone(), times);
            Some(record.beside(peer))
        };
        self.methods.into_iter().filter_map(record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn records(value: Value) -> Vec<Record> {
        serde_json::from_value::<Timed>(value).expect("JSON with times").records()
    }

    #[test]
    fn each_timed_method_of_a_graph_becomes_a_record_with_its_peer() {
        let records = records(json!({
            "device": "a GPU", "nodes": 3, "edges": 2, "levels": 2, "elements": 1, "blocks": 2,
            "threads": 32, "critical_path_us": 100.0,
            "methods": [
                { "by": "graph", "us": 106.9, "min": 106.0, "max": 108.0, "samples": 7, "cpp_us": 105.0 },
                { "by": "tail", "us": null, "min": null, "max": null, "samples": null, "cpp_us": null },
            ],
        }));
        let [graph] = &records[..] else { panic!("one is timed: {records:?}") };
        assert_eq!((graph.suite.as_str(), graph.variant.as_str()), ("dag", "graph"));
        assert_eq!(graph.peer.as_ref().map(|peer| peer.median), Some(105.0));
    }
}

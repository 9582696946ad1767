//! Reads the JSON of commands that contains times, and converts it to records.

use super::{Peer, Record};
use gridsync_lab::bench::{Times, Warning};
use serde::Deserialize;
use serde_json::json;

/// The JSON of a command that contains times.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Timed {
    Dag(Dag),
    Ladder(Ladder),
    Launches(Launches),
}

impl Timed {
    /// The times as records.
    pub(super) fn records(self) -> Vec<Record> {
        match self {
            Self::Dag(dag) => dag.records(),
            Self::Ladder(ladder) => ladder.records(),
            Self::Launches(launches) => launches.records(),
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

/// From `lab ladder --json` and `lab scans --json`.
#[derive(Deserialize)]
pub(super) struct Ladder {
    device: String,
    dtype: String,
    /// The rate of the roof of the ladder of sums.
    #[serde(default)]
    reading_gb_per_s: Option<f64>,
    /// The rate of the roof of the ladder of scans.
    #[serde(default)]
    copy_gb_per_s: Option<f64>,
    rungs: Vec<Rung>,
}

#[derive(Deserialize)]
struct Rung {
    rung: u64,
    name: String,
    n: u64,
    us: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    samples: Option<usize>,
    gb_per_s: Option<f64>,
    warnings: Option<Vec<Warning>>,
}

impl Ladder {
    fn records(self) -> Vec<Record> {
        let (suite, name, rate) = match self.copy_gb_per_s {
            Some(rate) => ("scans", "copy_gb_per_s", Some(rate)),
            None => ("ladder", "reading_gb_per_s", self.reading_gb_per_s),
        };
        let record = |rung: Rung| {
            let us = rung.us?;
            let params =
                json!({ "rung": rung.rung, "dtype": self.dtype, "n": rung.n, (name): rate });
            let times = Times {
                median: us,
                min: rung.min?,
                max: rung.max?,
                samples: rung.samples?,
                warnings: rung.warnings.unwrap_or_default(),
            };
            let record = Record::new(suite, rung.name, &self.device, params, times);
            Some(match rung.gb_per_s {
                Some(rate) => record.moving((rate * us * 1e3).round() as u64),
                None => record,
            })
        };
        self.rungs.into_iter().filter_map(record).collect()
    }
}

/// From `lab launches --json`.
#[derive(Deserialize)]
pub(super) struct Launches {
    device: String,
    n: u64,
    blocks: u64,
    threads: u64,
    rounds: u64,
    forms: Vec<Form>,
}

#[derive(Deserialize)]
struct Form {
    form: String,
    us_per_transform: f64,
    min: f64,
    max: f64,
    samples: usize,
    #[serde(default)]
    warnings: Vec<Warning>,
}

impl Launches {
    fn records(self) -> Vec<Record> {
        let params = json!({
            "n": self.n, "blocks": self.blocks, "threads": self.threads, "rounds": self.rounds,
        });
        let record = |form: Form| {
            let times = Times {
                median: form.us_per_transform,
                min: form.min,
                max: form.max,
                samples: form.samples,
                warnings: form.warnings,
            };
            Record::new("launches", form.form, &self.device, params.clone(), times)
        };
        self.forms.into_iter().map(record).collect()
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

    #[test]
    fn rungs_of_a_ladder_become_records() {
        let rung = json!({
            "rung": 9, "name": "look-back", "n": 1 << 20, "us": 4.0, "min": 3.9, "max": 4.1,
            "samples": 7, "gb_per_s": 2097.152, "warnings": [],
        });
        let records = records(json!({
            "device": "a GPU", "dtype": "u32", "n": 1 << 20, "copy_gb_per_s": 4150.0,
            "rungs": [rung], "absent": [],
        }));
        assert_eq!((records[0].suite.as_str(), records[0].bytes), ("scans", Some(8 << 20)));
        assert_eq!(records[0].number("copy_gb_per_s"), Some(4150.0));
    }

    #[test]
    fn forms_of_launches_become_records_of_one_shape() {
        let form = json!({
            "form": "grid", "us_per_transform": 2.0, "min": 1.9, "max": 2.1, "samples": 7,
        });
        let records = records(json!({
            "device": "a GPU", "n": 4096, "blocks": 132, "threads": 256, "rounds": 100,
            "forms": [form],
        }));
        assert_eq!(
            (records[0].suite.as_str(), records[0].number("blocks")),
            ("launches", Some(132.0))
        );
    }
}

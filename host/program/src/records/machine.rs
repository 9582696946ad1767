//! The machines and versions with which records were made, from the records or a file next to them.

use super::{Runs, Source};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A file that adds facts about the machine to the records in its folder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The device.
    pub device: String,
    /// The same fields as in `made` of a record.
    pub made: Map<String, Value>,
}

/// The facts about a machine shown on the page: the name in JSON, the name on the page, the unit.
const FACTS: [[&str; 3]; 9] = [
    ["driver", "driver", ""],
    ["cuda", "CUDA", ""],
    ["cub", "CUB", ""],
    ["sm_clock_mhz", "SM clock, highest", " MHz"],
    ["memory_clock_mhz", "memory clock, highest", " MHz"],
    ["power_limit_w", "power limit", " W"],
    ["ecc", "ECC", ""],
    ["gridsync", "gridsync", ""],
    ["commit", "commit", ""],
];

/// A fact about a machine: its name, and each of its values with the folders of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Name.
    pub name: &'static str,
    /// The values, newest first, each with the folders that have it. Empty if the fact is unknown.
    pub values: Vec<(String, Vec<String>)>,
}

impl Runs {
    /// The facts about the machines of this device.
    #[must_use]
    pub fn facts(&self, device: &str) -> Vec<Fact> {
        let sources = self.records.iter().filter(|record| record.device == device);
        let sources = sources.map(|record| (&record.source, &record.made));
        let machines = self.machines.iter().filter(|machine| machine.device == device);
        let sources: Vec<(&Arc<Source>, &Map<String, Value>)> =
            sources.chain(machines.map(|machine| (&machine.source, &machine.made))).collect();
        let fact = |[key, name, unit]: [&'static str; 3]| {
            // The names of folders begin with a date, so that the last is the newest.
            let mut of_folders: BTreeMap<String, String> = BTreeMap::new();
            for (source, made) in &sources {
                if let Some(value) = made.get(key).and_then(words) {
                    of_folders.insert(source.folder(), value + unit);
                }
            }
            let mut values: Vec<(String, Vec<String>)> = Vec::new();
            for (folder, value) in of_folders.into_iter().rev() {
                match values.iter_mut().find(|(has, _)| *has == value) {
                    Some((_, folders)) => folders.push(folder),
                    None => values.push((value, vec![folder])),
                }
            }
            Fact { name, values }
        };
        FACTS.map(fact).to_vec()
    }
}

/// A value as text, or `None` for null.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(word) => Some(word.clone()),
        Value::Bool(is_on) => Some(if *is_on { "on" } else { "off" }.to_owned()),
        // 700, not 700.0.
        other => Some(other.as_f64().map_or(other.to_string(), |number| number.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Sourced;
    use serde_json::json;

    #[test]
    fn a_fact_lists_each_value_once_with_its_folders() {
        let machine = |folder: &str, made: Value| Sourced {
            what: serde_json::from_value(json!({ "device": "a GPU", "made": made })).expect("one"),
            source: Arc::new(Source {
                path: format!("{folder}/machine.json").into(),
                date: Some(folder.to_owned()),
            }),
        };
        let machines = vec![
            machine("2026-11-21", json!({ "driver": "570.1", "ecc": true })),
            machine("2026-11-22", json!({ "driver": "580.2", "cub": null, "power_limit_w": 700 })),
            machine("2026-11-23", json!({ "driver": "580.2" })),
        ];
        let facts = Runs { machines, ..Runs::default() }.facts("a GPU");
        let values = |name: &str| {
            let fact = facts.iter().find(|fact| fact.name == name).expect("it is a fact");
            fact.values.iter().map(|(value, of)| (value.as_str(), of.len())).collect::<Vec<_>>()
        };
        assert_eq!(values("driver"), [("580.2", 2), ("570.1", 1)]);
        assert_eq!(values("ECC"), [("on", 1)]);
        assert_eq!(values("power limit"), [("700 W", 1)]);
        assert_eq!((values("CUB"), values("commit")), (vec![], vec![]));
    }
}

//! The machines and versions with which records were made, from the records or a file next to them.

use super::{Runs, Source};
use gridsync_lab::bench::Made;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A file that adds facts about the machine to the records in its folder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The device.
    pub device: String,
    /// The same fields as in `made` of a record.
    pub made: Made,
}

/// The value of a fact as text, if it is known.
type Words = fn(&Made) -> Option<String>;

/// The facts about a machine shown on the page: the name, and the value.
const FACTS: [(&str, Words); 9] = [
    ("driver", |made| made.driver.clone()),
    ("CUDA", |made| made.gpu.cuda.clone()),
    ("CUB", |made| made.cub.clone()),
    ("SM clock, highest", |made| Some(format!("{} MHz", made.gpu.sm_clock_mhz?))),
    ("memory clock, highest", |made| Some(format!("{} MHz", made.gpu.memory_clock_mhz?))),
    ("power limit", |made| Some(format!("{} W", made.gpu.power_limit_w?))),
    ("ECC", |made| Some(if made.gpu.ecc? { "on" } else { "off" }.to_owned())),
    ("gridsync", |made| made.gridsync.clone()),
    ("commit", |made| made.commit.clone()),
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
        let sources = sources.filter_map(|record| Some((&record.source, record.made.as_ref()?)));
        let machines = self.machines.iter().filter(|machine| machine.device == device);
        let sources: Vec<(&Arc<Source>, &Made)> =
            sources.chain(machines.map(|machine| (&machine.source, &machine.made))).collect();
        let fact = |(name, words): (&'static str, Words)| {
            // The names of folders begin with a date, so that the last is the newest.
            let mut of_folders: BTreeMap<String, String> = BTreeMap::new();
            for (source, made) in &sources {
                if let Some(value) = words(made) {
                    of_folders.insert(source.folder(), value);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Sourced;
    use serde_json::{Value, json};

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

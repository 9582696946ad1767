//! A record, and what makes two records the same line.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

/// A record of a measurement, as [`Record::json`](gridsync_lab::bench::Record::json) writes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Recorded {
    /// The suite it belongs to.
    pub suite: String,
    /// What was measured.
    pub variant: String,
    /// The name of the device.
    pub device: String,
    /// The parameters of the measurement.
    pub params: Map<String, Value>,
    /// The median of the samples, µs.
    pub median: f64,
    /// The least sample, µs.
    pub min: f64,
    /// The greatest sample, µs.
    pub max: f64,
    /// How many samples there were.
    pub samples: u64,
    /// Bytes that had to be moved; none for a latency.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// The peer's time.
    #[serde(default)]
    pub peer: Option<RecordedPeer>,
    /// What to know before trusting the time: JSON objects, each with its `kind`.
    #[serde(default)]
    pub warnings: Vec<Value>,
    /// When, by what and on what it was made, as [`Made`](gridsync_lab::bench::Made) writes it; empty before
    /// 2026-11-25.
    #[serde(default)]
    pub made: Map<String, Value>,
}

/// The time of a peer in the same run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RecordedPeer {
    /// What it is called.
    pub name: String,
    /// Its median, µs.
    pub median: f64,
}

/// What a record measured. Two records with the same line measured the same thing, whenever and on
/// whichever device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    /// The suite.
    pub suite: String,
    /// What was measured.
    pub variant: String,
    /// The parameters in words, without those that were measured too.
    pub params: String,
}

impl Recorded {
    /// The record with the names of today. Records of 2026-11-21 call the suite `launches` `mkl`, and
    /// `n` `elements`.
    pub(super) fn with_new_names(mut self) -> Self {
        if self.suite == "mkl" {
            self.suite = "launches".into();
        }
        if let Some(elements) = self.params.remove("elements") {
            self.params.entry("n").or_insert(elements);
        }
        self
    }

    /// Why these cannot be times, if they cannot.
    pub(super) fn fault(&self) -> Option<String> {
        let Self { median, min, max, samples, .. } = *self;
        let peer = self.peer.as_ref().map(|peer| peer.median);
        if samples == 0 {
            return Some("samples is 0, and a record has one at least".into());
        }
        if !(0.0 < median && min <= median && median <= max && max.is_finite()) {
            return Some(format!(
                "min {min}, median {median} and max {max} are no times in order, above 0"
            ));
        }
        peer.filter(|peer| !(0.0 < *peer && peer.is_finite()))
            .map(|peer| format!("the peer's median is {peer}, and a time is above 0"))
    }

    /// What it measured.
    #[must_use]
    pub fn line(&self) -> Line {
        let params = self.params.iter().filter(|(name, value)| {
            // The rate of a roof is measured, and differs from run to run.
            !name.ends_with("_gb_per_s") && !value.is_null()
        });
        let words = params.map(|(name, value)| match value {
            Value::String(word) => word.clone(),
            value => format!("{name} {value}"),
        });
        Line {
            suite: self.suite.clone(),
            variant: self.variant.clone(),
            params: words.collect::<Vec<_>>().join(", "),
        }
    }

    /// The median divided by the peer's. Below 1 gridsync is faster.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|peer| self.median / peer.median)
    }

    /// The bytes divided by the median, GB/s (10⁹ bytes).
    #[must_use]
    pub fn gb_per_s(&self) -> Option<f64> {
        self.rate_in(self.median)
    }

    /// The bytes divided by the peer's median, GB/s (10⁹ bytes).
    #[must_use]
    pub fn peer_gb_per_s(&self) -> Option<f64> {
        self.rate_in(self.peer.as_ref()?.median)
    }

    fn rate_in(&self, us: f64) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / us / 1e3)
    }

    /// A parameter that is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.params.get(name)?.as_f64()
    }

    /// A parameter that is a word.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&str> {
        self.params.get(name)?.as_str()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.suite, self.variant)?;
        match self.params.is_empty() {
            true => Ok(()),
            false => write!(f, ", {}", self.params),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(params: Value) -> Recorded {
        serde_json::from_value(json!({
            "suite": "scan", "variant": "auto", "device": "a GPU", "params": params, "unit": "us",
            "median": 2.0, "min": 1.0, "max": 3.0, "samples": 7, "bytes": 4000, "gb_per_s": 2.0,
            "peer": { "name": "cub", "median": 4.0, "ratio": 0.5 }, "warnings": [],
        }))
        .expect("a record")
    }

    #[test]
    fn a_record_reads_as_it_was_written() {
        let record = record(json!({ "n": 1000, "dtype": "f32" }));
        assert_eq!((record.ratio(), record.gb_per_s()), (Some(0.5), Some(2.0)));
        assert_eq!(record.peer_gb_per_s(), Some(1.0));
        assert_eq!((record.number("n"), record.word("dtype")), (Some(1000.0), Some("f32")));
        assert_eq!(record.fault(), None);
    }

    #[test]
    fn a_line_has_no_measured_rate_and_its_old_names_are_those_of_today() {
        let new = record(json!({ "n": 8, "rung": 1, "peer_mode": null, "copy_gb_per_s": 4150.0 }));
        let old = record(json!({ "elements": 8, "rung": 1, "copy_gb_per_s": 4100.0 }));
        assert_ne!(old.line(), new.line());
        assert_eq!(old.with_new_names().line(), new.line());
        assert_eq!(new.line().to_string(), "scan auto, n 8, rung 1");
        let mkl = Recorded { suite: "mkl".into(), ..new };
        assert_eq!(mkl.with_new_names().suite, "launches");
    }

    #[test]
    fn what_cannot_be_a_time_is_told_with_its_numbers() {
        let good = record(json!({}));
        let zero = Recorded { median: 0.0, min: 0.0, ..good.clone() };
        assert!(zero.fault().is_some_and(|fault| fault.contains("median 0")));
        let disordered = Recorded { max: 1.5, ..good.clone() };
        assert!(disordered.fault().is_some_and(|fault| fault.contains("max 1.5")));
        let none = Recorded { samples: 0, ..good.clone() };
        assert!(none.fault().is_some());
        let peer = Some(RecordedPeer { name: "cub".into(), median: -1.0 });
        assert!(Recorded { peer, ..good }.fault().is_some_and(|fault| fault.contains("-1")));
    }
}

//! A record, and the line that it belongs to.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

/// A record of a measurement, as written by [`Record::json`](gridsync_lab::bench::Record::json).
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Recorded {
    /// The suite.
    pub suite: String,
    /// The design or variant that was measured.
    pub variant: String,
    /// The name of the device.
    pub device: String,
    /// The parameters of the measurement.
    pub params: Map<String, Value>,
    /// Median of the samples, in µs.
    pub median: f64,
    /// Least sample, in µs.
    pub min: f64,
    /// Greatest sample, in µs.
    pub max: f64,
    /// Number of samples.
    pub samples: u64,
    /// Bytes that had to be moved; `None` for a latency.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// The peer's time.
    #[serde(default)]
    pub peer: Option<RecordedPeer>,
    /// Warnings about the time: JSON objects, each with its `kind`.
    #[serde(default)]
    pub warnings: Vec<Value>,
    /// The date, versions and machine, as written by [`Made`](gridsync_lab::bench::Made); empty before
    /// 2026-11-25.
    #[serde(default)]
    pub made: Map<String, Value>,
}

/// The time of a peer in the same run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RecordedPeer {
    /// Name.
    pub name: String,
    /// Median, in µs.
    pub median: f64,
}

/// The measurement of a record. Records with the same line measured the same thing, on any device
/// and date.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    /// The suite.
    pub suite: String,
    /// The design or variant that was measured.
    pub variant: String,
    /// The parameters as text, without measured ones.
    pub params: String,
}

impl Recorded {
    /// The record with today's names. In records of 2026-11-21, the suite `launches` is `mkl`, and
    /// `n` is `elements`.
    pub(super) fn with_new_names(mut self) -> Self {
        if self.suite == "mkl" {
            self.suite = "launches".into();
        }
        if let Some(elements) = self.params.remove("elements") {
            self.params.entry("n").or_insert(elements);
        }
        self
    }

    /// The reason if these cannot be times.
    pub(super) fn fault(&self) -> Option<String> {
        let Self { median, min, max, samples, .. } = *self;
        let peer = self.peer.as_ref().map(|peer| peer.median);
        if samples == 0 {
            return Some("samples is 0, and a record has one at least".into());
        }
        if !(0.0 < median && min <= median && median <= max && max.is_finite()) {
            return Some(format!(
                "min {min}, median {median} and max {max} are not times in order, above 0"
            ));
        }
        peer.filter(|peer| !(0.0 < *peer && peer.is_finite()))
            .map(|peer| format!("the peer's median is {peer}, and a time is above 0"))
    }

    /// The line of this record.
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

    /// The median divided by the peer's. Below 1, gridsync is faster.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|peer| self.median / peer.median)
    }

    /// The bytes divided by the median, in GB/s (10⁹ bytes).
    #[must_use]
    pub fn gb_per_s(&self) -> Option<f64> {
        self.rate_in(self.median)
    }

    /// The bytes divided by the peer's median, in GB/s (10⁹ bytes).
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

    /// A parameter that is a string.
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
    fn a_record_is_read_back() {
        let record = record(json!({ "n": 1000, "dtype": "f32" }));
        assert_eq!((record.ratio(), record.gb_per_s()), (Some(0.5), Some(2.0)));
        assert_eq!(record.peer_gb_per_s(), Some(1.0));
        assert_eq!((record.number("n"), record.word("dtype")), (Some(1000.0), Some("f32")));
        assert_eq!(record.fault(), None);
    }

    #[test]
    fn a_line_omits_measured_rates_and_uses_new_names() {
        let new = record(json!({ "n": 8, "rung": 1, "peer_mode": null, "copy_gb_per_s": 4150.0 }));
        let old = record(json!({ "elements": 8, "rung": 1, "copy_gb_per_s": 4100.0 }));
        assert_ne!(old.line(), new.line());
        assert_eq!(old.with_new_names().line(), new.line());
        assert_eq!(new.line().to_string(), "scan auto, n 8, rung 1");
        let mkl = Recorded { suite: "mkl".into(), ..new };
        assert_eq!(mkl.with_new_names().suite, "launches");
    }

    #[test]
    fn invalid_times_are_reported_with_their_numbers() {
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

//! One measurement, as recorded, and the line that it belongs to.

use super::{Made, Measurement, Spread, Warning};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// One measurement. Its JSON is a line of a file of records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Record {
    /// The suite it belongs to.
    pub suite: String,
    /// Name of the design or variant.
    pub variant: String,
    /// Name of the device.
    pub device: String,
    /// The parameters of the measurement.
    pub params: Map<String, Value>,
    /// The unit of all times.
    #[serde(default)]
    unit: Unit,
    /// Median of the samples, µs.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub median: f64,
    /// Least sample, µs.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub min: f64,
    /// Greatest sample, µs.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub max: f64,
    /// Number of samples.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub samples: usize,
    /// Bytes that have to be moved. Null for a latency, where they are negligible.
    pub bytes: Option<u64>,
    /// The bytes divided by the median, in GB/s (10⁹ bytes), for readers of the JSON.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    gb_per_s: Option<f64>,
    /// Time of the peer.
    pub peer: Option<Peer>,
    /// Warnings about the time.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Date, versions and machine. Records from before 2026-11-24 lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Made"))]
    pub made: Option<Made>,
}

/// The unit of all times of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Unit {
    #[default]
    Us,
}

/// The peer's measurement of the same operation, in the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Peer {
    /// Name.
    pub name: String,
    /// Median, µs.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub median: f64,
    /// Our median divided by the peer's, for readers of the JSON.
    #[cfg_attr(feature = "schema", schemars(with = "f64", extend("exclusiveMinimum" = 0)))]
    ratio: Option<f64>,
    /// Version, if the peer is a library that reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    version: Option<String>,
}

/// The times of a record, without the quartiles of a [`Spread`](super::Spread), which are not
/// recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// Median of the samples, µs.
    pub median: f64,
    /// Least sample, µs.
    pub min: f64,
    /// Greatest sample, µs.
    pub max: f64,
    /// Number of samples.
    pub samples: usize,
    /// The measurement rules that were broken.
    pub warnings: Vec<Warning>,
}

impl From<Measurement> for Times {
    fn from(Measurement { time, warnings }: Measurement) -> Self {
        let Spread { median, min, max, samples, .. } = time;
        Self { median, min, max, samples, warnings }
    }
}

/// The progress of a suite.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a, P> {
    /// This point is measured next.
    Next(P),
    /// This record has just been measured.
    Measured(&'a Record),
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

impl Peer {
    /// The peer `name`, and the median of its times, µs.
    #[must_use]
    pub fn new(name: impl Into<String>, median: f64) -> Self {
        Self { name: name.into(), median, ratio: None, version: None }
    }

    /// The same peer, of this version if it is known.
    #[must_use]
    pub fn of_version(self, version: Option<String>) -> Self {
        Self { version, ..self }
    }
}

impl Record {
    /// A measurement of a latency, without a peer. `params` has its parameters.
    ///
    /// # Panics
    /// If `params` is not a JSON object.
    #[must_use]
    pub fn new(
        suite: impl Into<String>,
        variant: impl Into<String>,
        device: impl Into<String>,
        params: Value,
        times: impl Into<Times>,
    ) -> Self {
        let Value::Object(params) = params else {
            panic!("the parameters should be an object: {params}")
        };
        let Times { median, min, max, samples, warnings } = times.into();
        Self {
            suite: suite.into(),
            variant: variant.into(),
            device: device.into(),
            params,
            unit: Unit::Us,
            median,
            min,
            max,
            samples,
            bytes: None,
            gb_per_s: None,
            peer: None,
            warnings,
            made: None,
        }
    }

    /// The same, of an operation that has to move these bytes.
    #[must_use]
    pub fn moving(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self.gb_per_s = self.gb_per_s();
        self
    }

    /// The same with the time of a peer, if there is one.
    #[must_use]
    pub fn beside(mut self, peer: Option<Peer>) -> Self {
        let median = self.median;
        self.peer = peer.map(|peer| Peer { ratio: Some(median / peer.median), ..peer });
        self
    }

    /// The reason if these cannot be times.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
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

    /// Our median divided by the peer's. Below 1, we are faster.
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

    /// These records of one device as JSON, each with `made`: the current date, the versions and
    /// the machine.
    #[must_use]
    pub fn all_made_now(records: &[Self]) -> Vec<Value> {
        let device = records.first().map_or("", |record| &record.device);
        let made = Made::now(device);
        let with_made = |record: &Self| {
            let record = Self { made: Some(made.clone()), ..record.clone() };
            serde_json::to_value(record).expect("a record should be JSON")
        };
        records.iter().map(with_made).collect()
    }

    /// These records as lines of a file, as in [`all_made_now`](Self::all_made_now).
    #[must_use]
    pub fn lines_made_now(records: &[Self]) -> String {
        Self::all_made_now(records).iter().map(|json| format!("{json}\n")).collect()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.suite, self.variant)?;
        if self.params.is_empty() { Ok(()) } else { write!(f, ", {}", self.params) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A record of a scan of 4000 bytes in 2 µs, and of a peer that takes 4 µs.
    fn record(params: Value) -> Record {
        let measured = Measurement {
            time: Spread::of(vec![1.0, 2.0, 3.0]).expect("there are samples"),
            warnings: vec![Warning::too_short(2.0).expect("2 µs are too short")],
        };
        let record = Record::new("scan", "auto", "a GPU", params, measured);
        record.moving(4000).beside(Some(Peer::new("cub", 4.0)))
    }

    #[test]
    fn a_record_has_the_keys_that_scripts_read_and_is_read_back() {
        let record = record(json!({ "n": 1000, "dtype": "f32" }));
        let json = json!({
            "suite": "scan", "variant": "auto", "device": "a GPU",
            "params": { "n": 1000, "dtype": "f32" }, "unit": "us",
            "median": 2.0, "min": 1.0, "max": 3.0, "samples": 3,
            "bytes": 4000, "gb_per_s": 2.0,
            "peer": { "name": "cub", "median": 4.0, "ratio": 0.5 },
            "warnings": [{ "kind": "too-short", "us": 2.0, "at_least_us": 100.0 }],
        });
        assert_eq!(serde_json::to_value(&record).ok().as_ref(), Some(&json));
        assert_eq!(serde_json::from_value(json).ok().as_ref(), Some(&record));
        let torch = Peer::new("torch.sort", 4.0).of_version(Some("2.11.0".into()));
        assert_eq!(json!(record.clone().beside(Some(torch)))["peer"]["version"], "2.11.0");
        assert_eq!((record.ratio(), record.gb_per_s()), (Some(0.5), Some(2.0)));
        assert_eq!(record.peer_gb_per_s(), Some(1.0));
        assert_eq!((record.number("n"), record.word("dtype")), (Some(1000.0), Some("f32")));
        assert_eq!(record.fault(), None);
        let latency = json!(Record { bytes: None, gb_per_s: None, ..record }.beside(None));
        for key in ["bytes", "gb_per_s", "peer"] {
            assert_eq!(latency.get(key), Some(&Value::Null), "{key}");
        }
    }

    #[test]
    fn a_line_omits_measured_rates() {
        let one = record(json!({ "n": 8, "rung": 1, "peer_mode": null, "copy_gb_per_s": 4150.0 }));
        let other = record(json!({ "n": 8, "rung": 1, "copy_gb_per_s": 4100.0 }));
        assert_eq!(one.line(), other.line());
        assert_eq!(one.line().to_string(), "scan auto, n 8, rung 1");
    }

    #[test]
    fn invalid_times_are_reported_with_their_numbers() {
        let good = record(json!({}));
        let zero = Record { median: 0.0, min: 0.0, ..good.clone() };
        assert!(zero.fault().is_some_and(|fault| fault.contains("median 0")));
        let disordered = Record { max: 1.5, ..good.clone() };
        assert!(disordered.fault().is_some_and(|fault| fault.contains("max 1.5")));
        let none = Record { samples: 0, ..good.clone() };
        assert!(none.fault().is_some());
        let wrong = good.beside(Some(Peer::new("cub", -1.0)));
        assert!(wrong.fault().is_some_and(|fault| fault.contains("-1")));
    }
}

//! One measurement, as recorded.

use super::{Made, Spread, Warning};
use serde_json::{Value, json};

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The suite it belongs to.
    pub suite: &'static str,
    /// Name of the variant.
    pub variant: &'static str,
    /// Name of the device.
    pub device: String,
    /// The parameters of the measurement: a JSON object.
    pub params: Value,
    /// Time, µs.
    pub time: Spread,
    /// Bytes that have to be moved. `None` for a latency, where they are negligible.
    pub bytes: Option<u64>,
    /// Time of the peer.
    pub peer: Option<Peer>,
    /// Warnings about the time.
    pub warnings: Vec<Warning>,
}

/// The progress of a suite.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a, P> {
    /// This point is measured next.
    Next(P),
    /// This record has just been measured.
    Measured(&'a Record),
}

/// The peer's measurement of the same operation, in the same run.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// Name.
    pub name: &'static str,
    /// Median, µs.
    pub median: f64,
}

impl Record {
    /// Our median divided by the peer's. Below 1, we are faster.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|peer| self.time.median / peer.median)
    }

    /// The bytes divided by the median time, in GB/s (10⁹ bytes).
    #[must_use]
    pub fn gb_per_s(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / self.time.median / 1e3)
    }

    /// The record as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "suite": self.suite,
            "variant": self.variant,
            "device": self.device,
            "params": self.params,
            "unit": "us",
            "median": self.time.median,
            "min": self.time.min,
            "max": self.time.max,
            "samples": self.time.samples,
            "bytes": self.bytes,
            "gb_per_s": self.gb_per_s(),
            "peer": self.peer.as_ref().map(|peer| json!({
                "name": peer.name,
                "median": peer.median,
                "ratio": self.ratio(),
            })),
            "warnings": self.warnings.iter().map(Warning::json).collect::<Vec<_>>(),
        })
    }

    /// These records of one device as JSON, each with `made`: the current date, the versions and
    /// the machine.
    #[must_use]
    pub fn all_made_now(records: &[Self]) -> Vec<Value> {
        let device = records.first().map_or("", |record| &record.device);
        let made = Made::now(device).json();
        let with_made = |record: &Self| {
            let mut json = record.json();
            json["made"] = made.clone();
            json
        };
        records.iter().map(with_made).collect()
    }

    /// These records as lines of a file, as in [`all_made_now`](Self::all_made_now).
    #[must_use]
    pub fn lines_made_now(records: &[Self]) -> String {
        Self::all_made_now(records).iter().map(|json| format!("{json}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_keys_that_scripts_read() {
        let record = Record {
            suite: "reduce",
            variant: "tiles",
            device: "emulator".into(),
            params: json!({ "n": 1000 }),
            time: Spread::of(vec![2.0]).expect("there is a sample"),
            bytes: Some(4000),
            peer: Some(Peer { name: "cub", median: 4.0 }),
            warnings: vec![Warning::too_short(2.0).expect("2 µs are too short")],
        };
        assert_eq!(
            record.json(),
            json!({
                "suite": "reduce", "variant": "tiles", "device": "emulator",
                "params": { "n": 1000 }, "unit": "us",
                "median": 2.0, "min": 2.0, "max": 2.0, "samples": 1,
                "bytes": 4000, "gb_per_s": 2.0,
                "peer": { "name": "cub", "median": 4.0, "ratio": 0.5 },
                "warnings": [{ "kind": "too-short", "us": 2.0, "at_least_us": 100.0 }],
            })
        );
        let latency = Record { bytes: None, peer: None, ..record };
        for key in ["bytes", "gb_per_s", "peer"] {
            assert!(latency.json()[key].is_null(), "{key}");
        }
    }
}

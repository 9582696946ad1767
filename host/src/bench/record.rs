//! One measurement, as it is kept.

use super::Spread;
use serde_json::{Value, json};

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The suite it belongs to.
    pub suite: &'static str,
    /// What was measured.
    pub variant: &'static str,
    /// The name of the device.
    pub device: String,
    /// What it was measured at.
    pub params: Value,
    /// The time, µs.
    pub time: Spread,
    /// What the peer took.
    pub peer: Option<Peer>,
}

/// A peer's measurement of the same, in the same run.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// What it is called.
    pub name: &'static str,
    /// Its median, µs.
    pub median: f64,
}

impl Record {
    /// Our median over the peer's: below 1 is faster.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.peer
            .as_ref()
            .map(|peer| self.time.median / peer.median)
    }

    /// The record as JSON. A latency moves no bytes worth counting.
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
            "bytes": null,
            "gb_per_s": null,
            "peer": self.peer.as_ref().map(|peer| json!({
                "name": peer.name,
                "median": peer.median,
                "ratio": self.ratio(),
            })),
        })
    }
}

//! The JSON of experiments whose results are not times of a record.

use gridsync_lab::{accuracy, banks};
use serde::{Deserialize, Deserializer};

/// The JSON of an experiment, or of a `--check`, with the fields that the report shows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Document {
    /// From `lab atomics`.
    Atomics(Atomics),
    /// From `lab banks`.
    Banks(banks::Report),
    /// From `lab memory`.
    Memory(Memory),
    /// From `lab locks`.
    Locks(Locks),
    /// From `lab divergence`.
    Divergence(Divergence),
    /// From `lab accuracy`.
    Accuracy(accuracy::Report),
    /// From `reduce`, `scan` and other primitives with `--check`.
    Checked(Checked),
}

impl Document {
    /// The name of the device.
    #[must_use]
    pub fn device(&self) -> &str {
        match self {
            Self::Atomics(Atomics { device, .. })
            | Self::Banks(banks::Report { device, .. })
            | Self::Memory(Memory { device, .. })
            | Self::Locks(Locks { device, .. })
            | Self::Divergence(Divergence { device, .. })
            | Self::Accuracy(accuracy::Report { device, .. })
            | Self::Checked(Checked { device, .. }) => device,
        }
    }
}

/// Atomic additions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Atomics {
    /// The device.
    pub device: String,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// The cost of each kind.
    pub costs: Vec<Increment>,
}

/// A kind of atomic addition.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Increment {
    /// Which address each thread adds to.
    pub target: String,
    /// The type of the numbers.
    #[serde(rename = "type")]
    pub dtype: String,
    /// Whether the old value is used.
    pub with_result: bool,
    /// Additions per ns of all threads; `None` in the emulator.
    pub additions_per_ns: Option<f64>,
    /// The least and the greatest sample.
    #[serde(flatten)]
    pub ends: Ends,
}

/// Latencies and bandwidths of memories.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Memory {
    /// The device.
    pub device: String,
    /// The latencies.
    pub latencies: Vec<Latency>,
    /// Reads from device memory.
    pub device_memory: Curve,
    /// Reads from the L2 cache.
    pub l2: Curve,
}

/// The latency of an operation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Latency {
    /// The operation.
    pub of: String,
    /// Time in ns, which may be negative because it is a difference of two loops.
    pub ns: f64,
    /// Median in cycles.
    pub cycles: Option<f64>,
    /// Least sample, in cycles.
    pub cycles_min: Option<f64>,
    /// Greatest sample, in cycles.
    pub cycles_max: Option<f64>,
}

/// Read rates.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Curve {
    /// The rate of each launch.
    pub points: Vec<Reading>,
}

/// The rate of a launch that reads.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Reading {
    /// Bytes that each multiprocessor has requested and not yet received.
    pub bytes_in_flight: u64,
    /// GB/s (10⁹ bytes).
    pub gb_per_s: f64,
    /// The least sample.
    pub gb_per_s_min: Option<f64>,
    /// The greatest sample.
    pub gb_per_s_max: Option<f64>,
}

/// Sections under a lock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Locks {
    /// The device.
    pub device: String,
    /// The multiprocessors of the device.
    pub multiprocessors: u32,
    /// Each lock.
    pub locks: Vec<Lock>,
}

/// A lock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Lock {
    /// Name.
    pub lock: String,
    /// The grids that contended for it.
    pub points: Vec<Point>,
}

/// A grid that contended for a lock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Point {
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Threads that contended.
    pub contenders: u64,
    /// Million sections per second; `None` if threads gave up.
    pub million_per_s: Option<f64>,
    /// The time, µs.
    pub us: Option<f64>,
    /// The least and the greatest time, µs.
    #[serde(flatten)]
    pub ends: Ends,
    /// Sections of the block with the fewest.
    pub least_of_a_block: Option<f64>,
    /// Sections of the median block.
    pub median_of_a_block: Option<f64>,
    /// Sections of the block with the most.
    pub most_of_a_block: Option<f64>,
}

/// Paths of a warp, which run one at a time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Divergence {
    /// The device.
    pub device: String,
    /// The cost of each number of paths.
    pub paths: Vec<Paths>,
}

/// The cost of a number of paths.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Paths {
    /// The number of paths.
    pub paths: u32,
    /// How the paths are assigned.
    pub dealt_to: Dealt,
    /// Cycles; `None` in the emulator.
    pub cycles: Option<Time>,
}

/// How paths are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dealt {
    /// Among the lanes of each warp.
    Lanes,
    /// By warp.
    Warps,
}

/// A time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Time {
    /// The median of its samples.
    pub median: f64,
    /// The least and the greatest sample.
    #[serde(flatten)]
    pub ends: Ends,
}

/// The least and the greatest sample. Old JSON and JSON from the emulator lack them.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Ends {
    /// The least sample.
    pub min: Option<f64>,
    /// The greatest sample.
    pub max: Option<f64>,
}

/// A result that was compared with the reference.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Checked {
    /// The device.
    pub device: String,
    /// The operation.
    pub op: String,
    /// The type of the elements.
    pub dtype: String,
    /// The number of elements.
    pub n: u64,
    /// The variant that ran.
    pub variant: String,
    /// The distance of the result from the reference.
    pub check: Check,
}

/// The distance of a result from the reference.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Check {
    /// The distance. `None` for NaN and infinities, which are strings in JSON.
    #[serde(deserialize_with = "finite")]
    pub abs_err: Option<f64>,
    /// The bound of the distance; `None` if no bound can be guaranteed.
    #[serde(deserialize_with = "finite")]
    pub bound: Option<f64>,
}

/// A number, or `None` for a string that represents NaN or an infinity.
fn finite<'de, D: Deserializer<'de>>(value: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Other(#[allow(dead_code, reason = "a string is told from a number")] String),
    }
    Ok(match Number::deserialize(value)? {
        Number::Finite(number) => Some(number),
        Number::Other(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_recognised_by_its_fields() {
        let divergence = json!({
            "device": "a GPU", "kernels": [],
            "paths": [{ "paths": 2, "dealt_to": "lanes", "cycles": { "median": 8.0, "samples": 7 } }],
        });
        let document: Document = serde_json::from_value(divergence).expect("a document");
        assert_eq!(document.device(), "a GPU");
        let Document::Divergence(Divergence { paths, .. }) = document else {
            panic!("it is of lab divergence: {document:?}");
        };
        assert_eq!((paths[0].paths, paths[0].dealt_to), (2, Dealt::Lanes));
        assert!(serde_json::from_value::<Document>(json!({ "device": "a GPU" })).is_err());
    }

    #[test]
    fn an_infinite_bound_is_none() {
        let check = |bound| {
            serde_json::from_value::<Check>(json!({ "abs_err": 0.0, "bound": bound, "ok": true }))
        };
        assert_eq!(check(json!("inf")).map(|check| check.bound).ok(), Some(None));
        assert_eq!(check(json!(1e-3)).map(|check| check.bound).ok(), Some(Some(1e-3)));
        assert!(check(json!(null)).is_err());
    }
}

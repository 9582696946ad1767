//! The JSON of experiments whose results are not times of a record.

use gridsync_lab::{atomics, banks, divergence, memory};
use serde::{Deserialize, Deserializer};

/// The JSON of an experiment, or of a `--check`, with the fields that the report shows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Document {
    /// From `lab atomics`.
    Atomics(atomics::Report),
    /// From `lab banks`.
    Banks(banks::Report),
    /// From `lab memory`.
    Memory(memory::Report),
    /// From `lab locks`.
    Locks(Locks),
    /// From `lab divergence`.
    Divergence(divergence::Report),
    /// From `lab accuracy`.
    Accuracy(Accuracy),
    /// From `reduce`, `scan` and other primitives with `--check`.
    Checked(Checked),
}

impl Document {
    /// The name of the device.
    #[must_use]
    pub fn device(&self) -> &str {
        match self {
            Self::Atomics(atomics::Report { device, .. })
            | Self::Banks(banks::Report { device, .. })
            | Self::Memory(memory::Report { device, .. })
            | Self::Locks(Locks { device, .. })
            | Self::Divergence(divergence::Report { device, .. })
            | Self::Accuracy(Accuracy { device, .. })
            | Self::Checked(Checked { device, .. }) => device,
        }
    }
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

/// The least and the greatest sample. Old JSON and JSON from the emulator lack them.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Ends {
    /// The least sample.
    pub min: Option<f64>,
    /// The greatest sample.
    pub max: Option<f64>,
}

/// Errors of sums, with their bounds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Accuracy {
    /// The device.
    pub device: String,
    /// The sums of each array.
    pub sums: Vec<Sums>,
}

/// The sums of an array.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Sums {
    /// The type of the elements.
    pub dtype: String,
    /// Description of the elements.
    pub input: String,
    /// The number of elements.
    pub n: u64,
    /// The sum of the absolute values.
    pub magnitude: f64,
    /// The sum along the tree of the library.
    pub tree: Summed,
    /// The error of the sum in sequential order.
    pub one_by_one_error: f64,
}

/// The error of a sum.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Summed {
    /// The distance from the exact sum.
    pub error: f64,
    /// The bound of the error.
    pub bound: f64,
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
        let locks = json!({ "device": "a GPU", "sections": 8, "multiprocessors": 2, "locks": [] });
        let document: Document = serde_json::from_value(locks).expect("a document");
        assert_eq!(document.device(), "a GPU");
        assert!(matches!(document, Document::Locks(_)), "{document:?}");
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

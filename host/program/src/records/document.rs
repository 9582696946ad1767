//! The JSON of experiments whose results are not times of a record.

use gridsync_lab::{accuracy, atomics, banks, divergence, locks, memory};
use serde::{Deserialize, Deserializer};

/// The JSON of an experiment, or of a `--check`, with the fields that the report shows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a report reads a few of them")]
pub enum Document {
    /// From `lab atomics`.
    Atomics(atomics::Report),
    /// From `lab banks`.
    Banks(banks::Report),
    /// From `lab memory`.
    Memory(memory::Report),
    /// From `lab locks`.
    Locks(locks::Report),
    /// From `lab divergence`.
    Divergence(divergence::Report),
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
            Self::Atomics(atomics::Report { device, .. })
            | Self::Banks(banks::Report { device, .. })
            | Self::Memory(memory::Report { device, .. })
            | Self::Locks(locks::Report { device, .. })
            | Self::Divergence(divergence::Report { device, .. })
            | Self::Accuracy(accuracy::Report { device, .. })
            | Self::Checked(Checked { device, .. }) => device,
        }
    }
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

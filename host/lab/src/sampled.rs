//! A measured number in JSON.

use crate::bench::Spread;
use crate::display::svg::Estimate;
use serde::{Deserialize, Serialize};

/// The median of several samples, and their range. All null where nothing was measured, as in the
/// emulator. Old results lack the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cycles {
    /// The median, in cycles.
    pub cycles: Option<f64>,
    /// The least sample.
    pub min: Option<f64>,
    /// The greatest sample.
    pub max: Option<f64>,
    /// How many samples there were.
    pub samples: Option<usize>,
}

impl Cycles {
    /// The value with the range of its samples, for a chart.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        Some(ranged(self.cycles?, self.min, self.max))
    }
}

impl From<Spread> for Cycles {
    fn from(spread: Spread) -> Self {
        Self {
            cycles: Some(spread.median),
            min: Some(spread.min),
            max: Some(spread.max),
            samples: Some(spread.samples),
        }
    }
}

/// The median of several samples, and their range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Samples {
    /// The median.
    pub median: f64,
    /// The least sample.
    pub min: f64,
    /// The greatest sample.
    pub max: f64,
    /// How many samples there were.
    pub samples: usize,
}

impl Samples {
    /// The median with the range of the samples, for a chart.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate::between(self.median, self.min, self.max)
    }
}

impl From<Spread> for Samples {
    fn from(Spread { median, min, max, samples, .. }: Spread) -> Self {
        Self { median, min, max, samples }
    }
}

/// A value with the range of its samples, if both ends are known.
#[must_use]
pub fn ranged(value: f64, min: Option<f64>, max: Option<f64>) -> Estimate {
    min.zip(max).map_or(value.into(), |(min, max)| Estimate::between(value, min, max))
}

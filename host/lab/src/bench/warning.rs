//! Warnings about a measurement.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Minimum duration in microseconds of the timed work of a sample. The resolution of events, half a
/// microsecond, is half a percent of it.
pub const SHORTEST_US: f64 = 100.0;

/// Maximum change of the first point from the start to the end of a run, relative to itself.
pub const MOST_DRIFT: f64 = 0.02;

/// A measurement rule that was broken, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Warning {
    /// The samples still scattered after the maximum number of samples.
    Noise {
        /// The relative standard error of the median. Null if it is infinite.
        #[serde(deserialize_with = "or_infinite")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
        uncertainty: f64,
        /// The requested uncertainty.
        allowed: f64,
        /// Number of samples.
        samples: usize,
    },
    /// The same for the peer's samples. The ratio to the peer is at least as uncertain.
    PeerNoise {
        /// The relative standard error of the peer's median. Null if it is infinite.
        #[serde(deserialize_with = "or_infinite")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
        uncertainty: f64,
        /// The requested uncertainty.
        allowed: f64,
        /// Number of samples.
        samples: usize,
    },
    /// The timed work of a sample was so short that the resolution of events matters.
    TooShort {
        /// Measured time, µs.
        us: f64,
        /// Minimum time, µs.
        at_least_us: f64,
    },
    /// The first point of the run had moved when it was measured again at the end. All records of
    /// the run carry this warning: the cause, such as a throttled clock, may have changed them too.
    Drift {
        /// Median at the start, µs.
        before_us: f64,
        /// Median at the end, µs.
        after_us: f64,
        /// Maximum change, relative to itself.
        allowed: f64,
    },
}

impl Warning {
    /// The warning for a sample whose timed work lasted `us` microseconds, if that is too short.
    #[must_use]
    pub fn too_short(us: f64) -> Option<Self> {
        (us < SHORTEST_US).then_some(Self::TooShort { us, at_least_us: SHORTEST_US })
    }

    /// The warning for a point that took `before_us` at the start of a run and `after_us` at its
    /// end, if they differ by more than [`MOST_DRIFT`].
    #[must_use]
    pub fn drift(before_us: f64, after_us: f64) -> Option<Self> {
        ((after_us - before_us).abs() > MOST_DRIFT * before_us).then_some(Self::Drift {
            before_us,
            after_us,
            allowed: MOST_DRIFT,
        })
    }

    /// Name in records.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Noise { .. } => "noise",
            Self::PeerNoise { .. } => "peer-noise",
            Self::TooShort { .. } => "too-short",
            Self::Drift { .. } => "drift",
        }
    }
}

/// A number; JSON has null for infinity.
fn or_infinite<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f64::INFINITY))
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Noise { uncertainty, allowed, samples } => write!(
                f,
                "noise: after {samples} samples the median is known to {:.2} %, not to {:.2} %; leave the device to this run",
                100.0 * uncertainty,
                100.0 * allowed
            ),
            Self::PeerNoise { uncertainty, allowed, samples } => write!(
                f,
                "peer noise: after {samples} samples the peer's median is known to {:.2} %, not to {:.2} %; leave the device to this run",
                100.0 * uncertainty,
                100.0 * allowed
            ),
            Self::TooShort { us, at_least_us } => write!(
                f,
                "too short: {us:.1} µs were timed, where the resolution of events, about half a µs, asks for {at_least_us:.0}"
            ),
            Self::Drift { before_us, after_us, allowed } => write!(
                f,
                "drift: the first point took {before_us:.3} µs at the start and {after_us:.3} µs at the end, {:+.1} % where {:.0} % are allowed; the clock may be throttled, or the device shared: run again",
                100.0 * (after_us / before_us - 1.0),
                100.0 * allowed
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_point_may_drift_by_two_percent_either_way() {
        assert_eq!(Warning::drift(1.0, 1.019), None);
        assert_eq!(Warning::drift(1.0, 0.981), None);
        for after_us in [0.97, 1.03] {
            let warning = Warning::drift(1.0, after_us).expect("3 % are too much");
            assert!(matches!(warning, Warning::Drift { after_us: it, .. } if it == after_us));
        }
    }

    #[test]
    fn a_warning_includes_its_numbers() {
        let warning = Warning::drift(2.0, 2.2).expect("10 % are too much");
        let text = warning.to_string();
        for part in ["2.000", "2.200", "+10.0 %", "2 % are allowed"] {
            assert!(text.contains(part), "{part:?} in {text:?}");
        }
        assert_eq!(Warning::too_short(SHORTEST_US), None);
    }

    #[test]
    fn an_infinite_uncertainty_is_null_in_json() {
        let warning = Warning::PeerNoise { uncertainty: f64::INFINITY, allowed: 0.5, samples: 7 };
        let json =
            json!({ "kind": "peer-noise", "uncertainty": null, "allowed": 0.5, "samples": 7 });
        assert_eq!(serde_json::to_value(warning).ok().as_ref(), Some(&json));
        assert_eq!(serde_json::from_value(json).ok(), Some(warning));
    }
}

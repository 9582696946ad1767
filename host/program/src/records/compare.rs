//! Compares two runs line by line.

use super::{Line, Record, Runs};
use crate::number::Number;
use gridsync_lab::bench::Spread;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The changes from one run to another: the result of `gridsync bench compare`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Comparison {
    /// The lines that both runs have, in order.
    pub lines: Vec<Change>,
    /// Lines that only the run before has.
    pub only_before: Vec<Measured>,
    /// Lines that only the run after has.
    pub only_after: Vec<Measured>,
    /// Number of lines that are slower.
    pub slower: usize,
    /// Number of lines that are faster.
    pub faster: usize,
    /// Number of lines whose change is within the noise.
    pub same: usize,
    /// Number of lines whose noise is not known.
    pub unknown: usize,
    /// The median of the changes in percent. NaN without lines.
    #[serde(serialize_with = "number")]
    #[cfg_attr(feature = "schema", schemars(with = "Number"))]
    pub median_change_percent: f64,
    /// Whether the devices of the two runs differ.
    pub devices_differ: bool,
    /// The devices of the run before and of the run after. Not in the JSON.
    #[serde(skip)]
    pub devices: [Vec<String>; 2],
}

/// What a record measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Measured {
    /// The suite.
    pub suite: String,
    /// The design or variant.
    pub variant: String,
    /// The parameters.
    pub params: Map<String, Value>,
    /// The same as text. Not in the JSON.
    #[serde(skip)]
    pub line: Line,
}

/// A line that both runs have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Change {
    /// What was measured.
    #[serde(flatten)]
    pub what: Measured,
    /// The time in the run before.
    pub before: Time,
    /// The time in the run after.
    pub after: Time,
    /// The change of the time, in percent of the time before.
    #[serde(serialize_with = "number")]
    #[cfg_attr(feature = "schema", schemars(with = "Number"))]
    pub change_percent: f64,
    /// The noise in percent of the time before: the difference between the greatest and the least
    /// sample, of the run in which it is larger.
    #[serde(serialize_with = "number")]
    #[cfg_attr(feature = "schema", schemars(with = "Number"))]
    pub noise_percent: f64,
    /// Whether the line changed.
    pub verdict: Verdict,
}

/// A time of a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Time {
    /// The device.
    pub device: String,
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
}

/// The change of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The second run is slower, by more than the noise.
    Slower,
    /// The second run is faster, by more than the noise.
    Faster,
    /// The difference is within the noise.
    Same,
    /// One of the two has a single sample, so that the noise is not known.
    Unknown,
}

impl Comparison {
    /// Compares the newest record of each line. If each run has one device, lines of different
    /// devices are compared, otherwise only lines of the same device.
    #[must_use]
    pub fn of(first: &Runs, second: &Runs) -> Self {
        let devices = [first, second].map(|runs| {
            let mut devices: Vec<_> =
                runs.records.iter().map(|record| record.device.clone()).collect();
            devices.sort_unstable();
            devices.dedup();
            devices
        });
        let by_device = devices.iter().any(|devices| devices.len() > 1);
        let by_line = |runs: &Runs| -> BTreeMap<(Line, String), Record> {
            let device =
                |record: &Record| if by_device { record.device.clone() } else { String::new() };
            let newest = runs.newest(|_| true).into_iter();
            newest.map(|record| ((record.line(), device(record)), record.what.clone())).collect()
        };
        let (first, mut second) = (by_line(first), by_line(second));
        let (mut lines, mut only_before) = (Vec::new(), Vec::new());
        for (key, first) in first {
            match second.remove(&key) {
                Some(second) => lines.push(Change::of(&first, second)),
                None => only_before.push(first.into()),
            }
        }
        let count = |verdict| lines.iter().filter(|line: &&Change| line.verdict == verdict).count();
        let percents = lines.iter().map(|line| line.change_percent).collect();
        Self {
            slower: count(Verdict::Slower),
            faster: count(Verdict::Faster),
            same: count(Verdict::Same),
            unknown: count(Verdict::Unknown),
            median_change_percent: Spread::of(percents).map_or(f64::NAN, |spread| spread.median),
            devices_differ: devices[0] != devices[1],
            lines,
            only_before,
            only_after: second.into_values().map(Measured::from).collect(),
            devices,
        }
    }

    /// The lines with this verdict, the greatest change first.
    #[must_use]
    pub fn with(&self, verdict: Verdict) -> Vec<&Change> {
        let mut found: Vec<_> =
            self.lines.iter().filter(|change| change.verdict == verdict).collect();
        found.sort_by(|a, b| b.change_percent.abs().total_cmp(&a.change_percent.abs()));
        found
    }
}

impl Change {
    /// The change from `first` to `second`, which measured the same.
    fn of(first: &Record, second: Record) -> Self {
        let percent = 100.0 * (second.median - first.median) / first.median;
        let spread = |record: &Record| record.max - record.min;
        let noise = 100.0 * spread(first).max(spread(&second)) / first.median;
        let verdict = match () {
            () if first.samples.min(second.samples) < 2 => Verdict::Unknown,
            () if percent.abs() <= noise => Verdict::Same,
            () if percent > 0.0 => Verdict::Slower,
            () => Verdict::Faster,
        };
        Self {
            before: first.into(),
            after: (&second).into(),
            what: second.into(),
            change_percent: percent,
            noise_percent: noise,
            verdict,
        }
    }
}

impl From<Record> for Measured {
    fn from(record: Record) -> Self {
        let line = record.line();
        let Record { suite, variant, params, .. } = record;
        Self { suite, variant, params, line }
    }
}

impl From<&Record> for Time {
    fn from(record: &Record) -> Self {
        let Record { median, min, max, samples, .. } = *record;
        Self { device: record.device.clone(), median, min, max, samples }
    }
}

fn number<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    Number::from(*value).serialize(to)
}

impl Verdict {
    /// The verdict as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Source, Sourced};
    use serde_json::json;
    use std::slice::from_ref;
    use std::sync::Arc;

    /// A record with samples from 0.1 µs below to 0.1 µs above the median.
    fn record(variant: &str, device: &str, median: f64) -> Record {
        serde_json::from_value(json!({
            "suite": "barrier", "variant": variant, "device": device, "params": { "blocks": 132 },
            "median": median, "min": median - 0.1, "max": median + 0.1, "samples": 7,
        }))
        .expect("a record")
    }

    fn runs(records: &[Record]) -> Runs {
        let source = Arc::new(Source { path: "runs.jsonl".into(), date: None });
        let with_source = |what: &Record| Sourced { what: what.clone(), source: source.clone() };
        Runs { records: records.iter().map(with_source).collect(), ..Runs::default() }
    }

    #[test]
    fn only_a_change_beyond_both_spreads_counts() {
        let verdict = |first: f64, second: Record| {
            let compared = Comparison::of(&runs(&[record("grid", "a", first)]), &runs(&[second]));
            compared.lines[0].verdict
        };
        assert_eq!(verdict(2.0, record("grid", "a", 2.19)), Verdict::Same);
        assert_eq!(verdict(2.0, record("grid", "a", 2.21)), Verdict::Slower);
        assert_eq!(verdict(2.0, record("grid", "a", 1.79)), Verdict::Faster);
        let mut noisy = record("grid", "a", 3.0);
        noisy.max = 9.0;
        assert_eq!(verdict(2.0, noisy), Verdict::Same);
        let mut once = record("grid", "a", 3.0);
        once.samples = 1;
        assert_eq!(verdict(2.0, once), Verdict::Unknown);
    }

    #[test]
    fn changes_are_sorted_and_lines_of_only_one_run_are_listed() {
        let first = [("grid", 1.0), ("split", 1.0), ("gone", 1.0)];
        let second = [("grid", 2.0), ("split", 3.0), ("new", 1.0)];
        let [first, second] =
            [first, second].map(|lines| runs(&lines.map(|(variant, us)| record(variant, "a", us))));
        let compared = Comparison::of(&first, &second);
        let slower: Vec<_> =
            compared.with(Verdict::Slower).iter().map(|c| c.change_percent).collect();
        assert_eq!(slower, [200.0, 100.0]);
        assert_eq!((compared.only_before.len(), compared.only_after.len()), (1, 1));
        assert_eq!(compared.only_after[0].variant, "new");
        assert!(!compared.devices_differ);
    }

    #[test]
    fn only_runs_of_one_device_are_compared_across_devices() {
        let [a, b] = ["a", "b"].map(|device| record("grid", device, 1.0));
        let one = Comparison::of(&runs(from_ref(&a)), &runs(from_ref(&b)));
        assert_eq!(one.lines.len(), 1);
        assert_eq!(one.devices, [vec!["a".to_owned()], vec!["b".to_owned()]]);
        let several = Comparison::of(&runs(&[a, b.clone()]), &runs(&[b]));
        assert_eq!((several.lines.len(), several.only_before.len()), (1, 1));
    }
}

//! Compares two runs line by line.

use super::{Line, Record, Runs};
use std::collections::BTreeMap;

/// The changes from a first run to a second one.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The lines that both runs have, in order.
    pub changes: Vec<Change>,
    /// Lines that only the first run has.
    pub only_first: Vec<Record>,
    /// Lines that only the second run has.
    pub only_second: Vec<Record>,
    /// The devices of the first and the second run, if they differ.
    pub devices: Option<[Vec<String>; 2]>,
}

/// A line that both runs have.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The line.
    pub line: Line,
    /// The record in the first run.
    pub first: Record,
    /// The record in the second run.
    pub second: Record,
}

/// The change of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let (mut changes, mut only_first) = (Vec::new(), Vec::new());
        for (key, first) in first {
            match second.remove(&key) {
                Some(second) => changes.push(Change { line: key.0, first, second }),
                None => only_first.push(first),
            }
        }
        Self {
            changes,
            only_first,
            only_second: second.into_values().collect(),
            devices: (devices[0] != devices[1]).then_some(devices),
        }
    }

    /// The lines with this verdict, the greatest change first.
    #[must_use]
    pub fn with(&self, verdict: Verdict) -> Vec<&Change> {
        let mut found: Vec<_> =
            self.changes.iter().filter(|change| change.verdict() == verdict).collect();
        found.sort_by(|a, b| b.percent().abs().total_cmp(&a.percent().abs()));
        found
    }
}

impl Change {
    /// The change of the time, in percent of the first.
    #[must_use]
    pub fn percent(&self) -> f64 {
        100.0 * (self.second.median - self.first.median) / self.first.median
    }

    /// The noise in percent of the first time: the difference between the greatest and the least
    /// sample, of the run in which it is larger.
    #[must_use]
    pub fn noise(&self) -> f64 {
        let spread = |record: &Record| record.max - record.min;
        100.0 * spread(&self.first).max(spread(&self.second)) / self.first.median
    }

    /// Whether the line changed.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let percent = self.percent();
        match () {
            () if self.first.samples.min(self.second.samples) < 2 => Verdict::Unknown,
            () if percent.abs() <= self.noise() => Verdict::Same,
            () if percent > 0.0 => Verdict::Slower,
            () => Verdict::Faster,
        }
    }
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
            compared.changes[0].verdict()
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
        let slower: Vec<_> = compared.with(Verdict::Slower).iter().map(|c| c.percent()).collect();
        assert_eq!(slower, [200.0, 100.0]);
        assert_eq!((compared.only_first.len(), compared.only_second.len()), (1, 1));
        assert_eq!(compared.only_second[0].variant, "new");
        assert_eq!(compared.devices, None);
    }

    #[test]
    fn only_runs_of_one_device_are_compared_across_devices() {
        let [a, b] = ["a", "b"].map(|device| record("grid", device, 1.0));
        let one = Comparison::of(&runs(from_ref(&a)), &runs(from_ref(&b)));
        assert_eq!(one.changes.len(), 1);
        assert_eq!(one.devices, Some([vec!["a".to_owned()], vec!["b".to_owned()]]));
        let several = Comparison::of(&runs(&[a, b.clone()]), &runs(&[b]));
        assert_eq!((several.changes.len(), several.only_first.len()), (1, 1));
    }
}

//! The most important lines, for the top of the page and the README.

use crate::records::{Record, Runs, Sourced};
use serde_json::Value;
use std::fmt::Write as _;

/// A line of gridsync and its peer.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Description of the measurement.
    pub what: &'static str,
    /// The peer, and the operation of it that was measured.
    pub peer: &'static str,
    /// Its record.
    pub record: Sourced<Record>,
}

/// A headline, shown if it was measured.
struct Wanted {
    what: &'static str,
    peer: &'static str,
    suite: &'static str,
    variant: &'static str,
    /// Parameters, and their values in JSON.
    params: &'static [(&'static str, &'static str)],
}

/// The only mode of CUB in sorts and scans. Other modes are calls of libraries.
const OF_CUB: (&str, &str) = ("peer_mode", "\"default\"");

/// Sums of f32.
const REDUCE: Wanted = Wanted {
    what: "",
    peer: "CUB, `DeviceReduce::Sum`",
    suite: "reduce",
    variant: "tiles",
    params: &[],
};
/// Inclusive sums of f32.
const SCAN: Wanted = Wanted {
    what: "",
    peer: "CUB, `DeviceScan::InclusiveSum`",
    suite: "scan",
    variant: "auto",
    params: &[],
};

const WANTED: [Wanted; 8] = [
    Wanted {
        what: "a barrier of 132 blocks of 256 threads",
        peer: "cooperative groups, `grid.sync()`",
        suite: "barrier",
        variant: "grid",
        params: &[("blocks", "132"), ("threads", "256")],
    },
    Wanted {
        what: "a barrier of 528 blocks",
        peer: "cooperative groups, `grid.sync()`",
        suite: "barrier",
        variant: "grid",
        params: &[("blocks", "528"), ("threads", "256")],
    },
    Wanted {
        what: "one number of each of 132 blocks combined, in every block",
        peer: "cooperative groups, `grid.sync()`",
        suite: "all-reduce",
        variant: "exchange",
        params: &[("blocks", "132"), ("threads", "256")],
    },
    Wanted {
        what: "sum of 2^28 f32",
        params: &[
            ("op", "\"sum\""),
            ("dtype", "\"f32\""),
            ("n", "268435456"),
            ("calls", "1"),
            ("peer_mode", "\"run_to_run\""),
        ],
        ..REDUCE
    },
    Wanted {
        what: "sum of 2^16 f32, until the host has it",
        peer: "CUB, and a copy",
        suite: "calls",
        variant: "value",
        params: &[("op", "\"sum\""), ("dtype", "\"f32\""), ("n", "65536")],
    },
    Wanted {
        what: "inclusive sums of 2^20 f32, of many calls in a row",
        params: &[("dtype", "\"f32\""), ("n", "1048576"), ("calls", "256"), OF_CUB],
        ..SCAN
    },
    Wanted {
        what: "inclusive sums of 2^28 f32",
        params: &[("dtype", "\"f32\""), ("n", "268435456"), ("calls", "1"), OF_CUB],
        ..SCAN
    },
    Wanted {
        what: "sort of 2^28 f32",
        peer: "CUB, `DeviceRadixSort`",
        suite: "sort",
        variant: "radix",
        params: &[("op", "\"keys\""), ("dtype", "\"f32\""), ("n", "268435456"), OF_CUB],
    },
];

impl Wanted {
    fn is(&self, record: &Record) -> bool {
        let has = |(name, value): &(&str, &str)| {
            record.params.get(*name).is_some_and(|has| Value::to_string(has) == *value)
        };
        (self.suite, self.variant) == (&record.suite, &record.variant)
            && self.params.iter().all(has)
    }
}

/// The headlines of one device that were measured with a peer. A record with a warning is skipped
/// if an older one has none.
#[must_use]
pub fn headlines(runs: &Runs, device: &str) -> Vec<Headline> {
    let headline = |wanted: &Wanted| {
        let is_wanted =
            |record: &Record| record.device == device && record.peer.is_some() && wanted.is(record);
        let all: Vec<_> = runs.records.iter().filter(|record| is_wanted(record)).collect();
        let without_warning = all.iter().rfind(|record| record.warnings.is_empty());
        let newest = *without_warning.or(all.last())?;
        Some(Headline { what: wanted.what, peer: wanted.peer, record: newest.clone() })
    };
    WANTED.iter().filter_map(headline).collect()
}

/// The headlines as a Markdown table. The noise is the difference between the greatest and the
/// least sample of gridsync, in percent of the median.
#[must_use]
pub fn markdown(headlines: &[Headline], device: &str) -> String {
    let mut table = format!(
        "| µs on an {device} | gridsync | CUDA C++ in the same run | noise | |\n|---|---|---|---|---|\n"
    );
    let mut above = "";
    for Headline { what, peer, record } in headlines {
        // A peer is named only in its first row.
        let name = if *peer == above { "" } else { *peer };
        let theirs = record.peer.as_ref().map_or(f64::NAN, |peer| peer.median);
        let [ours, theirs] = [record.median, theirs].map(short);
        let end = if name.is_empty() { "|" } else { " |" };
        let noise = 100.0 * (record.max - record.min) / record.median;
        writeln!(table, "| {what} | {ours} | {theirs} | {noise:.1} % | {name}{end}")
            .expect("a string takes all");
        above = peer;
    }
    table
}

/// A time in µs: two decimals below 5, one below 100.
pub(super) fn short(us: f64) -> String {
    let decimals = match us {
        ..4.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{us:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Source;
    use serde_json::json;
    use std::sync::Arc;

    fn barrier(blocks: u32, median: f64, peer: Option<f64>) -> Sourced<Record> {
        let record = json!({
            "suite": "barrier", "variant": "grid", "device": "a GPU",
            "params": { "blocks": blocks, "threads": 256 }, "median": median, "min": 0.98 * median,
            "max": 1.01 * median, "samples": 7,
            "peer": peer.map(|median| json!({ "name": "grid.sync", "median": median })),
        });
        Sourced {
            what: serde_json::from_value(record).expect("a record"),
            source: Arc::new(Source { path: "runs.jsonl".into(), date: None }),
        }
    }

    #[test]
    fn headlines_show_the_newest_records_and_name_each_peer_once() {
        let records = vec![
            barrier(132, 0.9, Some(1.0)),
            barrier(132, 0.814, Some(0.985)),
            barrier(132, 0.7, None),
            barrier(528, 0.88, Some(1.2345)),
            barrier(33, 0.5, Some(1.0)),
        ];
        let runs = Runs { records, ..Runs::default() };
        let table = markdown(&headlines(&runs, "a GPU"), "a GPU");
        let rows: Vec<_> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| a barrier of 132 blocks of 256 threads | 0.81 | 0.98 | 3.0 % | cooperative groups, `grid.sync()` |",
                "| a barrier of 528 blocks | 0.88 | 1.23 | 3.0 % | |",
            ]
        );
        assert!(headlines(&runs, "another GPU").is_empty());
    }

    #[test]
    fn a_time_has_as_many_digits_as_it_needs() {
        assert_eq!([0.814, 5.76, 37.84, 691.2].map(short), ["0.81", "5.8", "37.8", "691"]);
    }
}

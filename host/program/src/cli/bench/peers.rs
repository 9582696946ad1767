//! `gridsync bench peers`: lists the lines of runs that are slower than their peers.

use super::Global;
use crate::cli::exit::Wrong;
use crate::cli::output;
use crate::number::Number;
use crate::records::{Peer, Record, Runs};
use gridsync_lab::display::table;
use serde_json::{Value, json};
use std::path::PathBuf;

/// List what takes longer than its peer in the same run
///
/// A line is beyond the noise if even its least sample is above the peer's median.
#[derive(clap::Args)]
pub(super) struct Peers {
    /// Files of records, or folders of such files.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Exit with 1 if there is a line beyond the noise.
    #[arg(long)]
    fail: bool,
}

/// A line that is slower than its peer.
struct Slower {
    record: Record,
    peer: Peer,
}

impl Slower {
    /// The line, if it is slower than its peer.
    fn of(record: &Record) -> Option<Self> {
        let peer = record.peer.clone().filter(|peer| record.median > peer.median)?;
        Some(Self { record: record.clone(), peer })
    }

    fn ratio(&self) -> f64 {
        self.record.median / self.peer.median
    }

    fn is_beyond_noise(&self) -> bool {
        self.record.min > self.peer.median
    }
}

impl Peers {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let runs = Runs::read(&self.runs)?;
        let newest = runs.newest(|record| record.peer.is_some());
        let mut slower: Vec<_> =
            newest.iter().filter_map(|record| Slower::of(&record.what)).collect();
        slower.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
        let lines = newest.len();
        output::result(global, || text(&slower, lines), || as_json(&slower, lines))?;
        let beyond = slower.iter().filter(|slower| slower.is_beyond_noise()).count();
        if self.fail && beyond > 0 {
            return Err(Wrong(format!(
                "{beyond} of {lines} lines take longer than their peers, beyond the noise"
            ))
            .into());
        }
        Ok(())
    }
}

fn text(slower: &[Slower], lines: usize) -> String {
    let summary = format!("{} of {lines} lines take longer than their peers", slower.len());
    if slower.is_empty() {
        return summary;
    }
    let mut table = table();
    table.set_header(["slower than its peer", "µs", "peer", "ratio", ""]);
    for slower in slower {
        table.add_row([
            slower.record.line().to_string(),
            format!("{:.3}", slower.record.median),
            format!("{:.3}", slower.peer.median),
            format!("{:.3}", slower.ratio()),
            if slower.is_beyond_noise() { String::new() } else { "within the noise".into() },
        ]);
    }
    format!("{table}\n\n{summary}")
}

fn as_json(slower: &[Slower], lines: usize) -> Value {
    let line = |slower: &Slower| {
        let Record { suite, variant, params, device, median, min, .. } = &slower.record;
        json!({
            "line": slower.record.line().to_string(),
            "suite": suite, "variant": variant, "params": params, "device": device,
            "median": median, "min": min, "peer": slower.peer.name, "peer_median": slower.peer.median,
            "ratio": Number::from(slower.ratio()), "beyond_noise": slower.is_beyond_noise(),
        })
    };
    json!({ "lines": lines, "slower": slower.iter().map(line).collect::<Value>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(median: f64, min: f64, peer: Option<f64>) -> Record {
        let peer = peer.map(|median| json!({ "name": "cub", "median": median }));
        serde_json::from_value(json!({
            "suite": "reduce", "variant": "tiles", "device": "a", "params": { "n": 4096 },
            "median": median, "min": min, "max": median, "samples": 7, "peer": peer,
        }))
        .expect("a record")
    }

    #[test]
    fn lines_slower_than_their_peer_are_listed_with_noise() {
        let of = |median, min, peer| Slower::of(&record(median, min, peer));
        assert!(of(2.0, 2.0, None).is_none() && of(2.0, 2.0, Some(2.0)).is_none());
        let noisy = of(2.0, 1.8, Some(1.9)).expect("slower");
        let slower = of(3.0, 2.9, Some(2.0)).expect("slower");
        assert!(!noisy.is_beyond_noise() && slower.is_beyond_noise());
        let text = text(&[slower, noisy], 9);
        assert!(text.contains("1.500") && text.contains("within the noise"), "{text}");
        assert!(text.ends_with("2 of 9 lines take longer than their peers"), "{text}");
    }
}

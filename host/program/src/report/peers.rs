//! All lines that were measured with a peer, and a summary for each suite.

use super::Of;
use crate::records::{Record, Sourced};
use gridsync_lab::bench::plain_mode;

/// The comparison of a suite with a peer, over all of its lines.
pub(super) struct Summary {
    /// The suite.
    pub(super) suite: String,
    /// The peer, and its mode if it has one.
    pub(super) peer: String,
    /// The times divided by the peer's, sorted. There is at least one.
    pub(super) ratios: Vec<f64>,
}

impl Summary {
    /// The number of lines in which gridsync is faster.
    pub(super) fn faster(&self) -> usize {
        self.ratios.iter().filter(|ratio| **ratio < 1.0).count()
    }

    /// The median ratio.
    pub(super) fn median(&self) -> f64 {
        self.ratios[self.ratios.len() / 2]
    }

    /// The least and the greatest ratio.
    pub(super) fn ends(&self) -> [f64; 2] {
        [self.ratios[0], self.ratios[self.ratios.len() - 1]]
    }
}

/// Whether this is the default design. Suites measure other designs only to compare them with it.
fn is_the_default(record: &Record) -> bool {
    match record.suite.as_str() {
        "barrier" => record.variant == "grid",
        "all-reduce" | "scan-threads" => record.variant == "exchange",
        "scan" | "kendall" => record.variant == "auto",
        _ => true,
    }
}

/// A row for each suite and peer, in the order of measurement.
pub(super) fn summaries(of: &Of<'_>) -> Vec<Summary> {
    let mut summaries: Vec<Summary> = Vec::new();
    for record in of.compared.iter().filter(|record| is_the_default(record)) {
        let (Some(ratio), Some(peer)) = (record.ratio(), peer(record)) else { continue };
        let of_both = |row: &&mut Summary| row.suite == record.suite && row.peer == peer;
        match summaries.iter_mut().find(of_both) {
            Some(row) => row.ratios.push(ratio),
            None => {
                summaries.push(Summary { suite: record.suite.clone(), peer, ratios: vec![ratio] });
            }
        }
    }
    summaries.iter_mut().for_each(|row| row.ratios.sort_by(f64::total_cmp));
    summaries
}

/// All lines with a peer, sorted by suite and variant.
pub(super) fn lines<'a>(of: &Of<'a>) -> Vec<&'a Sourced<Record>> {
    let mut lines = of.compared.clone();
    lines.sort_by_cached_key(|record| (record.suite.clone(), record.variant.clone()));
    lines
}

/// The peer of a record. With a mode such as CUB's `gpu_to_gpu`, it counts as another peer.
fn peer(record: &Record) -> Option<String> {
    let name = &record.peer.as_ref()?.name;
    Some(match record.word("peer_mode").map(plain_mode) {
        Some(mode) if mode.contains("_to_") => format!("{name}, {}", mode.replace('_', " ")),
        _ => name.clone(),
    })
}

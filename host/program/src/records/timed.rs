//! Reads the JSON of commands that contains times, and converts it to records.

use super::Record;
use gridsync_lab::{dag, ladder, launches};
use serde::Deserialize;

/// The JSON of a command that contains times.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Timed {
    Dag(dag::Report),
    Ladder(ladder::Report),
    Launches(launches::Comparison),
}

impl Timed {
    /// The times as records.
    pub(super) fn records(&self) -> Vec<Record> {
        match self {
            Self::Dag(dag) => dag.records(),
            Self::Ladder(ladder) => ladder.records(),
            Self::Launches(launches) => launches.records(None),
        }
    }
}

//! Reads records of earlier runs, for the report and to compare two runs.
//!
//! A record is a line that `gridsync bench`, a ladder or `lab launches` has written ([`Record`]).
//! The JSON of `dag`, of the ladders and of `lab launches` also contains times, which become
//! records. The JSON of other experiments is a [`Document`].
//!
//! Records have no date, so that [`Runs`] uses the date in the name of the folder, as in
//! `2026-11-23-nvidia-h200`. If a [`Line`] has several records, the last is the newest: sorted by
//! date, then by the order of the command line, then by the name of the file, then within the file.

mod compare;
mod document;
mod error;
mod machine;
mod runs;
mod timed;

pub use compare::{Change, Comparison, Measured, Time, Verdict};
pub use document::{Check, Checked, Document};
pub use error::RecordsError;
pub use gridsync_lab::bench::{Line, Peer, Record};
pub use machine::{Fact, Machine};
pub use runs::{Runs, Source, Sourced};

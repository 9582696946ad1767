//! Records of earlier runs, read back: for the report, and to compare two runs.
//!
//! A record is a line that `gridsync bench`, a ladder or `lab launches` has written ([`Recorded`]).
//! The JSON of `dag`, of the ladders and of `lab launches` has times too, which become records. The
//! JSON of other experiments is a [`Document`].
//!
//! Records have no date. So [`Runs`] takes it from the name of the folder, as in
//! `2026-11-23-nvidia-h200`, and of several records of one [`Line`] the last is the newest: by date,
//! then in the order of the call, then by the name of the file, then in the file.

mod compare;
mod document;
mod error;
mod machine;
mod recorded;
mod runs;
mod timed;

pub use compare::{Change, Comparison, Verdict};
pub use document::{
    Accuracy, Atomics, Check, Checked, Curve, Dealt, Divergence, Document, Ends, Increment,
    Latency, Lock, Locks, Memory, Paths, Point, Reading, Summed, Sums, Time,
};
pub use error::RecordsError;
pub use machine::{Fact, Machine};
pub use recorded::{Line, Recorded, RecordedPeer};
pub use runs::{Runs, Source, Sourced};

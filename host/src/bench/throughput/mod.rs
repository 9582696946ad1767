//! Suites of throughputs: a primitive over operations, element types and lengths, beside a peer and
//! beside what it takes only to read the input.

mod cold;
mod inputs;

use super::{
    Answers, Measurement, Peer, PeerError, PeerProgram, Record, Sampling, Spread, Warning,
};
use crate::data::Dtype;
use crate::device::{Device, DeviceError};
use cold::Plan;
pub(super) use cold::time_cold;
use inputs::bytes;
pub(super) use inputs::{Element, Stock};
use serde_json::json;
use std::collections::HashSet;

/// Lengths of arrays from where a launch is all that counts to where memory is.
pub const SIZES: [usize; 8] = [
    1 << 10,
    1 << 12,
    1 << 16,
    1 << 20,
    1 << 24,
    1 << 28,
    1 << 30,
    1 << 32,
];

/// What the read ceiling is called: its variant and its operation.
pub const READ: &str = "read";

/// A primitive over operations and element types, and who else does it.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// What it is called.
    pub name: &'static str,
    /// What is measured: a new operation or element type is a line in its table.
    pub cases: &'static [Case],
    /// Lengths that are measured unless others are asked for.
    pub sizes: &'static [usize],
    pub(super) peer: PeerProgram,
}

/// An operation on elements of one type, by one of our kernels.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What the kernel is called in a record.
    pub variant: &'static str,
    /// The operation.
    pub op: &'static str,
    /// The type of the elements.
    pub dtype: Dtype,
    /// The modes of the peer that it is measured beside.
    pub(super) peer_modes: &'static [&'static str],
    pub(super) measure: Measure,
}

/// Measures a case.
pub(super) type Measure = fn(&mut Bench<'_>, &Load) -> Result<Measurement, DeviceError>;

/// What a case is measured with.
pub(super) struct Bench<'a> {
    pub(super) device: &'a Device,
    pub(super) sampling: &'a Sampling,
    pub(super) stock: Stock,
}

/// What a case is measured at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Elements of an input.
    pub(super) n: usize,
    pub(super) plan: Plan,
}

/// What the peer took, and what it said of what it could not do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerTimes(Answers);

impl PeerTimes {
    /// Why something was not measured, in the peer's words, each once.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }
}

/// What a run of the suite gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughputs {
    /// By element type, then by length: the read ceiling if a peer was asked, of the variant `read`;
    /// then the cases, each with a record for every mode of the peer that answered, or with one
    /// without a peer.
    pub records: Vec<Record>,
    /// What did not fit in the device's memory.
    pub too_large: Vec<TooLarge>,
}

/// A length that does not fit in the device's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct TooLarge {
    /// The type of the elements.
    pub dtype: Dtype,
    /// How many there are.
    pub n: usize,
    /// [`DeviceError::OutOfMemory`].
    pub error: DeviceError,
}

impl Throughput {
    /// What the suite's peer is called.
    #[must_use]
    pub fn peer(&self) -> &'static str {
        self.peer.name
    }

    /// What the suite's peer takes for `cases`, which are of this suite, at each of `sizes`, by the
    /// same plan and the same sampling; and what only reading takes. `l2_bytes` is the L2 of the
    /// device.
    ///
    /// # Errors
    /// [`PeerError`], as it says.
    pub fn peers(
        &self,
        cases: &[Case],
        sizes: &[usize],
        l2_bytes: u32,
        sampling: &Sampling,
    ) -> Result<PeerTimes, PeerError> {
        let mut questions = Vec::new();
        for (dtype, n) in lengths(cases, sizes) {
            for plan in plans(dtype, n, l2_bytes) {
                questions.push(read_question(bytes(dtype, n), &plan));
                let of_type = cases.iter().filter(|case| case.dtype == dtype);
                questions.extend(of_type.flat_map(|case| {
                    let modes = case.peer_modes.iter();
                    modes.map(move |mode| case.question(mode, n, &plan))
                }));
            }
        }
        // Types of one size have one read ceiling.
        let mut asked = HashSet::new();
        questions.retain(|question| asked.insert(question.clone()));
        self.peer.ask(&[], sampling, &questions).map(PeerTimes)
    }

    /// Measures `cases`, which are of this suite, at each of `sizes`: µs of device time of one call,
    /// by the rules of [`bench`](super). `step` hears of each point before it is measured. `peers`
    /// has what the peer took, as [`peers`](Self::peers) says.
    ///
    /// At the end the first point is measured again. If it has moved, every record of ours says so:
    /// [`Warning::Drift`].
    ///
    /// # Errors
    /// Those of the device, but for memory that does not suffice.
    ///
    /// # Panics
    /// As [`Sampling::measure`] does.
    pub fn run(
        &self,
        device: &Device,
        cases: &[Case],
        sizes: &[usize],
        peers: &PeerTimes,
        sampling: &Sampling,
        mut step: impl FnMut(&Case, usize),
    ) -> Result<Throughputs, DeviceError> {
        let l2_bytes = device.properties().l2_bytes;
        let mut bench = Bench {
            device,
            sampling,
            stock: Stock::default(),
        };
        let (mut records, mut too_large) = (Vec::new(), Vec::new());
        let mut first = None;
        for (dtype, n) in lengths(cases, sizes) {
            'plans: for plan in plans(dtype, n, l2_bytes) {
                let load = Load { n, plan };
                records.extend(self.read_ceiling(&bench, dtype, &load, peers));
                for case in cases.iter().filter(|case| case.dtype == dtype) {
                    step(case, n);
                    let measured = match (case.measure)(&mut bench, &load) {
                        Err(error @ DeviceError::OutOfMemory { .. }) => {
                            too_large.push(TooLarge { dtype, n, error });
                            break 'plans;
                        }
                        measured => measured?,
                    };
                    first.get_or_insert((case, load, measured.time.median));
                    records.extend(self.records(&bench, case, &load, &measured, peers));
                }
            }
        }
        if let Some((case, load, before)) = first
            && let Some(drift) =
                Warning::drift(before, (case.measure)(&mut bench, &load)?.time.median)
        {
            let ours = records.iter_mut().filter(|record| record.variant != READ);
            ours.for_each(|record| record.warnings.push(drift));
        }
        Ok(Throughputs { records, too_large })
    }

    /// The record of what only reading so much takes, if the peer was asked.
    fn read_ceiling(
        &self,
        bench: &Bench<'_>,
        dtype: Dtype,
        load: &Load,
        peers: &PeerTimes,
    ) -> Option<Record> {
        let properties = bench.device.properties();
        let bytes = bytes(dtype, load.n);
        let time = *peers.0.times.get(&read_question(bytes, &load.plan))?;
        Some(Record {
            suite: self.name,
            variant: READ,
            device: properties.name.clone(),
            params: json!({
                "op": READ,
                "dtype": dtype.name(),
                "n": load.n,
                "calls": load.plan.calls,
                "peer_mode": null,
            }),
            time,
            bytes: Some(bytes),
            peer: None,
            warnings: bench.sampling.noise(&time).into_iter().collect(),
        })
    }

    /// A record for each mode of the peer that answered, or one without a peer.
    fn records(
        &self,
        bench: &Bench<'_>,
        case: &Case,
        load: &Load,
        measured: &Measurement,
        peers: &PeerTimes,
    ) -> Vec<Record> {
        let properties = bench.device.properties();
        let record = |mode: Option<&str>, peer: Option<&Spread>| {
            let mut warnings = measured.warnings.clone();
            warnings.extend(peer.and_then(|time| bench.sampling.peer_noise(time)));
            Record {
                suite: self.name,
                variant: case.variant,
                device: properties.name.clone(),
                params: json!({
                    "op": case.op,
                    "dtype": case.dtype.name(),
                    "n": load.n,
                    "calls": load.plan.calls,
                    "peer_mode": mode,
                }),
                time: measured.time,
                bytes: Some(bytes(case.dtype, load.n)),
                peer: peer.map(|time| Peer {
                    name: self.peer.name,
                    median: time.median,
                }),
                warnings,
            }
        };
        let beside = |&mode: &&'static str| {
            let question = case.question(mode, load.n, &load.plan);
            let time = peers.0.times.get(&question)?;
            Some(record(Some(mode), Some(time)))
        };
        let records: Vec<Record> = case.peer_modes.iter().filter_map(beside).collect();
        if records.is_empty() {
            return vec![record(None, None)];
        }
        records
    }
}

impl Case {
    /// The line that asks the peer for this in one of its modes: `OP DTYPE MODE N CALLS SAMPLE_US`.
    fn question(&self, mode: &str, n: usize, plan: &Plan) -> String {
        let Plan { calls, sample_us } = plan;
        let (op, dtype) = (self.op, self.dtype.name());
        format!("{op} {dtype} {mode} {n} {calls} {sample_us}")
    }
}

/// The line that asks the peer what only reading so many bytes takes.
fn read_question(bytes: u64, plan: &Plan) -> String {
    let Plan { calls, sample_us } = plan;
    format!("{READ} u8 plain {bytes} {calls} {sample_us}")
}

/// How inputs of a length are timed, one way after the other.
fn plans(dtype: Dtype, n: usize, l2_bytes: u32) -> [Plan; 2] {
    [Plan::in_a_row(bytes(dtype, n), l2_bytes), Plan::ALONE]
}

/// Each element type of `cases` with each of `sizes`, in their order: cases that share a type share
/// their inputs.
fn lengths(cases: &[Case], sizes: &[usize]) -> Vec<(Dtype, usize)> {
    let mut dtypes = Vec::new();
    for case in cases {
        if !dtypes.contains(&case.dtype) {
            dtypes.push(case.dtype);
        }
    }
    dtypes
        .into_iter()
        .flat_map(|dtype| sizes.iter().map(move |&n| (dtype, n)))
        .collect()
}

#[cfg(test)]
mod tests;

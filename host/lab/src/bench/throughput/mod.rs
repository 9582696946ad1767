//! Suites of throughputs: a primitive with several operations, element types and lengths, compared
//! with a peer and with a kernel that only moves the bytes.

mod cold;
mod inputs;
mod peers;

use super::library::Call;
use super::{Measurement, Peer, PeerProgram, PeerScript, Record, Sampling, Spread, Step, Warning};
use cold::Plan;
pub(super) use cold::time_cold;
use gridsync::device::{Device, DeviceError};
use gridsync_verify::Dtype;
use inputs::bytes;
pub(super) use inputs::{Element, ExactSums, Stock, Values};
pub use peers::PeerTimes;
pub use peers::plain_mode;
use serde_json::{Value, json};

/// Lengths of arrays. At the first, the launch dominates the time, at the last the memory.
pub const SIZES: [usize; 8] =
    [1 << 10, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 30, 1 << 32];

/// The minimum memory traffic of a primitive, which bounds its time from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ceiling {
    /// Reads its input.
    Read,
    /// Reads both of its inputs.
    ReadBoth,
    /// Reads its input and writes as much.
    Copy,
}

impl Ceiling {
    /// Name in records: variant and operation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read | Self::ReadBoth => "read",
            Self::Copy => "copy",
        }
    }

    /// Bytes that are moved for an input of `bytes` bytes.
    const fn moved(self, bytes: u64) -> u64 {
        match self {
            Self::Read => bytes,
            Self::ReadBoth | Self::Copy => 2 * bytes,
        }
    }
}

/// A primitive with several operations and element types, and its peers on the GPU and on the CPU. Calls
/// of libraries are peers too (see the module `library`).
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// Name.
    pub name: &'static str,
    /// The cases. To add an operation or element type, add a line to the table.
    pub cases: &'static [Case],
    /// Lengths that are measured unless others are requested.
    pub sizes: &'static [usize],
    /// The ceiling that the times are compared with.
    pub ceiling: Ceiling,
    /// The peer in CUDA C++.
    pub peer: Option<PeerProgram>,
    pub(super) on_cpu: Option<OnCpu>,
}

/// A peer on the CPU. It has a single record, which shows the distance between GPU and CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnCpu {
    pub(super) peer: PeerScript,
    pub(super) op: &'static str,
    pub(super) dtype: Dtype,
    /// The peer is measured at the largest length up to this one.
    pub(super) longest: usize,
}

/// An operation on elements of one type, by one of our kernels.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Name of the kernel in records.
    pub variant: &'static str,
    /// Operation.
    pub op: &'static str,
    /// Element type.
    pub dtype: Dtype,
    /// Bytes that it writes, as a percentage of its input, if the ceiling differs from that.
    written: Option<u64>,
    /// Whether only one call alone is measured, not many in a row.
    is_alone: bool,
    /// The modes of the peer to compare with.
    pub peer_modes: &'static [&'static str],
    pub(super) measure: Measure,
}

/// Measures a case. `None` if the case does not exist at that length.
pub(super) type Measure = fn(&mut Bench<'_>, &Load) -> Result<Option<Measurement>, MeasureError>;

/// Why a case could not be measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasureError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The result is wrong.
    #[error("{0}")]
    Wrong(String),
}

/// Everything that a case needs for measuring.
pub(super) struct Bench<'a> {
    pub(super) device: &'a Device,
    pub(super) sampling: &'a Sampling,
    pub(super) stock: Stock,
}

impl Bench<'_> {
    /// The time of a peer, with a warning if its median is not known well enough.
    fn of_peer(&self, time: Spread) -> Measurement {
        Measurement { time, warnings: self.sampling.noise(&time).into_iter().collect() }
    }
}

/// The work of a measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Elements of an input.
    pub(super) n: usize,
    pub(super) plan: Plan,
}

/// The result of a run of the suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughputs {
    /// Ordered by element type, then by length. First the ceiling if the peer measured it, with the
    /// variant [`Ceiling::name`], then the peer on the CPU, under its own name. Then the cases,
    /// each with a record for every mode of the peer that answered, or one record without a peer.
    pub records: Vec<Record>,
    /// The lengths that did not fit in the device's memory.
    pub too_large: Vec<TooLarge>,
}

/// A length that does not fit in the device's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct TooLarge {
    /// Element type.
    pub dtype: Dtype,
    /// Number of elements.
    pub n: usize,
    /// [`DeviceError::OutOfMemory`].
    pub error: DeviceError,
}

impl Load {
    /// Whether to check the results, which needs seconds, in this measurement. It is done once for
    /// each case and length, where one call is measured alone.
    pub(super) fn is_checked(&self) -> bool {
        self.plan == Plan::ALONE
    }
}

impl Throughput {
    /// The two ways in which inputs of a length are timed, in order.
    fn plans(&self, dtype: Dtype, n: usize, l2_bytes: u32) -> [Plan; 2] {
        let moved = self.ceiling.moved(bytes(dtype, n));
        [Plan::in_a_row(moved, l2_bytes), Plan::ALONE]
    }

    /// Measures `cases`, which belong to this suite, at each of `sizes`: µs of device time of one
    /// call, by the rules of [`bench`](super). Calls `step` before each point and after each
    /// record. `peers` has the times of the peers, from [`peers`](Self::peers).
    ///
    /// At the end the first point is measured again. If it moved, every record of ours gets a
    /// [`Warning::Drift`].
    ///
    /// # Errors
    /// [`MeasureError::Wrong`] if a checked result is wrong; or if the device fails, except by lack
    /// of memory.
    ///
    /// # Panics
    /// If [`Sampling::measure`] panics.
    pub fn run(
        &self,
        device: &Device,
        cases: &[Case],
        sizes: &[usize],
        peers: &PeerTimes,
        sampling: &Sampling,
        mut step: impl FnMut(Step<'_, (&Case, usize)>),
    ) -> Result<Throughputs, MeasureError> {
        let l2_bytes = device.properties().l2_bytes;
        let mut bench = Bench { device, sampling, stock: Stock::default() };
        let on_cpu = self.on_cpu(cases, sizes);
        let (mut records, mut too_large) = (Vec::new(), Vec::new());
        let mut first = None;
        for (dtype, n) in lengths(cases, sizes) {
            'plans: for plan in self.plans(dtype, n, l2_bytes) {
                let here = timed(cases, dtype, plan);
                if here.is_empty() {
                    continue;
                }
                let load = Load { n, plan };
                let ceiling = self.ceiling_record(&bench, dtype, &load, peers);
                keep(&mut records, ceiling, &mut step);
                if let Some((on_cpu, at)) = on_cpu
                    && (dtype, n, plan) == (on_cpu.dtype, at, Plan::ALONE)
                {
                    let of_cpu = self.on_cpu_record(&bench, &on_cpu, n, peers);
                    keep(&mut records, of_cpu, &mut step);
                }
                for case in here {
                    step(Step::Next((case, n)));
                    let measured = match (case.measure)(&mut bench, &load) {
                        Err(MeasureError::Device(error @ DeviceError::OutOfMemory { .. })) => {
                            too_large.push(TooLarge { dtype, n, error });
                            break 'plans;
                        }
                        measured => measured?,
                    };
                    let Some(measured) = measured else { continue };
                    first.get_or_insert((case, load, measured.time.median));
                    let ours = self.records(&bench, case, &load, &measured, peers);
                    keep(&mut records, ours, &mut step);
                }
            }
        }
        if let Some((case, load, before)) = first
            && let Some(again) = (case.measure)(&mut bench, &load)?
            && let Some(drift) = Warning::drift(before, again.time.median)
        {
            let is_ours = |record: &Record| cases.iter().any(|case| case.variant == record.variant);
            let ours = records.iter_mut().filter(|record| is_ours(record));
            ours.for_each(|record| record.warnings.push(drift));
        }
        Ok(Throughputs { records, too_large })
    }

    /// The record of the ceiling, if the peer measured it.
    fn ceiling_record(
        &self,
        bench: &Bench<'_>,
        dtype: Dtype,
        load: &Load,
        peers: &PeerTimes,
    ) -> Option<Record> {
        let bytes = bytes(dtype, load.n);
        let question = self.ceiling.question(bytes, &load.plan);
        let time = *peers.times.get(&question)?;
        let name = self.ceiling.name();
        let params = params(name, dtype, load, None);
        let measured = bench.of_peer(time);
        let device = &bench.device.properties().name;
        let record = Record::new(self.name, name, device, params, measured);
        Some(record.moving(self.ceiling.moved(bytes)))
    }

    /// The record of the peer on the CPU, if it answered.
    fn on_cpu_record(
        &self,
        bench: &Bench<'_>,
        on_cpu: &OnCpu,
        n: usize,
        peers: &PeerTimes,
    ) -> Option<Record> {
        let time = *peers.times.get(&on_cpu.question(n))?;
        let params = params(on_cpu.op, on_cpu.dtype, &Load { n, plan: Plan::ALONE }, None);
        let measured = bench.of_peer(time);
        let record = Record::new(self.name, on_cpu.peer.name, "CPU", params, measured);
        Some(record.moving(self.ceiling.moved(bytes(on_cpu.dtype, n))))
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
        let device = &bench.device.properties().name;
        let record = |mode: Option<&str>, peer: Option<(Peer, &Spread)>| {
            let mut measured = measured.clone();
            let (peer, time) = peer.unzip();
            measured.warnings.extend(time.and_then(|time| bench.sampling.peer_noise(time)));
            let params = params(case.op, case.dtype, load, mode);
            Record::new(self.name, case.variant, device, params, measured)
                .moving(case.moved(bytes(case.dtype, load.n), self.ceiling))
                .beside(peer)
        };
        let beside = |mode: &'static str, name: &str, version: Option<&String>| {
            let time = peers.times.get(&case.question(mode, load.n, &load.plan))?;
            let peer = Peer::new(name, time.median).of_version(version.cloned());
            Some(record(Some(mode), Some((peer, time))))
        };
        let program = self.peer.map_or("", |program| program.name);
        let of_program = case.peer_modes.iter().filter_map(|mode| beside(mode, program, None));
        let of_libraries = Call::of_case(self.name, case)
            .filter_map(|call| beside(call.mode, call.name(), peers.versions.get(&call.library())));
        let records: Vec<Record> = of_program.chain(of_libraries).collect();
        if records.is_empty() {
            return vec![record(None, None)];
        }
        records
    }
}

impl Case {
    /// The operation `op` on elements of `T`.
    pub(super) const fn new<T: Element>(
        variant: &'static str,
        op: &'static str,
        peer_modes: &'static [&'static str],
        measure: Measure,
    ) -> Self {
        Self { variant, op, dtype: T::DTYPE, written: None, is_alone: false, peer_modes, measure }
    }

    /// The same case, of which only one call alone is measured. Calls that wait for the device or
    /// allocate cannot be put in a graph.
    pub(super) const fn alone(self) -> Self {
        Self { is_alone: true, ..self }
    }

    /// The same case, but it writes `percent` percent of the bytes that it reads.
    pub(super) const fn writing(self, percent: u64) -> Self {
        Self { written: Some(percent), ..self }
    }

    /// Bytes that it moves for an input of `bytes` bytes.
    pub(super) const fn moved(&self, bytes: u64, ceiling: Ceiling) -> u64 {
        match self.written {
            Some(percent) => bytes + bytes * percent / 100,
            None => ceiling.moved(bytes),
        }
    }
}

/// Passes each record to `step`, and keeps it.
fn keep(
    records: &mut Vec<Record>,
    new: impl IntoIterator<Item = Record>,
    step: &mut impl FnMut(Step<'_, (&Case, usize)>),
) {
    for record in new {
        step(Step::Measured(&record));
        records.push(record);
    }
}

/// The parameters of a measurement of a throughput.
fn params(op: &str, dtype: Dtype, load: &Load, peer_mode: Option<&str>) -> Value {
    json!({
        "op": op,
        "dtype": dtype.name(),
        "n": load.n,
        "calls": load.plan.calls,
        "peer_mode": peer_mode,
    })
}

/// The cases on elements of `dtype` that this plan times.
fn timed(cases: &[Case], dtype: Dtype, plan: Plan) -> Vec<&Case> {
    let is_timed = |case: &&Case| case.dtype == dtype && (!case.is_alone || plan == Plan::ALONE);
    cases.iter().filter(is_timed).collect()
}

/// Each element type of `cases` with each of `sizes`, in this order, so that cases of one type
/// share their inputs.
fn lengths(cases: &[Case], sizes: &[usize]) -> Vec<(Dtype, usize)> {
    let mut dtypes = Vec::new();
    for case in cases {
        if !dtypes.contains(&case.dtype) {
            dtypes.push(case.dtype);
        }
    }
    dtypes.into_iter().flat_map(|dtype| sizes.iter().map(move |&n| (dtype, n))).collect()
}

#[cfg(test)]
mod tests;

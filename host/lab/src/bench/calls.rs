//! The suite `calls`: cost of a call to the calling thread.
//!
//! Calls follow each other as fast as the thread can make them, on one input, which stays in the
//! L2. A process is timed from its start to its exit. Processes, ours and the peer's, are measured
//! before the device is opened, so that no other process has a context during the measurement.

use super::sampling::warm_up;
use super::{Measurement, Peer, PeerError, PeerProgram, Record, SAMPLES, Sampling, Spread, Step};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::Reducer;
use gridsync_kernels::op::Sum;
use serde_json::json;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Calls of a sample: few enough for a stream to queue them without waiting for the device.
const CALLS: usize = 256;

/// Elements that a process adds up.
const FEW: usize = 1000;

/// Why a call could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A process could not be started.
    #[error("starting a process: {0}")]
    Io(#[from] io::Error),
    /// A process failed.
    #[error("a process that adds up {FEW} numbers failed: {0}")]
    Process(String),
}

/// The measured call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Enqueues a reduction.
    Launch,
    /// Enqueues a graph with one reduction.
    Graph,
    /// Reduces an array to a value on the host.
    Value,
    /// Runs a program that adds up a few numbers on the GPU and prints the sum: it opens the
    /// device, loads the kernel from the driver's cache, and frees everything.
    Process,
}

impl Call {
    /// All calls, in the order in which they are measured.
    pub const ALL: [Self; 4] = [Self::Process, Self::Launch, Self::Graph, Self::Value];

    /// Name in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Graph => "graph launch",
            Self::Value => "value",
            Self::Process => "process",
        }
    }

    /// Question to the peer.
    fn question(self, n: usize) -> String {
        format!("{} {n}", self.name().replace(' ', "-"))
    }
}

/// The peer.
pub const PEER: PeerProgram = PeerProgram {
    name: "cub::DeviceReduce",
    source: include_str!("../../peers/calls.cu"),
    flags: &[],
};

/// Each call with each number of elements. A process has a fixed number.
#[must_use]
pub fn call_points(sizes: &[usize]) -> Vec<(Call, usize)> {
    let sizes_of = |call| match call {
        Call::Process => &[FEW],
        _ => sizes,
    };
    Call::ALL.iter().flat_map(|&call| sizes_of(call).iter().map(move |&n| (call, n))).collect()
}

/// µs of the peer's calls. It runs alone on the GPU.
///
/// # Errors
/// [`PeerError`].
pub fn peer_calls(
    points: &[(Call, usize)],
    sampling: &Sampling,
) -> Result<HashMap<(usize, usize), Spread>, PeerError> {
    let questions: Vec<_> = points.iter().map(|(call, n)| call.question(*n)).collect();
    let answers = PEER.ask(&[], sampling, &questions)?;
    let time = |(&(call, n), question)| Some(((call as usize, n), *answers.times.get(question)?));
    Ok(points.iter().zip(&questions).filter_map(time).collect())
}

/// Measures each of `points`, on the device that `open` opens, with the name `name`. `process` runs
/// one process, from start to exit.
///
/// # Errors
/// [`CallError`].
pub fn run_calls(
    name: &str,
    open: impl FnOnce() -> Result<Device, DeviceError>,
    points: &[(Call, usize)],
    peers: &HashMap<(usize, usize), Spread>,
    sampling: &Sampling,
    mut process: impl FnMut() -> Result<(), CallError>,
    mut step: impl FnMut(Step<'_, (Call, usize)>),
) -> Result<Vec<Record>, CallError> {
    let record = |call: Call, n, mut measured: Measurement| {
        let peer = peers.get(&(call as usize, n));
        measured.warnings.extend(peer.and_then(|peer| sampling.peer_noise(peer)));
        let params = json!({ "op": "sum", "dtype": "f32", "n": n });
        Record::new("calls", call.name(), name, params, measured)
            .beside(peer.map(|peer| Peer::new(PEER.name, peer.median)))
    };
    let is_process = |point: &&(Call, usize)| point.0 == Call::Process;
    let mut records = Vec::new();
    for &(call, n) in points.iter().filter(is_process) {
        step(Step::Next((call, n)));
        // The first process fills the driver's cache.
        process()?;
        let sampling = Sampling { at_most: 2 * SAMPLES, ..*sampling };
        records.push(record(call, n, sampling.measure(|| us_of(&mut process))?));
        records.last().into_iter().for_each(|record| step(Step::Measured(record)));
    }
    let device = open()?;
    for &(call, n) in points.iter().filter(|point| !is_process(point)) {
        step(Step::Next((call, n)));
        records.push(record(call, n, in_process(&device, call, n, sampling)?));
        records.last().into_iter().for_each(|record| step(Step::Measured(record)));
    }
    Ok(records)
}

/// µs of each of [`CALLS`] calls, on the thread that makes them.
fn in_process(
    device: &Device,
    call: Call,
    n: usize,
    sampling: &Sampling,
) -> Result<Measurement, CallError> {
    let input = device.zeroed::<f32>(n)?;
    let mut reducer = Reducer::new(Sum::<f32>::new(), device)?;
    reducer.launch(&input)?;
    let mut work: Box<dyn FnMut() -> Result<(), DeviceError> + '_> = match call {
        Call::Launch => Box::new(|| reducer.launch(&input)),
        Call::Value => Box::new(|| reducer.reduce(&input).map(drop)),
        Call::Graph => {
            let graph = device.record(|| reducer.launch(&input))?;
            // SAFETY: everything that was recorded outlives the measurement.
            Box::new(move || unsafe { graph.launch() })
        }
        Call::Process => unreachable!("it is another process"),
    };
    let mut sample = || {
        device.synchronize()?;
        us_of(|| (0..CALLS).try_for_each(|_| work()))
    };
    warm_up(&mut sample)?;
    let measured = sampling.measure(|| Ok::<_, DeviceError>(sample()? / CALLS as f64))?;
    device.synchronize()?;
    Ok(measured)
}

/// Time of `work` on the host, µs.
fn us_of<E>(work: impl FnOnce() -> Result<(), E>) -> Result<f64, E> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64() * 1e6)
}

/// Runs `program` (this program) to add up a few numbers on the device with the name `device`.
///
/// # Errors
/// [`CallError::Io`] and [`CallError::Process`].
pub fn sum_in_a_process(program: &Path, device: &str) -> Result<(), CallError> {
    let mut child = Command::new(program)
        .args(["reduce", "--quiet", "--op", "sum", "--dtype", "f32", "--device", device, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        match input.write_all(bytemuck::cast_slice(&[1f32; FEW])) {
            // The process exited before it had read all numbers. Its output explains why.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written?,
        }
    }
    let done = child.wait_with_output()?;
    let printed = String::from_utf8_lossy(&done.stdout);
    if printed.trim().parse() == Ok(FEW as f64) {
        Ok(())
    } else {
        let said = String::from_utf8_lossy(&done.stderr);
        Err(CallError::Process(format!("{} {}", printed.trim(), said.trim())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};

    #[test]
    fn every_call_is_measured_with_every_length_and_a_process_once() {
        let open = || Ok(Device::new(Emulator::new(EmulatorConfig::default())));
        let sampling = Sampling { at_least: 1, at_most: 1, ..Sampling::default() };
        let points: Vec<_> =
            call_points(&[1, 33]).into_iter().filter(|(call, _)| *call != Call::Graph).collect();
        let peer = Spread::of(vec![1e9]).expect("there is a sample");
        let peers = HashMap::from([((Call::Value as usize, 33), peer)]);
        let mut processes = 0;
        let process = || {
            processes += 1;
            Ok(())
        };
        let records = run_calls("a device", open, &points, &peers, &sampling, process, |_| {})
            .expect("the emulator should run every call");
        let measured: Vec<_> = records
            .iter()
            .map(|record| (record.variant.as_str(), record.params["n"].clone()))
            .collect();
        let expected =
            [("process", FEW), ("launch", 1), ("launch", 33), ("value", 1), ("value", 33)];
        assert_eq!(measured, expected.map(|(name, n)| (name, n.into())));
        assert_eq!(processes, 2, "one more than is measured");
        let ratios: Vec<_> = records.iter().map(Record::ratio).collect();
        assert!(matches!(ratios[..], [None, None, None, None, Some(_)]), "{ratios:?}");
    }

    #[test]
    fn a_process_that_prints_something_else_fails() {
        let echo = sum_in_a_process("echo".as_ref(), "cpu");
        let error = echo.expect_err("it prints its arguments").to_string();
        assert!(error.contains("--op sum"), "{error}");
        let none = sum_in_a_process("/no/such/program".as_ref(), "cpu");
        assert!(matches!(none, Err(CallError::Io(_))));
    }
}

//! Runs a graph by one method, checks the result, and times it on a GPU.

use gridsync::device::{Device, DeviceError};
use gridsync_lab::bench::{Sampling, Spread, Warning};
use gridsync_lab::dag::{Method, RunError, Runner};

/// The result of a method.
pub(super) struct Outcome {
    pub(super) method: Method,
    /// The first wrong element.
    pub(super) wrong: Option<String>,
    /// Time of the whole graph on a GPU, in µs.
    pub(super) time: Option<Spread>,
    pub(super) warnings: Vec<Warning>,
    /// Time of the same graph in CUDA C++, in µs.
    pub(super) peer: Option<Spread>,
    /// Why the device does not support this method.
    pub(super) absent: Option<String>,
}

/// Runs before the timed ones: the first launch of a kernel compiles it, and clocks have to rise.
const WARM_UP: u32 = 20;

/// Runs the graph, compares the result with the reference, and then times it.
pub(super) fn outcome(
    device: &Device,
    runner: &mut Runner<'_>,
    method: Method,
    blocks: u32,
) -> Result<Outcome, RunError> {
    runner.clear()?;
    let mut outcome =
        Outcome { method, wrong: None, time: None, warnings: Vec::new(), peer: None, absent: None };
    let started = runner.ready(method, blocks).and_then(|ready| {
        ready.launch()?;
        Ok(ready)
    });
    let ready = match started {
        Err(RunError::Device(
            error @ (DeviceError::Unsupported { .. } | DeviceError::NoDeviceRuntime { .. }),
        )) => {
            outcome.absent = Some(error.to_string());
            return Ok(outcome);
        }
        ready => ready?,
    };
    outcome.wrong = ready.refused()?.or(runner.wrong()?);
    if !device.properties().is_emulated() && outcome.wrong.is_none() {
        for _ in 0..WARM_UP {
            ready.launch()?;
        }
        device.synchronize()?;
        let measured = Sampling::default().measure(|| device.time(|| ready.launch()))?;
        outcome.time = Some(measured.time);
        outcome.warnings = measured.warnings;
        outcome.wrong = ready.refused()?.or(runner.wrong()?);
    }
    Ok(outcome)
}

//! Runs a graph by one method, checks the result, and times it on a GPU.

use super::{Method, Outcome, RunError, Runner, Span, Work};
use crate::bench::Sampling;
use crate::display::svg::{Bar, Run, Timelines};
use gridsync::device::{Device, DeviceError};

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
    let mut outcome = Outcome { by: method.name().to_owned(), ..Outcome::default() };
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
        let time = measured.time;
        outcome.us = Some(time.median);
        (outcome.min, outcome.max) = (Some(time.min), Some(time.max));
        outcome.samples = Some(time.samples);
        outcome.warnings = measured.warnings;
        outcome.wrong = ready.refused()?.or(runner.wrong()?);
    }
    outcome.right = Some(outcome.wrong.is_none());
    Ok(outcome)
}

/// When each node ran, by each of these methods. `None` without a method.
pub(super) fn timelines(
    device: &Device,
    work: &Work,
    methods: &[Method],
    blocks: u32,
) -> Result<Option<Timelines>, RunError> {
    if methods.is_empty() {
        return Ok(None);
    }
    let mut runner = Runner::new(device, work, true)?;
    let mut runs = Vec::new();
    for method in methods {
        // The first run warms up.
        for _ in 0..2 {
            runner.clear()?;
            runner.ready(*method, blocks)?.launch()?;
        }
        runs.push(Run { name: method.name().into(), bars: bars(work, &runner.spans()?) });
    }
    let title = format!("When each node ran, on {}", device.properties().name);
    Ok(Some(Timelines { title, x_label: "µs after the first began".into(), runs }))
}

fn bars(work: &Work, spans: &[Span]) -> Vec<Bar> {
    let first = spans.iter().map(|span| span.begin).min().unwrap_or(0);
    let micros = |time: u64| (time - first) as f64 / 1e3;
    let bars = work.steps.iter().zip(spans).map(|(step, span)| Bar {
        name: step.name.clone(),
        begin: micros(span.begin),
        end: micros(span.end),
    });
    bars.collect()
}

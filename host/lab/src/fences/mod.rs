//! `gridsync lab fences`: costs of fences and of the other operations of a barrier.

mod cost;
mod report;

pub use cost::{Cost, NOTHING, OPERATIONS, Operation, Run, STEPS, STORES, clock_mhz, costs};
pub use report::{Fences as Report, Measured};

use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Measure what fences cost, idle and with stores in flight
///
/// In one thread alone, and in a warp on every multiprocessor, each with lines of its own. Cycles
/// are those of the multiprocessor's counter: the slope between 200 and 2200 rounds, the median of
/// 7, less the slope of the stores alone. Nanoseconds come from the clock, which is measured too:
/// cycles over the time between events.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write fences.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Gpu;
    const FILES: &'static [&'static str] = &["fences.svg"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let properties = device.properties();
        bar.set_length(2 * STEPS as u64);
        let clock_mhz = clock_mhz(device)?;
        let mut all = Vec::new();
        for (blocks, threads) in [(1, 1), (properties.multiprocessors, 32)] {
            bar.set_message(report::grid(threads));
            let costs = costs(device, (blocks, threads), || bar.inc(1))?;
            all.extend(costs.iter().map(|cost| Measured::of(cost, blocks, threads, clock_mhz)));
        }
        Ok(Report { device: properties.name.clone(), clock_mhz, costs: all })
    }
}

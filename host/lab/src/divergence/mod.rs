//! `gridsync lab divergence`: divergent branches within a warp, and their cost.
//!
//! [`Kernel`]s are short, and their warps diverge or not. [`Paths`] are the cost of up to 32
//! different paths. A separate emulator counts, so the counts are the same on every device.

mod chart;
mod kernel;
mod math;
mod meaning;
mod report;
mod tables;
#[cfg(test)]
mod tests;
mod ways;

pub use kernel::{CountedByWarps, Kernel};
pub use math::{Branches, MATH, Math, Setup};
pub use report::Divergence as Report;
pub use ways::{Dealt, Paths, WAYS, costs};

use crate::count::within;
use crate::images::LAB;
use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::Device;
use gridsync::device::cuda::Modules;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Count the branches on which the lanes of a warp part, and measure what different paths cost
///
/// Short kernels write 100 or 200 for each thread, by a condition of their own. The page shows
/// which of them have a branch at all, how many of their branches diverge, and how long they take.
/// Then the lanes of a warp take up to 32 different paths. The emulator counts. On a GPU the warps
/// count too, and everything is timed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Threads of a block.
    #[arg(long, default_value = "64", value_name = "B", value_parser = within::<u32>(1..=1024))]
    block: u32,
    /// Elements that each short kernel writes, rounded up to whole blocks.
    #[arg(long, default_value = "2^16", value_name = "N", value_parser = within::<u32>(1..=1 << 20))]
    size: u32,
    /// Write divergence.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["divergence.svg"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let setup = Setup::of(self.block, self.size);
        let properties = device.properties();
        // The emulator has no compute capability: show the PTX for the oldest GPUs.
        let modules = Modules::of(&LAB, properties.compute.max(75))?;
        let in_ptx = MATH.iter().map(|math| math.branches(&modules));
        let in_ptx = in_ptx.collect::<Result<Option<Vec<_>>, _>>()?.ok_or_else(|| {
            let text = "the PTX has no divergence kernels: run cargo xtask build-kernels";
            ExperimentError::Failed(text.to_owned())
        })?;

        bar.set_length((MATH.len() + 2 * WAYS.len()) as u64);
        let is_gpu = !properties.is_emulated();
        let warm_up = is_gpu.then(|| math::warm_up(device, setup)).transpose()?;
        bar.set_message("branches");
        let mut kernels = Vec::new();
        for (math, in_ptx) in MATH.iter().zip(in_ptx) {
            kernels.push(math.find(device, setup, in_ptx)?);
            bar.inc(1);
        }
        bar.set_message("different paths");
        Ok(Report {
            device: properties.name.clone(),
            block: setup.block,
            blocks: setup.blocks,
            compute: if properties.compute < 90 { 75 } else { 90 },
            first_launch_us: warm_up.map(|(first, _)| first),
            kernels,
            paths: costs(device, || bar.inc(1))?,
            later_launch_us: warm_up.map(|(_, later)| later.median),
        })
    }
}

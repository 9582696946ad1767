//! `gridsync lab accuracy`: the errors of sums compared with their bounds.

mod told;

use super::{Experiment, Found, RunsOn};
use crate::cli::progress::progress;
use crate::cli::{DeviceChoice, Global};
use gridsync::device::Device;
use gridsync_lab::accuracy::{Input, Sums, measure};
use gridsync_lab::count::within;
use std::path::{Path, PathBuf};

/// Compare the errors of sums with the bounds that are proven for them
///
/// Arrays of f32 and f64, easy and hard ones, are summed along the tree of the library, compensated
/// along the same tree, and one element after the other. Each sum is compared with the true one,
/// which is taken without rounding. A sum above its bound is an error, and so is one that has not the
/// bits of the sum on the CPU. Without a GPU, and without --device, the CPU sums.
#[derive(clap::Args)]
pub(super) struct Accuracy {
    /// Elements, as 1000 or 2^20.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        value_parser = within::<usize>(1..=1 << 30),
        default_value = "2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24"
    )]
    sizes: Vec<usize>,
    /// Write accuracy-f32.svg and accuracy-f64.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Accuracy {
    const RUNS_ON: RunsOn = RunsOn::Anywhere;
    const FILES: &'static [&'static str] = &told::CHARTS;
    const IN_ALL: &'static [&'static str] = &["--sizes", "2^10,2^14,2^18"];

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let is_wanted = matches!(global.device, DeviceChoice::Emulator(_));
        let device = Some(device).filter(|device| is_wanted || !device.properties().is_emulated());
        let bar = progress(global, 2 * Input::ALL.len() * self.sizes.len());
        let mut all: Vec<Sums> = Vec::new();
        for of_type in [measure::<f32>, measure::<f64>] {
            for &n in &self.sizes {
                for input in Input::ALL {
                    bar.set_message(format!("{n} elements"));
                    all.push(of_type(device, input, n)?);
                    bar.inc(1);
                }
            }
        }
        bar.finish_and_clear();
        let name = device.map_or("cpu", |device| &device.properties().name);
        Ok(told::page(name, &all)?.found(global))
    }
}

//! `gridsync lab accuracy`: errors of sums, and their bounds.
//!
//! The exact sum comes from an accumulator that never rounds
//! ([`Unrounded`](gridsync::reference::Unrounded)), so the errors are exact too. A sum in which no
//! element goes through more than k additions is off by at most γ(k)·Σ|x|, with γ(k) = k·u /
//! (1 − k·u) and u half the machine epsilon (Higham, "Accuracy and Stability of Numerical
//! Algorithms", 2nd ed., 4.2). For a sequential sum, k is n − 1. For the library's tree, it is a
//! few dozen.

mod chart;
mod inputs;
mod report;
mod sums;

pub use inputs::Input;
pub use report::Accuracy as Report;
pub use sums::{Real, Summed, Sums, measure};

use crate::count::within;
use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Compare the errors of sums with the bounds that are proven for them
///
/// Arrays of f32 and f64, easy and hard ones, are summed along the tree of the library, compensated
/// along the same tree, and one element after the other. Each sum is compared with the true one,
/// which is taken without rounding. A sum above its bound is an error, and so is one that has not the
/// bits of the sum on the CPU. Without a GPU, and without --device, the CPU sums.
#[derive(Debug, clap::Args)]
pub struct Args {
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

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Anywhere;
    const FILES: &'static [&'static str] = &["accuracy-f32.svg", "accuracy-f64.svg"];
    const IN_ALL: &'static [&'static str] = &["--sizes", "2^10,2^14,2^18"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        self.sum(Some(device), bar)
    }

    fn run_on_cpu(&self, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        self.sum(None, bar)
    }
}

impl Args {
    /// Sums on `device`, or on the CPU without a device.
    fn sum(&self, device: Option<&Device>, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        bar.set_length((2 * Input::ALL.len() * self.sizes.len()) as u64);
        let mut sums = Vec::new();
        for of_type in [measure::<f32>, measure::<f64>] {
            for &n in &self.sizes {
                for input in Input::ALL {
                    bar.set_message(format!("{n} elements"));
                    sums.push(of_type(device, input, n)?);
                    bar.inc(1);
                }
            }
        }
        let name = device.map_or("cpu", |device| &device.properties().name);
        Ok(Report { device: name.to_owned(), sums })
    }
}

//! An experiment: its arguments, where it runs, and its result.

use crate::display::Page;
use crate::display::svg::{Bars, ChartError, Lines};
use gridsync::device::cuda::ImageError;
use gridsync::device::{Device, DeviceError};
use indicatif::ProgressBar;
use serde::Serialize;
use std::path::Path;

/// The arguments of an experiment, which run it.
pub trait Experiment: clap::Args {
    /// Where it runs.
    const RUNS_ON: RunsOn;
    /// The files that `--output` writes, at most.
    const FILES: &'static [&'static str] = &[];
    /// Options for `lab all`, where the defaults would take minutes.
    const IN_ALL: &'static [&'static str] = &[];

    /// The result.
    type Report: Report;

    /// The folder of `--output`.
    fn output(&self) -> Option<&Path> {
        None
    }

    /// Runs the experiment on `device`, and shows on `bar` how far it is.
    ///
    /// # Errors
    /// If the device fails, or the arguments do not suit it.
    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Self::Report, ExperimentError>;

    /// Runs the experiment on the CPU alone, if it runs [anywhere](RunsOn::Anywhere).
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    ///
    /// # Panics
    /// If it does not run anywhere.
    fn run_on_cpu(&self, _bar: &ProgressBar) -> Result<Self::Report, ExperimentError> {
        unreachable!("the experiment should run on a device")
    }
}

/// Where an experiment runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOn {
    /// It reads files or computes numbers, and needs no device.
    Nothing,
    /// On a GPU only, because it measures time.
    Gpu,
    /// On a GPU, and in the emulator, which counts events that a GPU does not report.
    Any,
    /// On a GPU, in the emulator if that is chosen, and otherwise on the CPU alone.
    Anywhere,
}

/// The result of an experiment. Its JSON is what [`Serialize`] makes of it.
pub trait Report: Serialize {
    /// Whether the JSON is an array that is printed with one element a line.
    const ONE_A_LINE: bool = false;

    /// The page about the result: the question, the numbers, what they mean, and what is wrong.
    fn page(&self) -> Page;

    /// The charts of the result.
    ///
    /// # Errors
    /// If a value has no place in its chart.
    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        Ok(Vec::new())
    }
}

/// A chart of a result.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The name of its files without the extension.
    pub name: &'static str,
    /// The same in a report of all results.
    pub in_report: &'static str,
    /// A sentence below the chart; may be empty.
    pub caption: String,
    /// The chart as an SVG file.
    pub svg: String,
    /// Its numbers as a CSV file.
    pub csv: String,
}

impl Chart {
    /// The name of the SVG file.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}.svg", self.name)
    }

    /// A chart whose files have one name everywhere.
    #[must_use]
    pub fn new(name: &'static str, caption: impl Into<String>, svg: String, csv: String) -> Self {
        Self { name, in_report: name, caption: caption.into(), svg, csv }
    }

    /// A chart of lines.
    ///
    /// # Errors
    /// If a value has no place in it.
    pub fn lines(
        name: &'static str,
        caption: impl Into<String>,
        lines: &Lines,
    ) -> Result<Self, ChartError> {
        Ok(Self::new(name, caption, lines.svg()?, lines.csv()))
    }

    /// A chart of bars.
    ///
    /// # Errors
    /// If a value has no place in it.
    ///
    /// # Panics
    /// As [`Bars::svg`].
    pub fn bars(
        name: &'static str,
        caption: impl Into<String>,
        bars: &Bars,
    ) -> Result<Self, ChartError> {
        Ok(Self::new(name, caption, bars.svg()?, bars.csv()))
    }
}

/// The result in a file of `bench/runs`, after checking that its JSON has stayed the same.
#[cfg(test)]
pub(crate) fn committed<R: Report + serde::de::DeserializeOwned>(file: &str) -> R {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/runs").join(file);
    let text = std::fs::read_to_string(path).expect("it is committed");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let report: R = serde_json::from_str(&text).expect("a result");
    assert_eq!(serde_json::to_value(&report).expect("it has a JSON"), json);
    report
}

/// Why an experiment has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExperimentError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The arguments make no sense, or do not suit the device.
    #[error("{0}")]
    Usage(String),
    /// A result is wrong, so nothing more was measured.
    #[error("{0}")]
    Wrong(String),
    /// Something else failed, such as reading an image.
    #[error("{0}")]
    Failed(String),
}

impl From<ImageError> for ExperimentError {
    fn from(error: ImageError) -> Self {
        Self::Failed(error.to_string())
    }
}

//! `gridsync lab litmus`: what PTX's memory model allows, and what the emulator's weak memory and a
//! GPU show.

mod emulated;
mod fences;
mod gpu;
#[cfg(test)]
mod random;
mod report;
mod shapes_table;
mod verdict;

pub use report::{Answer, Counted, Emulator, Litmus as Report, OnGpu, Question, Shown, State};

use crate::count::within;
use crate::{Experiment, ExperimentError, RunsOn};
use fences::WRITE_AND_READ;
use gpu::Gpu;
use gridsync::device::{Device, DeviceError};
use gridsync::parallel::try_map;
use indicatif::ProgressBar;
use litmus::{Test, parse, shapes};
use std::fs;
use std::path::PathBuf;
use verdict::Judged;

/// Ask which final states PTX's memory model allows for small programs, and which emulator and GPU show
///
/// Each file is a litmus test: threads with a few instructions of PTX, and a question. The model's answer comes
/// from all executions that its axioms allow. The emulator runs the same instructions on weak memory, under one
/// schedule after the other. A GPU runs them side by side, near and far in memory, on one multiprocessor and
/// several, alone and disturbed. A state that is shown and that the model forbids is an error. Without files it
/// runs the classic shapes. Without a GPU that part is left out. The format of the files: toolchain/litmus/README.md.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tests [default: the classic shapes].
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Schedules of the emulator for each test, at most.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = within::<u64>(1..=u64::MAX))]
    schedules: u64,
    /// Runs on the GPU for each test, at least.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = within::<u64>(1..=u64::MAX))]
    runs: u64,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Anywhere;
    const IN_ALL: &'static [&'static str] = &["--schedules=200", "--runs=1"];

    type Report = Report;

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        self.judge(Some(device).filter(|device| !device.properties().is_emulated()), bar)
    }

    fn run_on_cpu(&self, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        self.judge(None, bar)
    }
}

impl Args {
    /// The answers of the model and the emulator to all tests, and of the GPU if there is one.
    fn judge(&self, gpu: Option<&Device>, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let texts = self.texts()?;
        bar.set_length(texts.len() as u64);
        let judge = |at: usize| {
            let (name, text) = &texts[at];
            let usage = |error: String| ExperimentError::Usage(format!("{name}: {error}"));
            let test = parse(text).map_err(|error| usage(error.to_string()))?;
            let judged = Judged::of(name.clone(), test, self.schedules);
            bar.inc(1);
            judged.map_err(|error| usage(error.to_string()))
        };
        let mut all: Vec<Judged> = try_map(texts.len(), &judge)?;
        if let Some(gpu) = gpu {
            bar.set_length(2 * texts.len() as u64);
            self.run_on_gpu(gpu, bar, &mut all)?;
        }
        let gpu = gpu.map(|gpu| gpu.properties().name.clone());
        let shapes = if self.files.is_empty() { all.len() - WRITE_AND_READ.len() } else { 0 };
        Ok(Report { tests: all.into_iter().map(Judged::answer).collect(), shapes, gpu })
    }

    /// Runs all tests on the GPU.
    fn run_on_gpu(
        &self,
        device: &Device,
        bar: &ProgressBar,
        all: &mut [Judged],
    ) -> Result<(), DeviceError> {
        let tests: Vec<&Test> = all.iter().map(|judged| &judged.test).collect();
        let gpu = Gpu::new(device, &tests)?;
        for (at, judged) in all.iter_mut().enumerate() {
            judged.on_gpu = Some(gpu.run(at, &judged.test, &judged.model, self.runs)?);
            bar.inc(1);
        }
        Ok(())
    }

    /// The tests: names and texts.
    fn texts(&self) -> Result<Vec<(String, String)>, ExperimentError> {
        if self.files.is_empty() {
            let own = WRITE_AND_READ.map(|(name, text)| (name.to_owned(), text.to_owned()));
            let shapes = shapes::all().into_iter().map(|shape| (shape.name, shape.text));
            return Ok(shapes.chain(own).collect());
        }
        let read = |file: &PathBuf| {
            let name = file.display().to_string();
            let text = fs::read_to_string(file)
                .map_err(|error| ExperimentError::Usage(format!("cannot read {name}: {error}")))?;
            Ok((name, text))
        };
        self.files.iter().map(read).collect()
    }
}

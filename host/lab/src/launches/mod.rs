//! `gridsync lab launches`: many launches against one. Repeated X→P→X, with the end of a launch as
//! the barrier between two stages ("multi-kernel launch", MKL), or with a grid barrier within one
//! launch ("single kernel launch", SKL).
//!
//! | file | contents |
//! |---|---|
//! | `form.rs` | the forms: launches, graphs of them, and one launch with each barrier |
//! | `job.rs` | a form that is ready to run, and checked against the reference |
//! | `compare.rs` | the time of each form at one shape |
//! | `sweep.rs` | the times at many shapes, for Fig. 5 and Fig. 6 |
//! | `cost.rs` | the predictions of two models |
//! | `report.rs`, `chart.rs` | the result and its page, and charts of records |

mod chart;
mod compare;
mod cost;
mod form;
mod job;
mod report;
mod sweep;

pub use chart::{at_one_shape, by_blocks, gains};
pub use compare::{Absent, Comparison, LaunchesError, Planned, Timed, compare};
pub use cost::{Prediction, Terms};
pub use form::{Design, Form};
pub use job::Job;
pub use report::Launches as Report;
pub use sweep::{BLOCKS, Figure, POINTS, THREADS, THREADS_IN_ALL, sweep};

use crate::bench::Sampling;
use crate::count::within;
use crate::xpx::Setup;
use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Compare many launches with one launch that has a grid barrier
///
/// X→P→X again and again: by a launch for each stage, by those launches in one graph, by launches
/// that overlap each other (from compute capability 9.0), and by one launch with each of the grid
/// barriers. Every result is compared with the CPU reference before its form is timed. The time is
/// that of a whole job over its rounds, the median of 7 samples or more.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Transforms X→P→X of a job.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = within::<u32>(1..=10_000))]
    rounds: u32,
    /// Elements of X and of P, up to 65536: every thread adds all of them up.
    #[arg(short = 'n', long, alias = "n", default_value_t = 4096, value_name = "N", value_parser = within::<u32>(1..=1 << 16))]
    elements: u32,
    /// Blocks of the grid [default: one for each multiprocessor].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=u64::MAX))]
    blocks: Option<u32>,
    /// Threads of a block.
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = within::<u32>(1..=u64::MAX))]
    threads: u32,
    /// Measure with 1 to 32 blocks of 32 to 1024 threads too, and write to this folder: the gain at
    /// each shape (fig5-launches.svg, fig5-graph.svg), the times with 1024 threads in all
    /// (fig6.svg), the records (launches.jsonl), and what models predict (cost-model.txt).
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Gpu;
    const FILES: &'static [&'static str] =
        &["fig5-launches.svg", "fig5-graph.svg", "fig6.svg", "launches.jsonl", "cost-model.txt"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let setup = Setup {
            elements: self.elements as usize,
            blocks: self.blocks.unwrap_or(device.properties().multiprocessors),
            threads: self.threads,
        };
        bar.set_length((Form::ALL.len() + self.output.as_ref().map_or(0, |_| POINTS)) as u64);
        let step = |form: Form, setup: &Setup| {
            let Setup { blocks, threads, .. } = setup;
            bar.set_message(format!("{} at {blocks} × {threads}", form.name()));
            bar.inc(1);
        };
        let sampling = Sampling::default();
        let compared = compare(device, &Form::ALL, &setup, self.rounds, &sampling, step)?;
        let swept = if self.output.is_some() {
            sweep(device, self.rounds, &sampling, step)?
        } else {
            Vec::new()
        };
        Ok(Report { compared, swept, mhz: cost::mhz(device) })
    }
}

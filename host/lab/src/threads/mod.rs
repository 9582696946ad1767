//! `gridsync lab threads`: how the threads of a block are numbered and split into warps, as each
//! thread reports it.

mod block;
mod drawing;
mod report;

pub use report::{Record, Threads as Report, expected, numbered};

use crate::{Experiment, ExperimentError, RunsOn};
use block::Block;
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Lanes of a warp.
pub const LANES: u32 = cuda_std::warp::WARP_SIZE;

/// Draw how the threads of a block are numbered and cut into warps, and count the idle lanes
///
/// Each thread of the block reports its position, its linear number, its lane, and the number of
/// the thread that is lane 0 of its warp. All of it is compared with the formula.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shape of the block: its threads along x, y and z.
    #[arg(long, default_value = "40,2", value_name = "X[,Y[,Z]]")]
    block: Block,
    /// Write threads.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["threads.svg"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, _bar: &ProgressBar) -> Result<Report, ExperimentError> {
        Ok(numbered(device, self.block.0)?)
    }
}

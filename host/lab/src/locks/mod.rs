//! `gridsync lab locks`: cost and fairness of locks under contention by the threads of a whole grid.
//!
//! * [`field`]: one lock in one grid. The threads add to a counter under the lock, by plain loads
//!   and stores, or push nodes to a linked list. Both results are checked.
//! * [`Measured`]: cost of a section on a GPU, and the distribution of the lock among the threads.
//! * [`Emulated`]: the locks under many schedules, and the deadlock of lanes in lockstep.

mod chart;
mod emulated;
pub mod field;
mod lock;
mod meaning;
mod measured;
mod report;
mod tables;
#[cfg(test)]
mod tests;

pub use emulated::{Checked, Emulated, Lockstep};
pub use lock::{Grid, LOCKS, Tried};
pub use measured::{Lock, Measured, Point};
pub use report::{Found, Locks as Report};

use crate::count::within;
use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Let threads contend for five locks, check what the locks guard, and measure them
///
/// Each lock guards a counter, and a linked list; the results are checked. On a GPU: million
/// sections per second by the number of threads that contend, and how evenly the blocks get the
/// lock. In the emulator: results and data races under schedules drawn from seeds, and accesses to
/// memory. On both: the emulator's report of the deadlock of lanes in lockstep.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The most blocks that contend [default: 4 per multiprocessor on a GPU, 2 in the emulator].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=4096))]
    blocks: Option<u32>,
    /// Threads of each block where whole blocks contend [default: 32 on a GPU, 33 in the emulator].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=1024))]
    threads: Option<u32>,
    /// Sections of a launch, by all its threads together [default: 8192 on a GPU, 50 in the
    /// emulator].
    #[arg(long, value_name = "N", value_parser = within::<u32>(4..=1_000_000))]
    sections: Option<u32>,
    /// Write locks.svg, locks-warps.svg and locks-fairness.svg to this folder. Needs a GPU.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["locks.svg", "locks-warps.svg", "locks-fairness.svg"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let properties = device.properties();
        let emulated = properties.is_emulated();
        let sections = self.sections.unwrap_or(if emulated { 50 } else { 8192 });
        let found = if emulated {
            let (blocks, threads) = (self.blocks.unwrap_or(2), self.threads.unwrap_or(33));
            Found::Emulated(emulated::check_all(Grid { blocks, threads }, sections, bar)?)
        } else {
            let blocks = self.blocks.unwrap_or(4 * properties.multiprocessors);
            let most = Grid { blocks, threads: self.threads.unwrap_or(32) };
            Found::Measured(measured::measure_all(device, most, sections, bar)?)
        };
        // Any seed will do: it deadlocks under every schedule.
        let lockstep = emulated::lockstep(1)?;
        Ok(Report {
            device: properties.name.clone(),
            sections,
            found,
            lockstep: lockstep.deadlock(),
            lanes: lockstep,
        })
    }
}

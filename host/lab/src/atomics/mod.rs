//! `gridsync lab atomics`: cost of an atomic addition, by its target.

mod chart;
mod cost;
mod job;
mod meaning;
mod number;
mod report;
mod target;

pub use cost::{Cost, Counted, Found, MOST_THREADS, Rate, STEPS, costs};
pub use number::{NUMBERS, Type};
pub use report::Atomics as Report;
pub use target::{TARGETS, Target};

use crate::count::within;
use crate::{Experiment, ExperimentError, RunsOn, counting, fences};
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Blocks in the emulator: few, but more than one, so that blocks share an address.
const EMULATED_BLOCKS: u32 = 4;

/// Blocks per multiprocessor on a GPU. With 256 threads each, they are as many threads as fit on
/// the smallest multiprocessor since compute capability 7.5.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 4;

/// Measure what an atomic addition costs by where it goes, and what helps
///
/// All threads of a grid add to one address, or each block, warp or lane has its own. Two cures
/// follow: a block adds up in shared memory first, or a warp by shuffles. For u32, u64, f32 and
/// f64, with and without the result used. On a GPU, rates by slopes over the rounds, the median of
/// 7. The emulator counts accesses, sectors and shuffles. All sums are checked, and that no two
/// additions had the same result.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Blocks of the grid [default: 4 for each multiprocessor of a GPU, 4 in the emulator].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=1 << 15))]
    blocks: Option<u32>,
    /// Threads of a block, a multiple of 32.
    #[arg(long, value_name = "N", default_value = "256", value_parser = within::<u32>(32..=1024))]
    threads: u32,
    /// Write atomics.svg to this folder, and on a GPU atomics-floats.svg.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["atomics.svg", "atomics-floats.svg"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let threads = self.threads;
        if !threads.is_multiple_of(32) {
            let message = format!("--threads {threads}: give a multiple of 32");
            return Err(ExperimentError::Usage(message));
        }
        let (emulated, counting) = (device.properties().is_emulated(), counting::emulator());
        let device = if emulated { &counting } else { device };
        let blocks = self.blocks.unwrap_or(if emulated {
            EMULATED_BLOCKS
        } else {
            BLOCKS_PER_MULTIPROCESSOR * device.properties().multiprocessors
        });
        if u64::from(blocks) * u64::from(threads) > MOST_THREADS {
            return Err(ExperimentError::Usage(format!(
                "{blocks} blocks of {threads} threads are more than {MOST_THREADS} threads: with \
                 those, the sums in f32 are not exact"
            )));
        }
        let clock_mhz = if emulated { None } else { Some(fences::clock_mhz(device)?) };
        bar.set_length(STEPS as u64);
        bar.set_message("atomic additions");
        let costs = costs(device, (blocks, threads), clock_mhz, || bar.inc(1))?;
        let device = device.properties().name.clone();
        Ok(Report { device, clock_mhz, blocks, threads, costs })
    }
}

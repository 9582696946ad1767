//! `gridsync lab limits`: the limits of a block, and what happens one past each limit.

mod attempts;
mod holder;
mod report;

pub use attempts::{Tried, try_all};
pub use holder::{HOLDERS, Holder};
pub use report::{Answer, Limits as Report, Resident, Size};

use crate::{Experiment, ExperimentError, RunsOn};
use gridsync::device::{Device, DeviceError, KernelAttributes, Occupancy, Properties};
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Find the limits of a block and of a multiprocessor, and launch one past each of them
///
/// How many registers a thread may have for each size of blocks, and how many blocks a multiprocessor
/// then holds: computed from the limits of the device. On a GPU the blocks are compared with the
/// driver's own answer, for kernels of different register counts. Then each limit is tried: a launch
/// at the limit, with its results checked, and a launch one past it, with its error.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write limits.svg to this folder: the occupancy by registers of a thread.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Threads of a block in the tables.
const THREADS: [u32; 8] = [32, 64, 128, 256, 384, 512, 768, 1024];

/// Registers of a thread in the first table.
const REGISTERS: [u32; 4] = [32, 64, 128, Occupancy::MOST_REGISTERS];

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["limits.svg"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, _bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let properties = device.properties();
        let driver = if properties.is_emulated() { None } else { Some(answers(device)?) };
        Ok(Report {
            device: properties.name.clone(),
            by_limits: THREADS.map(|threads| size(properties, threads)).into(),
            driver,
            tried: try_all(device)?,
            properties: Some(properties.clone()),
        })
    }
}

/// How many blocks of `threads` threads with `registers` registers each fit.
fn occupancy(device: &Properties, registers: u32, threads: u32) -> Occupancy {
    let kernel = KernelAttributes { registers, static_shared: 0, local: 0, max_threads: 0 };
    Occupancy::of(device, &kernel, threads, 0)
}

/// The blocks of `threads` threads, by the limits of the device.
fn size(device: &Properties, threads: u32) -> Size {
    let resident = REGISTERS.map(|registers| {
        let found = occupancy(device, registers, threads);
        Resident {
            registers,
            blocks: found.blocks,
            limited_by: found.limited_by.to_owned(),
            occupancy_percent: found.percent(device, threads),
        }
    });
    let most_registers = Occupancy::most_registers(device, threads);
    Size { threads, most_registers, resident: resident.into() }
}

/// The driver's number of blocks for each kernel and size of blocks, next to the computed one.
fn answers(device: &Device) -> Result<Vec<Answer>, DeviceError> {
    let mut answers = Vec::new();
    for Holder { kernel, .. } in HOLDERS {
        let needs = device.backend().attributes(&kernel)?;
        for threads in THREADS {
            answers.push(Answer {
                kernel: kernel.name.to_owned(),
                registers: needs.registers,
                threads,
                blocks: device.backend().occupancy(&kernel, threads, 0)?,
                computed: Occupancy::of(device.properties(), &needs, threads, 0).blocks,
            });
        }
    }
    Ok(answers)
}

//! `gridsync lab memory`: the latencies and bandwidths of a device.
//!
//! * [`latencies`]: latency of each kind of memory, with one load in flight.
//! * [`lines`]: latencies of single lines of the L2 from two multiprocessors.
//! * [`bandwidth`]: read rate as a function of the bytes in flight.
//!
//! A latency is a slope in cycles, as in [`fences`]: the difference between two walks of different
//! length, divided by the difference in steps. Every walk and every sum is compared with the
//! host's.

pub mod bandwidth;
mod chart;
mod curve;
pub mod cycle;
mod error;
pub mod latencies;
pub mod lines;
mod meaning;
mod report;
mod shared;
mod sizes;
mod tables;
#[cfg(test)]
mod tests;

pub use curve::{Curve, Point};
pub use error::MemoryError;
pub use report::Memory as Report;
pub use shared::{Rate, Shared};

use super::fences;
use crate::bench::{FEW, MANY, SAMPLES, Spread, WARM_UP_US};
use crate::{Experiment, ExperimentError, RunsOn};
use bandwidth::{Array, READERS, Shape};
use gridsync::device::Device;
use indicatif::ProgressBar;
use sizes::Sizes;
use std::path::{Path, PathBuf};

/// Measure latencies and bandwidths of all memories of a GPU, the ceilings of every kernel
///
/// Latencies: one thread walks a random cycle, one load after the other, in shared memory, in the
/// L1, the L2, device memory and the shared memory of another multiprocessor; and single lines of the
/// L2 from two multiprocessors. Bandwidths: all multiprocessors read, with ever more bytes in flight.
/// Cycles are slopes between 200 and 2200 steps, the median of 7. Every word that is read is checked.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write memory-latency.svg, memory-lines.svg and memory-bandwidth.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Gpu;
    const FILES: &'static [&'static str] =
        &["memory-latency.svg", "memory-lines.svg", "memory-bandwidth.svg"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        Ok(measure(device, bar)?)
    }
}

/// Measures everything.
fn measure(device: &Device, bar: &ProgressBar) -> Result<Report, MemoryError> {
    bar.set_length(6);
    let step = |part: &'static str| {
        bar.set_message(part);
        bar.inc(1);
    };
    let p = device.properties();
    let sizes = Sizes::of(p.l2_bytes as usize, device.free_memory()?)?;
    step("the clock");
    let in_l2 = Array::new(device, sizes.in_l2)?;
    warm_up(&in_l2, p.multiprocessors)?;
    let clock_mhz = fences::clock_mhz(device)?;
    step("latencies");
    let latencies = latencies::measure(device, &sizes, clock_mhz)?;
    let ns = |is_it: &dyn Fn(&latencies::Latency) -> bool| {
        latencies.iter().find(|latency| is_it(latency)).map_or(f64::NAN, |latency| latency.ns)
    };
    step("lines of the L2");
    let l2_lines = lines::measure(device)?;
    step("bandwidth of shared memory");
    let shared_memory = shared::measure(device, clock_mhz)?;
    step("bandwidth of the L2");
    let l2 = in_l2.curve(ns(&|latency| latency.of == latencies::L2))?;
    step("bandwidth of device memory");
    let array = Array::new(device, sizes.array)?;
    let device_memory = array.curve(ns(&|latency| latency.bytes == sizes.many_caches))?;
    let peak_gb_per_s = p.peak_gb_per_s();
    let percent = |peak: f64| 100.0 * device_memory.best.gb_per_s / peak;
    Ok(Report {
        device: p.name.clone(),
        clock_mhz,
        multiprocessors: p.multiprocessors,
        l2_bytes: p.l2_bytes,
        peak_gb_per_s,
        device_memory_percent_of_peak: peak_gb_per_s.map(percent),
        latencies,
        l2_lines,
        device_memory,
        l2,
        shared_memory,
    })
}

/// Keeps the device busy until its clocks are up.
fn warm_up(array: &Array, multiprocessors: u32) -> Result<(), MemoryError> {
    /// Maximum number of launches, so that it ends even if the device measures no time.
    const LAUNCHES: u32 = 1000;
    let shape = Shape { blocks: 4 * multiprocessors, threads: 256 };
    let mut passed = 0.0;
    for _ in 0..LAUNCHES {
        passed += array.read(&READERS[0], shape, 0, FEW)?;
        if passed >= WARM_UP_US {
            break;
        }
    }
    Ok(())
}

/// The slopes of `run`, which repeats something a given number of times and returns the cycles. The
/// first run is not counted.
fn slopes(mut run: impl FnMut(u32) -> Result<f64, MemoryError>) -> Result<Spread, MemoryError> {
    run(FEW)?;
    let mut slope = || Ok((-run(FEW)? + run(MANY)?) / f64::from(MANY - FEW));
    let slopes = (0..SAMPLES).map(|_| slope()).collect::<Result<_, MemoryError>>()?;
    Ok(Spread::of(slopes).expect("there should be samples"))
}

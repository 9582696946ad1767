//! `gridsync lab`: the experiments of [`gridsync_lab`].

mod all;
pub(super) mod folder;
mod found;

use super::exit::{Usage, Wrong};
use super::progress::progress;
use super::{DeviceChoice, Global};
pub use all::List;
use clap::{FromArgMatches, Subcommand};
use found::Found;
use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync_lab::{Experiment, ExperimentError, Report, RunsOn};
use std::ffi::OsStr;
use std::path::Path;

/// Look closely at one thing: what it costs, and what breaks it
#[derive(clap::Args)]
#[command(after_help = "Without an experiment: the list of them, and what each takes.")]
pub(crate) struct Lab {
    #[command(subcommand)]
    experiment: Option<Choice>,
}

#[derive(Subcommand)]
enum Choice {
    #[command(flatten)]
    One(Experiments),
    All(all::All),
}

/// The device for the experiment `name`.
fn device_for(runs_on: RunsOn, global: &Global, name: &str) -> anyhow::Result<Device> {
    match runs_on {
        RunsOn::Gpu => global.device.gpu(&format!("lab {name}")),
        RunsOn::Any => global.device.device(),
        RunsOn::Anywhere if global.device != DeviceChoice::Cpu => global.device.device(),
        RunsOn::Nothing | RunsOn::Anywhere => {
            Ok(Device::new(Emulator::new(EmulatorConfig::default())))
        }
    }
}

/// The parameters of an experiment for `lab all`.
#[derive(Clone, Copy)]
struct InAll {
    runs_on: RunsOn,
    has_files: bool,
    options: &'static [&'static str],
}

macro_rules! experiments {
    ($($(#[$attribute:meta])* $name:ident($ty:ty),)*) => {
        #[derive(Subcommand)]
        enum Experiments {
            $($(#[$attribute])* $name($ty),)*
        }

        /// The parameters of each experiment, in the order of the list.
        const ALL: &[InAll] = &[$(InAll {
            runs_on: <$ty>::RUNS_ON,
            has_files: !<$ty>::FILES.is_empty(),
            options: <$ty>::IN_ALL,
        }),*];

        impl Experiments {
            fn run(&self, global: &Global) -> anyhow::Result<()> {
                match self {
                    $(Self::$name(experiment) => {
                        let name = stringify!($name).to_lowercase();
                        let device = device_for(<$ty>::RUNS_ON, global, &name)?;
                        find(experiment, global, &device)?.print(global)
                    })*
                }
            }

            /// Runs one and writes its files.
            fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
                match self {
                    $(Self::$name(experiment) => find(experiment, global, device),)*
                }
            }
        }
    };
}
experiments! {
    Threads(gridsync_lab::threads::Args),
    Divergence(gridsync_lab::divergence::Args),
    Limits(gridsync_lab::limits::Args),
    Spin(gridsync_lab::spin::Args),
    Fences(gridsync_lab::fences::Args),
    Litmus(gridsync_lab::litmus::Args),
    Atomics(gridsync_lab::atomics::Args),
    Locks(gridsync_lab::locks::Args),
    Banks(gridsync_lab::banks::Args),
    Memory(gridsync_lab::memory::Args),
    Ladder(gridsync_lab::ladder::sums::Args),
    Scans(gridsync_lab::ladder::scans::Args),
    Sorts(gridsync_lab::ladder::sorts::Args),
    #[command(visible_alias = "mkl")]
    Launches(gridsync_lab::launches::Args),
    Accuracy(gridsync_lab::accuracy::Args),
    Stress(gridsync_lab::stress::Args),
}

/// Runs an experiment and writes its files.
fn find<E: Experiment>(experiment: &E, global: &Global, device: &Device) -> anyhow::Result<Found> {
    // Check this first, not after minutes of measuring.
    if let Some(folder) = experiment.output() {
        folder::prepare(folder, E::FILES)?;
    }
    let bar = progress(global, 0);
    let is_on_cpu = E::RUNS_ON == RunsOn::Anywhere
        && device.properties().is_emulated()
        && !matches!(global.device, DeviceChoice::Emulator(_) | DeviceChoice::Ptx(_));
    let report = if is_on_cpu { experiment.run_on_cpu(&bar) } else { experiment.run(device, &bar) };
    let report = report.map_err(failed)?;
    bar.finish_and_clear();
    found(&report, experiment.output(), global)
}

/// Writes the files of a result to `folder`.
pub(super) fn found<R: Report>(
    report: &R,
    folder: Option<&Path>,
    global: &Global,
) -> anyhow::Result<Found> {
    let found = Found::of(report, global)?;
    if let Some(folder) = folder {
        folder::write(folder, &found.files)?;
    }
    Ok(found)
}

/// The error of the program for that of an experiment.
pub(super) fn failed(error: ExperimentError) -> anyhow::Error {
    match error {
        ExperimentError::Device(error) => error.into(),
        ExperimentError::Usage(error) => Usage(error).into(),
        ExperimentError::Wrong(error) => Wrong(error).into(),
        ExperimentError::Failed(error) => anyhow::Error::msg(error),
    }
}

impl Lab {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        match self.experiment {
            Some(Choice::One(experiment)) => experiment.run(global),
            Some(Choice::All(all)) => all.run(global),
            None => all::list(global),
        }
    }
}

/// The commands of the experiments, in the order of the list.
fn commands() -> clap::Command {
    Experiments::augment_subcommands(clap::Command::new("lab"))
}

/// The experiment with this name and these options, and with the folder for its files, if any.
fn with_options(
    name: &str,
    options: &[&str],
    folder: Option<&OsStr>,
) -> Result<Experiments, clap::Error> {
    let mut args = vec![OsStr::new("lab"), OsStr::new(name)];
    args.extend(options.iter().map(OsStr::new));
    if let Some(folder) = folder {
        args.extend([OsStr::new("-o"), folder]);
    }
    Experiments::from_arg_matches(&commands().try_get_matches_from(args)?)
}

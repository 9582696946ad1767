//! `gridsync check`: runs kernels of any compiler under many schedules of the emulator.

mod array;
mod element;
mod names;
mod plan;
mod source;

use super::choice::DeviceChoice;
use super::exit::{Usage, Wrong};
use super::outcome::{Outcome, Right, Shown, text};
use super::{Global, output};
use anyhow::{Context, bail};
use gridsync::check::Check;
use gridsync::device::EmulatorConfig;
use gridsync_lab::count::within;
use plan::{Described, DescribedLaunch, Plan};
use source::Mode;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// Check a kernel in CUDA C++ or any compiler's PTX, without a GPU
///
/// The PTX is run instruction by instruction, under schedules drawn from seeds, with weak memory and
/// checked accesses, and with checks for data races under every other schedule. So it finds a missing
/// barrier, fence or atomic, an order or a scope that is too weak, a grid that would hang, accesses out
/// of bounds, and reads of uninitialised memory. nvcc, where there is one, compiles a .cu file. Messages
/// name the lines of the source if the PTX has them (nvcc -lineinfo). A check finds the errors that its
/// schedules and inputs show, and proves nothing, except --every for a tiny grid.
///
/// An argument is a number; or an array, whose address the kernel gets: TYPE[LEN] is filled with zeros,
/// TYPE[LEN]=FILL with a number, `iota` (0 1 2 …), `random` (below 100), or `unset` (uninitialised), and
/// FILE.npy has the contents of a file; or @N, the same array as argument N. Types are u8 i8 u16 i16 u32
/// i32 u64 i64 f16 bf16 f32 f64. With --launch, a TOML file has the arrays, several launches and several
/// GPUs:
///
///   gpus = 2                        # emulated GPUs, 1 unless given
///   [arrays]
///   data = "u32[1024]=iota"
///   other = "u32[1024] @1"          # on GPU 1
///   [[launch]]                      # in order
///   kernel = "fill"
///   grid = [4]
///   block = [32, 2]
///   args = ["data", "1024"]         # or args_of_gpus = [[…], […]], to run on all GPUs at once
///   [expect]
///   data = "7"                      # a number, iota or a file
///
/// A launch may also have cluster, shared, cooperative, and overlapping = true for programmatic dependent
/// launch.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CheckFile {
    /// A .ptx file, or a .cu file for nvcc.
    file: PathBuf,
    /// The name of the kernel, in the source or in the PTX. Not needed if the file has only one.
    kernel: Option<String>,
    /// Blocks of the grid: X, or X,Y, or X,Y,Z.
    #[arg(long, value_delimiter = ',', value_name = "X,Y,Z", required_unless_present = "launch")]
    grid: Vec<u32>,
    /// Threads of a block: X, or X,Y, or X,Y,Z.
    #[arg(long, value_delimiter = ',', value_name = "X,Y,Z", required_unless_present = "launch")]
    block: Vec<u32>,
    /// An argument of the kernel: repeat it for each, in their order.
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Compare the array of argument N after the launch: with a number, `iota` or a file.
    #[arg(long, value_name = "N=VALUE")]
    expect: Vec<String>,
    /// Blocks of a cluster.
    #[arg(long, value_name = "BLOCKS")]
    cluster: Option<u32>,
    /// Bytes of dynamic shared memory of a block.
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    shared: u32,
    /// Refuse a grid whose blocks cannot all be resident, as a cooperative launch does.
    #[arg(long)]
    cooperative: bool,
    /// Arrays, launches and expectations of a TOML file, in place of the options above.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = [
        "kernel", "grid", "block", "args", "expect", "cluster", "shared", "cooperative"
    ])]
    launch: Option<PathBuf>,
    /// Schedules to run.
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = within::<u64>(1..=1 << 40))]
    schedules: u64,
    /// The seed of the first schedule.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = within::<u64>(0..=1 << 40))]
    seed: u64,
    /// Sequentially consistent memory: a read returns the last value.
    #[arg(long)]
    sequential: bool,
    /// Explore all executions of a tiny grid, at most so many.
    #[arg(long, value_name = "EXECUTIONS", value_parser = within::<u64>(1..=1 << 40), conflicts_with_all = ["weaken", "seed", "schedules"])]
    every: Option<u64>,
    /// Make each place that orders or waits weaker, one at a time, to see which are needed.
    #[arg(long)]
    weaken: bool,
    /// An option for nvcc, such as --nvcc=-std=c++20 or --nvcc=-arch=sm_80: repeat it for each.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    nvcc: Vec<OsString>,
}

impl CheckFile {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        if !matches!(global.device, DeviceChoice::Auto | DeviceChoice::Emulator(1)) {
            bail!(Usage("check runs in the emulator: leave --device out".to_owned()));
        }
        let described = self.described()?;
        let plan = self.plan(&described, Mode::Optimised)?;
        let outcome = self.check(&plan);
        let kernels: Vec<String> =
            plan.kernels().map(|kernel| names::readable(kernel.name())).collect();
        let name = format!("{}: {}", self.file.display(), kernels.join(", "));
        let note = match &outcome {
            Err(failure) if failure.race().is_some() && source::is_cuda(&self.file) => {
                self.origin(&described)?
            }
            _ => "",
        };
        let race = outcome.as_ref().err().and_then(|failure| failure.race());
        let excuse = race.and_then(|race| plan.excuse(race));
        let excuse =
            excuse.map_or(String::new(), |it| format!("\nthe race is probably harmless: {it}"));
        let again = format!("gridsync check {} …", self.file.display());
        let text = || {
            let text = text(global, &name, &outcome, self.schedules, &again);
            names::in_text(&text) + note + &excuse
        };
        let json = names::in_json(serde_json::to_value(Shown::of(&name, &outcome))?);
        output::result(global, text, || json)?;
        if outcome.is_err() {
            bail!(Wrong(format!("{} is wrong", self.file.display())));
        }
        Ok(())
    }

    fn plan(&self, described: &Described, mode: Mode) -> anyhow::Result<Plan> {
        Plan::of(described, &source::module(&self.file, mode, &self.nvcc)?)
    }

    fn check(&self, plan: &Plan) -> Outcome {
        let machine = EmulatorConfig { gpus: plan.gpus, ..EmulatorConfig::default() };
        let check = Check::default().on(machine).from(self.seed).schedules(self.schedules);
        let check = if self.sequential { check.sequential() } else { check };
        let run = |device: &_| plan.run(device);
        match self.every {
            Some(most) => check.every(most, run).map(Right::Explored),
            None if self.weaken => check.weaken(run).map(Right::Weakened),
            None => check.run(run).map(Right::Passed),
        }
    }

    /// Whether the source has a race, or the compiler has made it.
    fn origin(&self, described: &Described) -> anyhow::Result<&'static str> {
        let plan = self.plan(described, Mode::Debug)?;
        Ok(match self.check(&plan) {
            Err(failure) if failure.race().is_some() => {
                "\nthe race is in the source: the code without optimisation (nvcc -G) has one too"
            }
            _ => {
                "\nthe compiler made the race, or hid it elsewhere: the code without optimisation \
                 (nvcc -G) has none"
            }
        })
    }

    /// The plan of the options, or of the TOML file.
    fn described(&self) -> anyhow::Result<Described> {
        if let Some(path) = &self.launch {
            let text = fs::read_to_string(path);
            let text = text.map_err(|error| Usage(format!("{}: {error}", path.display())))?;
            let described = toml::from_str(&text);
            return described.map_err(|error| {
                let error = error.to_string();
                Usage(format!("{}: {}", path.display(), error.trim())).into()
            });
        }
        let mut described = Described::default();
        let mut launch = DescribedLaunch {
            kernel: self.kernel.clone(),
            grid: self.grid.clone(),
            block: self.block.clone(),
            cluster: self.cluster,
            shared: self.shared,
            cooperative: self.cooperative,
            ..DescribedLaunch::default()
        };
        for (at, text) in self.args.iter().enumerate() {
            launch.args.push(if text.parse::<f64>().is_ok() {
                text.clone()
            } else if let Some(other) = text.strip_prefix('@') {
                name_of(other)
            } else {
                described.arrays.insert(name_of(at), text.clone());
                name_of(at)
            });
        }
        described.launch.push(launch);
        for text in &self.expect {
            let (at, value) = text.split_once('=').with_context(|| format!("--expect {text}"))?;
            described.expect.insert(name_of(at), value.to_owned());
        }
        Ok(described)
    }
}

/// The name of the array of an argument.
fn name_of(argument: impl std::fmt::Display) -> String {
    format!("of argument {argument}")
}

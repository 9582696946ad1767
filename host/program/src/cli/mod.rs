//! The command line: one file for each subcommand.

mod axis;
mod bench;
mod catalogue;
mod checked;
mod choice;
mod completions;
mod count;
mod dag;
mod demo;
mod devices;
mod emulate;
mod exit;
mod files;
mod job;
mod kendall;
mod lab;
mod man;
mod new;
mod notes;
mod number;
mod output;
mod parts;
mod progress;
mod range_sum;
mod reduce;
mod report;
mod scan;
mod select;
mod signals;
mod sink;
mod verify;
mod work;

use crate::data::DataError;
use choice::DeviceChoice;
use clap::{Args, Parser, Subcommand};
use gridsync::parallel;
use std::process::ExitCode;

/// Grid-wide synchronisation and reductions for NVIDIA GPUs, with every kernel in Rust.
///
/// The same kernels run on a GPU, or in an emulator on the CPU that checks every access. A CPU
/// reference says what is right.
#[derive(Parser)]
#[command(name = "gridsync", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  gridsync demo                               what a missing grid barrier does, and that it helps
  gridsync devices                            which devices there are, and their limits
  gridsync reduce data.npy --op sum --check   a sum, compared with the CPU reference
  gridsync reduce - --dtype f32 --op max      raw little-endian numbers from standard input
  gridsync scan data.npy --op sum -o out.npy  for each element, the sum of all up to it
  gridsync select x.npy --unique -o out.npy   the first of each run of equal elements
  gridsync range-sum data.npy queries.npy -o out.npy  the sums of any ranges
  gridsync kendall x.npy y.npy                whether two arrays are ordered alike
  gridsync dag --diamond                      a graph of kernels, by every means
  gridsync emulate barrier --weaken           which orders the grid barriers need
  gridsync new hello                          your own package: a kernel and its test
  gridsync lab                                experiments to learn from, a line each
  gridsync verify --device emulator           every kernel, in the emulator
  gridsync report bench/runs -o page          a page of all results that were recorded

Exit codes:
  0  all is right, or the reader of standard output has closed it
  1  a result is wrong: a check failed, or a kernel was found to be wrong
  2  the call is at fault: bad usage, an input that cannot be read or makes no
     sense, an output that cannot be written, more memory than the host has
  3  the device is at fault: there is none where one is needed, or it, its
     driver or a kernel failed; or another rank is missing, lost or failed";

/// Flags that every subcommand takes.
#[derive(Args)]
struct Global {
    /// Where to run: `auto`, `cuda`, `cuda:N`, `emulator` or `cpu`. `auto` takes the GPU if there
    /// is one, else the emulator. For reduce, scan, select, range-sum and kendall it takes the CPU,
    /// unless there is a GPU and computing on the CPU would take longer than opening it. reduce, scan,
    /// select, range-sum and kendall also share their array among several, and bench system measures
    /// them: `cuda:0,1`, `cuda:all`, `emulator:3`.
    #[arg(long, global = true, default_value = "auto", value_name = "DEVICE")]
    device: DeviceChoice,
    /// Print one JSON value on standard output; all else goes to standard error.
    #[arg(long, global = true)]
    json: bool,
    /// Print results only.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more about what is done.
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Bench),
    Completions(completions::Completions),
    Dag(dag::Dag),
    /// Show what happens without a barrier of the whole grid, and that the barrier helps.
    Demo(demo::Demo),
    /// List the devices and their limits.
    Devices(devices::Devices),
    Emulate(emulate::Emulate),
    Kendall(kendall::Tau),
    Lab(lab::Lab),
    Man(man::Manual),
    New(new::New),
    RangeSum(range_sum::RangeSum),
    Reduce(reduce::Reduce),
    Report(report::Report),
    Scan(scan::Scan),
    Select(select::Select),
    Verify(verify::Verify),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let Cli { global, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    if let Err(cause) = signals::clean_up().and_then(|()| parallel::start()) {
        return exit::code(Err(DataError::NoThread { cause }.into()));
    }
    let done = match command {
        Command::Bench(bench) => bench.run(&global),
        Command::Completions(completions) => completions.run(&global),
        Command::Dag(dag) => dag.run(&global),
        Command::Demo(demo) => demo.run(&global),
        Command::Devices(devices) => devices.run(&global),
        Command::Emulate(emulate) => emulate.run(&global),
        Command::Kendall(kendall) => kendall.run(&global),
        Command::Lab(lab) => lab.run(&global),
        Command::Man(man) => man.run(&global),
        Command::New(new) => new.run(&global),
        Command::RangeSum(range_sum) => range_sum.run(&global),
        Command::Reduce(reduce) => reduce.run(&global),
        Command::Report(report) => report.run(&global),
        Command::Scan(scan) => scan.run(&global),
        Command::Select(select) => select.run(&global),
        Command::Verify(verify) => verify.run(&global),
    };
    exit::code(done)
}

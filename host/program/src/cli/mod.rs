//! The command line: one file for each subcommand.

mod axis;
mod bench;
mod by_rank;
mod catalogue;
mod check;
mod checked;
mod choice;
mod comparisons;
mod completions;
mod computed;
mod dag;
mod demo;
mod describe;
mod devices;
mod emulate;
mod examples;
mod exit;
mod files;
mod group;
mod help;
mod histogram;
mod job;
mod kendall;
mod lab;
mod man;
mod new;
mod offsets;
mod outcome;
mod output;
mod parts;
mod progress;
mod quantile;
mod range_sum;
mod reduce;
mod report;
mod runs;
mod scan;
mod segments;
mod select;
mod signals;
mod sink;
mod sort;
mod top;
mod unique;
mod verify;
mod work;

/// The results of commands, as `--json` prints them.
pub mod results {
    pub use super::computed::Computed;
    pub use super::devices::Listed as Devices;
    pub use super::emulate::Emulated;
    pub use super::lab::List as Experiments;
    pub use super::outcome::Shown as Checked;
    pub use super::verify::Verified;
}

use crate::data::DataError;
use choice::DeviceChoice;
use clap::{Args, FromArgMatches, Parser, Subcommand};
use gridsync::parallel;
use help::command;
use std::env;
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
  gridsync reduce x.npy --op sum --check     the sum, compared with a reference
  gridsync scan x.npy --op sum -o sums.npy   for each element, the sum up to it
  gridsync select x.npy --where '> 0.5' -o y.npy  the elements above 0.5
  gridsync demo                              what a missing grid barrier does
  gridsync new hello                         your own kernel, and its test
  gridsync lab                               experiments to learn from
  gridsync reduce --help                     more, and more examples

Exit codes:
  0  all is right, or the reader of standard output has closed it
  1  a result is wrong: a check failed, or a kernel was found to be wrong
  2  an error in the call: bad usage, an input that cannot be read or is
     invalid, an output that cannot be written, more memory than the host has
  3  a fault of the device: there is none where one is needed, or it, its
     driver or a kernel failed; or another rank is missing, lost or failed";

/// The heading of the options of every subcommand.
const COMMON: &str = "Common options";

/// Flags that every subcommand takes.
#[derive(Args)]
struct Global {
    /// auto (the default), cpu, emulator, ptx, cuda or cuda:N; several: cuda:0,1, cuda:all, emulator:3.
    /// See gridsync devices --help.
    #[arg(
        long,
        global = true,
        default_value = "auto",
        hide_default_value = true,
        value_name = "DEVICE",
        display_order = 1000, help_heading = COMMON
    )]
    device: DeviceChoice,
    /// Print one JSON value on standard output; everything else goes to standard error.
    #[arg(long, global = true, display_order = 1001, help_heading = COMMON)]
    json: bool,
    /// Print results only.
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = 1002, help_heading = COMMON)]
    quiet: bool,
    /// Print more about what is done.
    #[arg(short, long, global = true, display_order = 1003, help_heading = COMMON)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Reduce(reduce::Reduce),
    Scan(scan::Scan),
    Select(select::Select),
    Segments(segments::OfSegments),
    Group(group::Group),
    Sort(sort::Sort),
    Unique(unique::Unique),
    Top(top::Top),
    Quantile(quantile::Quantile),
    Histogram(histogram::Histogram),
    Describe(describe::Describe),
    RangeSum(range_sum::RangeSum),
    Kendall(kendall::Tau),
    /// Show what happens without a grid barrier, and with one
    Demo(demo::Demo),
    Lab(lab::Lab),
    Emulate(emulate::Emulate),
    Check(check::CheckFile),
    Dag(gridsync_lab::dag::Args),
    New(new::New),
    Devices(devices::Devices),
    Verify(verify::Verify),
    Bench(bench::Bench),
    Report(report::Report),
    Completions(completions::Completions),
    Man(man::Manual),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let command = command();
    let words = bench::suite_first(&command, env::args_os().collect());
    let parsed = command.try_get_matches_from(words);
    let Cli { global, command } = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    if let Err(cause) = signals::clean_up().and_then(|()| parallel::start()) {
        return exit::code(Err(DataError::NoThread { cause }.into()));
    }
    let done = match command {
        Command::Bench(bench) => bench.run(&global),
        Command::Check(check) => check.run(&global),
        Command::Completions(completions) => completions.run(&global),
        Command::Dag(dag) => dag::run(&dag, &global),
        Command::Demo(demo) => demo.run(&global),
        Command::Describe(describe) => describe.run(&global),
        Command::Devices(devices) => devices.run(&global),
        Command::Emulate(emulate) => emulate.run(&global),
        Command::Group(group) => group.run(&global),
        Command::Histogram(histogram) => histogram.run(&global),
        Command::Kendall(kendall) => kendall.run(&global),
        Command::Lab(lab) => lab.run(&global),
        Command::Man(man) => man.run(&global),
        Command::New(new) => new.run(&global),
        Command::Quantile(quantile) => quantile.run(&global),
        Command::RangeSum(range_sum) => range_sum.run(&global),
        Command::Reduce(reduce) => reduce.run(&global),
        Command::Report(report) => report.run(&global),
        Command::Scan(scan) => scan.run(&global),
        Command::Segments(segments) => segments.run(&global),
        Command::Select(select) => select.run(&global),
        Command::Sort(sort) => sort.run(&global),
        Command::Top(top) => top.run(&global),
        Command::Unique(unique) => unique.run(&global),
        Command::Verify(verify) => verify.run(&global),
    };
    exit::code(done)
}

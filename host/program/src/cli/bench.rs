//! `gridsync bench`: measures gridsync, and a peer in the same run.

mod calls;
mod compare;
mod figure;
mod latency;
mod peers;
mod rows;
mod scaling;
mod system;
mod throughput;

use super::exit::Usage;
use super::{Global, output};
use crate::data::{Output, write_raw};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use gridsync_lab::bench::{
    self, ALL_REDUCE, BARRIER, COLLECTIVES, Case, KENDALL, PARTITION, REDUCE, REDUCE_ROWS, Record,
    SCAN, SCAN_THREADS, SELECT, Throughput, UNIQUE,
};
use gridsync_lab::count::{power_of_two, within};
use serde_json::{Value, json};
use std::env;
use std::ffi::OsString;

/// Measure on a GPU, and a peer in the same run
///
/// Each row is printed as soon as it is measured. The records, which --output and --json give, have
/// more: the least and the greatest sample, how many samples there were, and the time of the peer.
///
/// `barrier`: the time per crossing of each grid barrier, back to back, at several shapes of grids.
/// It is the slope between launches of 200 and 2200 rounds, the median of 7 samples or more, until
/// it is known to half a percent. What could not be measured that well is marked. The peer is
/// cooperative groups' grid.sync().
///
/// `all-reduce`: the same for one number of each block, combined and brought to every block. The
/// peer does it by grid.sync().
///
/// `scan-threads`: the same for one number of each thread of the grid, where each thread gets the
/// sum of those before it. The peer does it by grid.sync() too.
///
/// `system`: the time per crossing of the barrier of all blocks of several GPUs, and of one number of
/// each block combined and brought to every block of every GPU. It is measured on 1, 2, 4, 8 and so
/// on of the GPUs, as the slope of the time on the host between launches of 200 and 5200 rounds on
/// all of them. The peer is ncclAllReduce of one f32 of each GPU, in CUDA graphs.
///
/// `scaling`: the time of a sum and of an inclusive scan of f32 that lie on several GPUs in stripes, of
/// calls in a row, and of one sum until the host has its value. Each length is measured on 1, 2, 4, 8
/// and so on of the GPUs, and so many times the length on as many GPUs. The results are compared.
///
/// `calls`: the time of the host for one sum of f32: to put it into the stream, alone and as a graph, and
/// to have its value; and a whole process that adds up 1000 numbers. The peer is CUB's DeviceReduce, with
/// storage that was allocated before.
///
/// `reduce`: the device time of one reduction, from elements in device memory that are in no cache
/// to a result there, for several operations, element types and lengths. Calls are timed in a row,
/// as many in one graph as the table says, and alone. The peer is CUB's DeviceReduce; it also
/// measures how long it takes to only read the elements.
///
/// `reduce-rows`: the same for sums of the rows of f32 matrices, for several lengths of rows. The
/// peer is CUB's DeviceSegmentedReduce.
///
/// `scan`: the same for inclusive sums, by the design that a scan chooses for the length (auto),
/// and by each design where both are possible. The peer is CUB's DeviceScan; it also measures how
/// long it takes to copy the elements, by the driver or by a kernel, whichever is faster. A peer on
/// the CPU is numpy.cumsum, where there is NumPy. The results are checked.
///
/// `select`, `partition`, `unique`: the same for f32, where 0, 1, 50, 99 and 100 % are kept: the
/// elements below a bound; these and the others apart; the first of each run. The peers are CUB's
/// DeviceSelect::If, DevicePartition::If and DeviceSelect::Unique. `unique` also gives the lengths
/// of the runs, for 1, 50 and 100 %; the peer is DeviceRunLengthEncode. The results are checked.
///
/// `kendall`: the same for the rank correlation of two arrays, by the method that it chooses for
/// the length (auto), and by each method, by pairs up to 2^16 elements; f32 and f64 with few ties,
/// i32 with many. The peer is scipy.stats.kendalltau on the CPU where there is SciPy, for f32 at
/// the greatest length up to 2^20. The results are checked.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct Bench {
    #[command(subcommand)]
    command: Option<Command>,
    /// What to measure.
    #[arg(required = true)]
    suite: Option<Name>,
    /// Measure the peer too, in the same run: needs nvcc, but for kendall. It finds headers newer
    /// than its own, such as CUB's, by `NVCC_PREPEND_FLAGS="-I FOLDER"`. For system it needs NCCL too:
    /// that of the system or of python3, or in the folder that NCCL_HOME names.
    #[arg(long)]
    peers: bool,
    /// Write the records to this file, one JSON value a line.
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: Option<OsString>,
    /// Of the other suites: elements, as 1000 or 2^20 [default: of reduce and scan
    /// 2^10,2^12,2^16,2^20,2^24,2^28,2^30,2^32, of reduce-rows 2^24, of kendall
    /// 2^10,2^13,2^14,2^16,2^20,2^24, of calls 2^10,2^16,2^20, of scaling 2^28,2^30,2^32, else
    /// 2^16,2^20,2^24,2^28].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<usize>(1..=1 << 56))]
    sizes: Vec<usize>,
    /// Of the other suites: measure these operations only [default: all].
    #[arg(
        long,
        value_name = "OP",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(distinct(cases().map(|case| case.op)))
    )]
    ops: Vec<String>,
    /// Of the other suites: measure these element types only [default: all].
    #[arg(
        long,
        value_name = "DTYPE",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(distinct(cases().map(|case| case.dtype.name())))
    )]
    dtypes: Vec<String>,
    /// Of barrier, all-reduce, scan-threads and system: measure these designs only [default: all].
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(distinct(designs()))
    )]
    only: Vec<String>,
    /// Of barrier, all-reduce, scan-threads and system: blocks of the grids [default: a quarter, a
    /// half, one, two and four for each multiprocessor; of system one in all, a half and one for each
    /// multiprocessor].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<u32>(1..=u64::MAX))]
    blocks: Vec<u32>,
    /// Of barrier, all-reduce, scan-threads and system: threads of a block [default:
    /// 32,128,256,1024; of system 256].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<u32>(1..=u64::MAX))]
    threads: Vec<u32>,
    /// Of scaling: elements of a stripe, a power of two of at least a tile [default: 2^20, and a tile of
    /// the sum above 2^32].
    #[arg(long, value_name = "N", value_parser = power_of_two)]
    stripe: Option<usize>,
    /// Of system and scaling: draw the times by the number of GPUs to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<OsString>,
}

/// What is done with records of earlier runs.
#[derive(clap::Subcommand)]
enum Command {
    Compare(compare::Compare),
    Peers(peers::Peers),
    /// Build all peers at once into the folder that GRIDSYNC_PEERS names, for later calls with --peers
    BuildPeers,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// The grid barriers.
    Barrier,
    /// One number of each block, combined.
    AllReduce,
    /// The numbers of all threads of a grid, scanned.
    ScanThreads,
    /// A barrier of several GPUs, and one number of each of their blocks, combined.
    System,
    /// Sums and scans of arrays that lie on several GPUs.
    Scaling,
    /// What a call costs the host.
    Calls,
    /// An array to one value.
    Reduce,
    /// Each row of a matrix to one value.
    ReduceRows,
    /// An array to the sums up to each element.
    Scan,
    /// Some elements of an array.
    Select,
    /// Some elements of an array, and the others apart.
    Partition,
    /// The first of each run of equal elements.
    Unique,
    /// Two arrays to their rank correlation.
    Kendall,
}

/// A suite, by the kind of measurement.
enum Suite {
    Latencies(&'static bench::Suite),
    Throughputs(&'static Throughput),
    System,
    Scaling,
    Calls,
}

impl Name {
    fn suite(self) -> Suite {
        match self {
            Self::Barrier => Suite::Latencies(&BARRIER),
            Self::AllReduce => Suite::Latencies(&ALL_REDUCE),
            Self::ScanThreads => Suite::Latencies(&SCAN_THREADS),
            Self::System => Suite::System,
            Self::Scaling => Suite::Scaling,
            Self::Calls => Suite::Calls,
            Self::Reduce => Suite::Throughputs(&REDUCE),
            Self::ReduceRows => Suite::Throughputs(&REDUCE_ROWS),
            Self::Scan => Suite::Throughputs(&SCAN),
            Self::Select => Suite::Throughputs(&SELECT),
            Self::Partition => Suite::Throughputs(&PARTITION),
            Self::Unique => Suite::Throughputs(&UNIQUE),
            Self::Kendall => Suite::Throughputs(&KENDALL),
        }
    }
}

/// All suites, in the order of their names.
fn suites() -> impl Iterator<Item = Suite> {
    Name::value_variants().iter().map(|name| name.suite())
}

/// The names of the designs in the suites of latencies.
fn designs() -> impl Iterator<Item = &'static str> {
    let names = |suite| -> Vec<&'static str> {
        match suite {
            Suite::Latencies(suite) => suite.designs.iter().map(|design| design.name).collect(),
            Suite::Throughputs(_) | Suite::Scaling | Suite::Calls => Vec::new(),
            Suite::System => COLLECTIVES.iter().map(|collective| collective.name).collect(),
        }
    };
    suites().flat_map(names)
}

/// The cases of all suites of throughputs.
fn cases() -> impl Iterator<Item = &'static Case> {
    suites().flat_map(|suite| match suite {
        Suite::Throughputs(suite) => suite.cases,
        Suite::Latencies(_) | Suite::System | Suite::Scaling | Suite::Calls => &[],
    })
}

/// The names in order, without duplicates.
fn distinct(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

fn build_peers(global: &Global) -> anyhow::Result<()> {
    if env::var_os("GRIDSYNC_PEERS").is_none_or(|folder| folder.is_empty()) {
        return Err(
            Usage("GRIDSYNC_PEERS does not name a folder to build the peers into".into()).into()
        );
    }
    let built = bench::build_peers()?;
    output::result(global, || format!("{built} peers are built"), || json!({ "peers": built }))
}

impl Bench {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        match &self.command {
            Some(Command::Compare(compare)) => return compare.run(global),
            Some(Command::Peers(peers)) => return peers.run(global),
            Some(Command::BuildPeers) => return build_peers(global),
            None => {}
        }
        let suite = self.suite.expect("clap asks for it where there is no command").suite();
        self.refuse_flags_of_other_suites(&suite)?;
        let gpu = || global.device.gpu("bench");
        let records = match suite {
            Suite::Latencies(suite) => self.latencies(suite, gpu()?, global)?,
            Suite::Throughputs(suite) => self.throughputs(suite, gpu()?, global)?,
            Suite::System => self.system(global)?,
            Suite::Scaling => self.scaling(global)?,
            Suite::Calls => self.calls(gpu()?, global)?,
        };
        if let Some(out) = self.output {
            write_raw(&Output::parse(out), Record::lines_made_now(&records).as_bytes())?;
        }
        match global.json {
            true => output::print(&Value::Array(Record::all_made_now(&records)).to_string()),
            false => Ok(()),
        }
    }

    fn refuse_flags_of_other_suites(&self, suite: &Suite) -> Result<(), Usage> {
        let grids = [
            ("--only", self.only.is_empty()),
            ("--blocks", self.blocks.is_empty()),
            ("--threads", self.threads.is_empty()),
        ];
        let cases = [("--ops", self.ops.is_empty()), ("--dtypes", self.dtypes.is_empty())];
        let sizes = [("--sizes", self.sizes.is_empty())];
        let arrays = [&cases[..], &sizes].concat();
        let stripe = [("--stripe", self.stripe.is_none())];
        let svg = [("--svg", self.svg.is_none())];
        let several = [&stripe[..], &svg].concat();
        let (name, takes, others) = match suite {
            Suite::Latencies(suite) => {
                (suite.name, grids.to_vec(), [&arrays[..], &several].concat())
            }
            Suite::Throughputs(suite) => (suite.name, arrays, [&grids[..], &several].concat()),
            Suite::System => {
                ("system", [&grids[..], &svg].concat(), [&arrays[..], &stripe].concat())
            }
            Suite::Scaling => {
                ("scaling", [&sizes[..], &several].concat(), [&grids[..], &cases].concat())
            }
            Suite::Calls => ("calls", sizes.to_vec(), [&grids[..], &several, &cases].concat()),
        };
        match others.iter().find(|(_, unused)| !unused) {
            None => Ok(()),
            Some((flag, _)) => Err(Usage(format!(
                "{flag} does not apply to suite {name}, which accepts {}",
                takes.iter().map(|(flag, _)| *flag).collect::<Vec<_>>().join(", ")
            ))),
        }
    }
}

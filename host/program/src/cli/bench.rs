//! `gridsync bench`: measurements, beside a peer's in the same run.

mod latency;
mod rows;
mod throughput;

use super::count::within;
use super::exit::Usage;
use super::{Global, output};
use crate::bench::{
    self, ALL_REDUCE, BARRIER, Case, Design, KENDALL, PARTITION, REDUCE, REDUCE_ROWS, Record, SCAN,
    SELECT, Throughput, UNIQUE, Warning,
};
use crate::data::{Output, write_raw};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use serde_json::Value;
use std::ffi::OsString;

/// Measure on a GPU, beside a peer
///
/// Each row is printed as it comes; the records, which --output and --json give, have more: the least
/// and the greatest sample, how many there were, and the time of the peer.
///
/// The suite `barrier` is the time per crossing of each grid barrier, back to back, over shapes of
/// grids: the slope between launches of 200 and 2200 rounds, the median of 7 or more, until it is
/// known to half a percent. What could not be measured that well is marked. Its peer is cooperative
/// groups' grid.sync().
///
/// The suite `all-reduce` is the same of one number for each block, combined and brought to every
/// block; its peer is that by grid.sync().
///
/// The suite `reduce` is the device time of one reduction, from elements in device memory that no
/// cache holds to a result there, over operations, element types and lengths: in a row, as many calls
/// in one graph as the table says, and alone. Its peer is CUB's DeviceReduce; with it comes what it
/// takes to only read the elements.
///
/// The suite `reduce-rows` is the same of the rows of matrices, of f32 by sum, over lengths of rows;
/// its peer is CUB's DeviceSegmentedReduce.
///
/// The suite `scan` is the same of inclusive sums, by the design that a scan takes for the length
/// (auto) and by each of both where both can. Its peer is CUB's DeviceScan; with it comes what it takes
/// to copy the elements, by the driver or by a kernel, whichever is faster, and numpy.cumsum on the
/// CPU where there is NumPy. The results are checked.
///
/// The suites `select`, `partition` and `unique` are the same of f32 of which 0, 1, 50, 99 and 100 % are
/// kept: those below a bound, those and the others, the first of each run. Their peers are CUB's
/// DeviceSelect::If, DevicePartition::If and DeviceSelect::Unique. `unique` has the lengths of the runs
/// too, of 1, 50 and 100 %; their peer is DeviceRunLengthEncode. The results are checked.
///
/// The suite `kendall` is the same of the rank correlation of two arrays, by the method that it takes
/// for the length (auto) and by each of both, of pairs up to 2^16 elements: of f32 and f64 with few
/// ties, of i32 with many. Its peer is scipy.stats.kendalltau on the CPU where there is SciPy, of f32 at
/// the greatest length up to 2^20. The results are checked.
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// What to measure.
    suite: Name,
    /// Of barrier and all-reduce: measure these designs only [default: all].
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(designs().map(|design| design.name))
    )]
    only: Vec<String>,
    /// Of barrier and all-reduce: blocks of the grids [default: a quarter, a half, one, two and four
    /// for each multiprocessor].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<u32>(1..=u64::MAX))]
    blocks: Vec<u32>,
    /// Of barrier and all-reduce: threads of a block [default: 32,128,256,1024].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<u32>(1..=u64::MAX))]
    threads: Vec<u32>,
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
    /// Of the other suites: elements, as 1000 or 2^20 [default: of reduce and scan
    /// 2^10,2^12,2^16,2^20,2^24,2^28,2^30,2^32, of reduce-rows 2^24, of kendall
    /// 2^10,2^13,2^14,2^16,2^20,2^24, else 2^16,2^20,2^24,2^28].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<usize>(1..=1 << 56))]
    sizes: Vec<usize>,
    /// Measure the peer too, in the same run: needs nvcc, but for kendall. It finds headers newer than
    /// its own, such as CUB's, by `NVCC_PREPEND_FLAGS="-I FOLDER"`.
    #[arg(long)]
    peers: bool,
    /// Write the records to this file, one JSON value a line.
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: Option<OsString>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// The grid barriers.
    Barrier,
    /// One number of each block, combined.
    AllReduce,
    /// An array to one value.
    Reduce,
    /// Each row of a matrix to one value.
    ReduceRows,
    /// An array to what all elements up to each one sum up to.
    Scan,
    /// Some elements of an array.
    Select,
    /// Some elements of an array, and the others.
    Partition,
    /// The first of each run of equal elements.
    Unique,
    /// Two arrays to their rank correlation.
    Kendall,
}

/// A suite, by what it measures.
enum Suite {
    Latencies(&'static bench::Suite),
    Throughputs(&'static Throughput),
}

impl Name {
    fn suite(self) -> Suite {
        match self {
            Self::Barrier => Suite::Latencies(&BARRIER),
            Self::AllReduce => Suite::Latencies(&ALL_REDUCE),
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

/// The designs of all suites of latencies.
fn designs() -> impl Iterator<Item = &'static Design> {
    suites().flat_map(|suite| match suite {
        Suite::Latencies(suite) => suite.designs,
        Suite::Throughputs(_) => &[],
    })
}

/// The cases of all suites of throughputs.
fn cases() -> impl Iterator<Item = &'static Case> {
    suites().flat_map(|suite| match suite {
        Suite::Latencies(_) => &[],
        Suite::Throughputs(suite) => suite.cases,
    })
}

/// Each name once, in their order.
fn distinct(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

impl Bench {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        self.refuse_flags_of_other_suites()?;
        let device = global.device.gpu("bench")?;
        let records = match self.suite.suite() {
            Suite::Latencies(suite) => self.latencies(suite, device, global)?,
            Suite::Throughputs(suite) => self.throughputs(suite, device, global)?,
        };
        let lines: String = records
            .iter()
            .map(|record| format!("{}\n", record.json()))
            .collect();
        if let Some(out) = self.output {
            write_raw(&Output::parse(out), lines.as_bytes())?;
        }
        match global.json {
            true => output::print(
                &records
                    .iter()
                    .map(Record::json)
                    .collect::<Value>()
                    .to_string(),
            ),
            false => Ok(()),
        }
    }

    fn refuse_flags_of_other_suites(&self) -> Result<(), Usage> {
        let latency = [
            ("--only", self.only.is_empty()),
            ("--blocks", self.blocks.is_empty()),
            ("--threads", self.threads.is_empty()),
        ];
        let throughput = [
            ("--ops", self.ops.is_empty()),
            ("--dtypes", self.dtypes.is_empty()),
            ("--sizes", self.sizes.is_empty()),
        ];
        let (name, takes, others) = match self.suite.suite() {
            Suite::Latencies(suite) => (suite.name, latency, throughput),
            Suite::Throughputs(suite) => (suite.name, throughput, latency),
        };
        match others.iter().find(|(_, unused)| !unused) {
            None => Ok(()),
            Some((flag, _)) => Err(Usage(format!(
                "{flag} says nothing to the suite {name}, which takes {}",
                takes.map(|(flag, _)| flag).join(", ")
            ))),
        }
    }
}

/// The number of the note that says `warning`; what several records share is one note.
pub(super) fn number(notes: &mut Vec<Warning>, warning: Warning) -> usize {
    let known = notes.iter().position(|note| *note == warning);
    1 + known.unwrap_or_else(|| {
        notes.push(warning);
        notes.len() - 1
    })
}

//! The suites: each is a subcommand of `bench`.

use super::calls::Calls;
use super::flags::Shared;
use super::python::Python;
use super::scaling::Scaling;
use super::system::System;
use crate::cli::{Global, output};
use crate::data::{Output, write_raw};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Args, Command, Subcommand};
use gridsync_lab::bench::{
    ALL_REDUCE, BARRIER, BY_KEY, HISTOGRAM, KENDALL, PARTITION, PeerKind, PeerKinds, PeerProgram,
    RANK, REDUCE, REDUCE_ROWS, Record, SCAN, SCAN_ROWS, SCAN_THREADS, SEGMENTS, SELECT, SOFTMAX,
    SORT, Suite, Throughput, UNIQUE,
};
use serde_json::Value;

pub(super) type Records = anyhow::Result<Vec<Record>>;

/// How a suite is measured.
pub(super) trait Measure {
    /// The flags of the suite besides [`Shared`].
    type Flags: Args;

    /// Completes the help of a flag.
    fn describe(&self, flag: Arg) -> Arg {
        flag
    }

    /// The peer, if it is a program in CUDA C++ that needs no library.
    fn peer(&self) -> Option<PeerProgram> {
        None
    }

    /// The kinds of peers that it has.
    fn kinds(&self) -> Vec<PeerKind> {
        vec![PeerKind::Cuda]
    }

    /// Measures what the flags ask for, with the peers of these kinds, and prints a row for each
    /// record.
    fn measure(&self, flags: Self::Flags, peers: &PeerKinds, global: &Global) -> Records;
}

/// All flags of a suite.
#[derive(Args)]
pub(super) struct AllFlags<F: Args> {
    #[command(flatten)]
    shared: Shared,
    #[command(flatten)]
    own: F,
}

macro_rules! suites {
    ($(
        $(#[$help:meta])*
        $variant:ident($name:literal, $kind:ty = $suite:expr, $whole:literal, $part:literal);
    )*) => {
        #[derive(Subcommand)]
        pub(super) enum Chosen {
            $(
                $(#[$help])*
                #[command(
                    name = $name,
                    mut_args(|flag| $suite.describe(flag)),
                    after_help = concat!(
                        "Examples:\n  gridsync bench ", $name, " ", $whole,
                        "\n  gridsync bench ", $name, " ", $part,
                    ),
                )]
                $variant(AllFlags<<$kind as Measure>::Flags>),
            )*
        }

        /// The peers of all suites.
        pub(super) fn peers() -> impl Iterator<Item = PeerProgram> {
            [$($suite.peer()),*].into_iter().flatten()
        }

        impl Chosen {
            pub(super) fn run(self, global: &Global) -> anyhow::Result<()> {
                let (records, output) = match self {
                    $(Self::$variant(AllFlags { shared, own }) => {
                        let kinds = shared.kinds();
                        say_if_none($name, &kinds, &$suite.kinds());
                        ($suite.measure(own, &kinds, global)?, shared.output)
                    })*
                };
                if let Some(to) = output {
                    write_raw(&Output::parse(to), Record::lines_made_now(&records).as_bytes())?;
                }
                if global.json {
                    output::print(&Value::Array(Record::all_made_now(&records)).to_string())?;
                }
                Ok(())
            }
        }
    };
}

/// Prints a note if the suite has peers, but none of the named kinds.
fn say_if_none(suite: &str, named: &PeerKinds, has: &[PeerKind]) {
    let none = !has.is_empty() && !has.iter().any(|kind| named.contains(*kind));
    if let PeerKinds::Named(_) = named
        && none
    {
        let has: Vec<_> = has.iter().map(PeerKind::to_string).collect();
        output::say(format_args!(
            "gridsync: no peer: the kinds of the suite {suite} are {}",
            has.join(",")
        ));
    }
}

// Each suite: its help, its name, how it is measured, and flags for two examples.
suites! {
    /// The grid barriers
    ///
    /// The time per crossing of each grid barrier, back to back, at several shapes of grids. It is
    /// the slope between launches of 200 and 2200 rounds, the median of 7 samples or more, until it
    /// is known to half a percent. What could not be measured that well is marked. The peer is
    /// cooperative groups' grid.sync().
    Barrier("barrier", Suite = BARRIER, "--peers", "--only grid,split --blocks 132");
    /// One number of each block, combined
    ///
    /// The time per crossing, as in bench barrier, of one number of each block that is combined and
    /// brought to every block. The peer does it by grid.sync().
    AllReduce("all-reduce", Suite = ALL_REDUCE, "--peers", "--blocks 132,264 --threads 256");
    /// The numbers of all threads of a grid, scanned
    ///
    /// The time per crossing, as in bench barrier, of one number of each thread of the grid, where
    /// each thread gets the sum of those before it. The peer does it by grid.sync().
    ScanThreads("scan-threads", Suite = SCAN_THREADS, "--peers", "--blocks 132 --threads 256");
    /// A barrier of several GPUs, and one number of each of their blocks, combined
    ///
    /// The time per crossing of the barrier of all blocks of several GPUs, and of one number of
    /// each block combined and brought to every block of every GPU. It is measured on 1, 2, 4, 8
    /// and so on of the GPUs, as the slope of the time on the host between launches of 200 and 5200
    /// rounds on all of them.
    ///
    /// The peer is ncclAllReduce of one f32 of each GPU, in CUDA graphs. It needs NCCL too: that of
    /// the system or of python3, or in the folder that NCCL_HOME names.
    System("system", System = System, "--peers", "--device cuda:all --svg system.svg");
    /// Sums and scans of arrays on several GPUs
    ///
    /// The time of a sum and of an inclusive scan of f32 in stripes on several GPUs, of calls in a
    /// row, and of one sum until the host has its value. Each length is measured on 1, 2, 4, 8 and
    /// so on of the GPUs, and so many times the length on as many GPUs. The results are compared.
    /// There is no peer.
    Scaling("scaling", Scaling = Scaling, "-o scaling.jsonl", "--sizes 2^28 --svg scaling.svg");
    /// What a call costs the host
    ///
    /// The time of the host for one sum of f32: to put it into the stream, alone and as a graph,
    /// and to have its value; and a whole process that adds up 1000 numbers. The peer is CUB's
    /// DeviceReduce, with storage that was allocated before.
    Calls("calls", Calls = Calls, "--peers", "--sizes 2^10");
    /// An array to one value
    ///
    /// The device time of one reduction, from elements in device memory that are in no cache to a
    /// result there, for several operations, element types and lengths. Calls are timed in a row,
    /// as many in one graph as the table says, and alone. The peer is CUB's DeviceReduce; it also
    /// measures how long it takes to only read the elements. Others are the sums and extremes of
    /// PyTorch and CuPy, and torch.var, logsumexp and dot. The operation dot reads two arrays of the
    /// length; lse is the logarithm of the sum of exponentials, and stats what gridsync describe
    /// prints.
    Reduce("reduce", Throughput = REDUCE, "--peers", "--ops sum,min --dtypes f32 --sizes 2^20");
    /// Each row of a matrix to one value
    ///
    /// The time, as in bench reduce, of sums of the rows of f32 matrices, for several lengths of
    /// rows. The peer is CUB's DeviceSegmentedReduce.
    ReduceRows("reduce-rows", Throughput = REDUCE_ROWS, "--peers", "--sizes 2^20");
    /// An array to the sums up to each element
    ///
    /// The time, as in bench reduce, of inclusive sums, by the design that a scan chooses for the
    /// length (auto), and by each design where both are possible. The results are checked.
    ///
    /// The peer is CUB's DeviceScan; it also measures how long it takes to copy the elements, by
    /// the driver or by a kernel, whichever is faster. Others are torch.cumsum and cupy.cumsum. A
    /// peer on the CPU is numpy.cumsum, where there is NumPy.
    Scan("scan", Throughput = SCAN, "--peers", "--dtypes f32,f64 --sizes 2^20,2^28");
    /// Some elements of an array
    ///
    /// The time, as in bench reduce, of selecting the elements of f32 below a bound, where 0, 1,
    /// 50, 99 and 100 % are kept. The peer is CUB's DeviceSelect::If. The results are checked.
    Select("select", Throughput = SELECT, "--peers", "--sizes 2^20");
    /// Some elements of an array, and the others apart
    ///
    /// The time, as in bench reduce, of separating the elements of f32 below a bound from the
    /// others, where 0, 1, 50, 99 and 100 % are below it. The peer is CUB's DevicePartition::If.
    /// The results are checked.
    Partition("partition", Throughput = PARTITION, "--peers", "--sizes 2^20");
    /// The first of each run of equal elements
    ///
    /// The time, as in bench reduce, of selecting the first of each run of equal f32, where 0, 1,
    /// 50, 99 and 100 % are kept; and the lengths of the runs too, for 1, 50 and 100 %. The peers
    /// are CUB's DeviceSelect::Unique and DeviceRunLengthEncode. The results are checked.
    Unique("unique", Throughput = UNIQUE, "--peers", "--ops run-lengths --sizes 2^20");
    /// Each segment of an array to one value
    ///
    /// The time, as in bench reduce, of sums of f32 in segments of 16, 1000 and 100000 elements, and in
    /// segments of which one has half of all elements and each other one has one. The offsets are on the
    /// device before. The peer is CUB's DeviceSegmentedReduce. The results are checked.
    Segments("segments", Throughput = SEGMENTS, "--peers", "--ops sum-16 --sizes 2^20,2^28");
    /// Runs of equal keys
    ///
    /// The time of the sum of each run of equal u32 keys, of the sums up to each value, and of the
    /// first value of each run, where values are f32 and runs have 2, 16 or 1024 keys. Each call
    /// allocates its buffers, and the host waits; the keys, sums and first values of the runs are
    /// copied to the host. So one call is measured alone. The results are checked.
    ///
    /// The peers are CUB's DeviceReduce::ReduceByKey, DeviceScan::InclusiveSumByKey and
    /// DeviceSelect::UniqueByKey. They leave their results on the GPU.
    ByKey("by-key", Throughput = BY_KEY, "--peers", "--ops reduce-16,scan-16 --sizes 2^20");
    /// The sums up to each element of each row of a matrix
    ///
    /// The time, as in bench reduce, of the sums up to each element of the rows of f32 matrices, for
    /// rows of 16 to 2^20 elements. The results are checked. The peer is torch.cumsum. The program in
    /// CUDA C++ only measures how long it takes to copy the elements.
    ScanRows("scan-rows", Throughput = SCAN_ROWS, "--peers=cuda,torch", "--ops rows-1024 --sizes 2^20");
    /// The softmax of each row of a matrix
    ///
    /// The time, as in bench reduce, of the softmax of the rows of f32 matrices, for rows of 16 to
    /// 2^20 elements. The results are checked. The peer is torch.softmax. The program in CUDA C++
    /// only measures how long it takes to copy the elements.
    Softmax("softmax", Throughput = SOFTMAX, "--peers=cuda,torch", "--ops softmax-1024 --sizes 2^20");
    /// An array in order
    ///
    /// The time, as in bench reduce, of sorting keys of which every digit differs, alone and with
    /// values of 4 bytes, of sorting indices, and of sorting rows and segments of 16, 1000 and 100000
    /// keys. Segments are prepared before. The peers are CUB's DeviceRadixSort, and for rows and
    /// segments its DeviceSegmentedSort. The results are checked. Other peers are PyTorch's sort,
    /// which also writes indices, and CuPy's, both with indices of 8 bytes.
    Sort("sort", Throughput = SORT, "--peers", "--ops argsort --sizes 2^20,2^28");
    /// The number of elements in each bin
    ///
    /// The time, as in bench reduce, of counting f32 in bins of the same width and between other
    /// edges, and u32 and bytes with a bin for each integer. Bytes are counted in an input of u64,
    /// eight for each element. The peer is CUB's DeviceHistogram. The results are checked. Other
    /// peers are torch.histc, cupy.histogram, and bincount of both.
    Histogram("histogram", Throughput = HISTOGRAM, "--peers", "--ops even,edges --sizes 2^20");
    /// The elements at some ranks of an array
    ///
    /// The time of finding the 64 and the 4096 greatest f32 of an array, in order and with their
    /// indices, the element at a quarter of the ranks, and the median; the 8 greatest of each row of
    /// 1000, in one launch for all rows; and the distinct values of u32 with 1000 of them, with the
    /// count of each. The host waits for most results, so one call is measured alone. The results are
    /// checked.
    ///
    /// The peers are torch.topk, kthvalue, median and quantile (up to 2^24 elements), and
    /// cupy.partition. They leave their results on the GPU.
    Rank("rank", Throughput = RANK, "--peers=torch,cupy", "--ops median --sizes 2^20,2^28");
    /// Two arrays to their rank correlation
    ///
    /// The time, as in bench reduce, of the rank correlation of two arrays, by the method that it
    /// chooses for the length (auto), and by each method, by pairs up to 2^16 elements; f32 and f64
    /// with few ties, i32 with many. The results are checked.
    ///
    /// The peer is scipy.stats.kendalltau on the CPU where there is SciPy, for f32 at the greatest
    /// length up to 2^20. It does not need nvcc.
    Kendall("kendall", Throughput = KENDALL, "--peers", "--dtypes i32 --sizes 1000,2^17");
    /// Calls of the Python package gridsync
    ///
    /// Three times of calls in Python on tensors of f32 of PyTorch, as a caller sees them. Device: calls
    /// in a row between two events. Wall: one call until the GPU is idle again. Host: one call until it
    /// returns, at the shortest length, if it does not wait for the GPU. Softmax has rows of 4096, topk
    /// finds 64, and select half of the elements.
    ///
    /// The peers are the calls of PyTorch that do the same, and those of CuPy on its own arrays. Without
    /// python3, PyTorch with CUDA or the package, nothing is measured: that is not an error. The rows are
    /// printed when all calls of a library have been measured.
    Python("python", Python = Python, "--peers", "--ops sum,sort --sizes 2^10,2^20");
}

/// Lets each suite also accept the designs, operations and element types of the others, so that a
/// loop over suites may name them all. They are not in its help, and select nothing in it.
pub(crate) fn with_names_of_others(bench: Command) -> Command {
    let names: Vec<(String, PossibleValue)> = bench
        .get_subcommands()
        .flat_map(Command::get_arguments)
        .flat_map(|flag| {
            flag.get_possible_values().into_iter().map(|name| (flag.get_id().to_string(), name))
        })
        .collect();
    bench.mut_subcommands(|suite| {
        suite.mut_args(|flag| {
            let own = flag.get_possible_values();
            if own.is_empty() || !flag.get_action().takes_values() {
                return flag;
            }
            let others =
                names.iter().filter(|(id, name)| flag.get_id() == id && !own.contains(name));
            let others: Vec<_> = others.map(|(_, name)| name.clone().hide(true)).collect();
            if others.is_empty() {
                return flag;
            }
            let all: Vec<_> = own.iter().cloned().chain(others).collect();
            flag.value_parser(PossibleValuesParser::new(all))
        })
    })
}

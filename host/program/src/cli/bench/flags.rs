//! Flags that several suites share.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args};
use gridsync_lab::bench::Shape;
use gridsync_lab::count::within;
use std::ffi::OsString;

/// Flags of every suite.
#[derive(Args)]
pub(super) struct Shared {
    /// Measure the peer too, in the same run. A peer in CUDA C++ needs nvcc. It finds headers newer
    /// than its own, such as CUB's, by `NVCC_PREPEND_FLAGS="-I FOLDER"`.
    #[arg(long)]
    pub(super) peers: bool,
    /// Write the records to this file, one JSON value a line.
    #[arg(short, long, alias = "out", value_name = "FILE")]
    pub(super) output: Option<OsString>,
}

/// The designs and the grids of a suite of crossings.
#[derive(Args)]
pub(super) struct Grids {
    /// Measure these designs only [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) only: Vec<String>,
    /// Blocks of the grids [default: a quarter, a half, one, two and four for each multiprocessor].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<u32>(1..=u64::MAX))]
    blocks: Vec<u32>,
    /// Threads of a block [default: 32,128,256,1024].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<u32>(1..=u64::MAX))]
    threads: Vec<u32>,
}

impl Grids {
    /// The grids to measure.
    pub(super) fn shapes(&self, blocks: &[u32], threads: &[u32]) -> Vec<Shape> {
        Shape::all(or(&self.blocks, blocks), or(&self.threads, threads))
    }
}

/// The lengths of arrays.
#[derive(Args)]
pub(super) struct Sizes {
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = within::<usize>(1..=1 << 56))]
    sizes: Vec<usize>,
}

impl Sizes {
    pub(super) fn or<'a>(&'a self, default: &'a [usize]) -> &'a [usize] {
        or(&self.sizes, default)
    }
}

/// Lets a flag accept these names.
pub(super) fn one_of(flag: Arg, names: impl IntoIterator<Item = &'static str>) -> Arg {
    flag.value_parser(PossibleValuesParser::new(names))
}

/// Adds the default to the help of `--sizes`.
pub(super) fn by_default(flag: Arg, sizes: &[usize]) -> Arg {
    let sizes: Vec<_> = sizes.iter().map(|&n| length(n)).collect();
    flag.help(format!("Elements, as 1000 or 2^20 [default: {}]", sizes.join(",")))
}

fn or<'a, T>(given: &'a [T], default: &'a [T]) -> &'a [T] {
    if given.is_empty() { default } else { given }
}

/// Whether `name` is one of `names`. An empty list means all.
pub(super) fn is_asked(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|asked| asked == name)
}

/// A length in its shortest form.
pub(super) fn length(n: usize) -> String {
    if n.is_power_of_two() && n > 1 { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

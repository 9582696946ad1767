//! Flags that several suites share.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args};
use gridsync_lab::bench::{PeerKind, PeerKinds, Shape};
use gridsync_lab::count::within;
use std::ffi::OsString;

/// Flags of every suite.
#[derive(Args)]
pub(super) struct Shared {
    /// Measure the peers too, in the same run: all that are there, or those of these kinds only. A
    /// peer in CUDA C++ needs nvcc. It finds headers newer than its own, such as CUB's, by
    /// `NVCC_PREPEND_FLAGS="-I FOLDER"`. The others need python3, or the Python that GRIDSYNC_PYTHON
    /// names. A library that it lacks is left out, or is an error if it is named.
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        value_enum
    )]
    peers: Option<Vec<PeerKind>>,
    /// Write the records to this file, one JSON value a line.
    #[arg(short, long, alias = "out", value_name = "FILE")]
    pub(super) output: Option<OsString>,
}

impl Shared {
    /// The kinds of peers to measure.
    pub(super) fn kinds(&self) -> PeerKinds {
        match self.peers.as_deref() {
            None => PeerKinds::None,
            Some([]) => PeerKinds::All,
            Some(kinds) => PeerKinds::Named(kinds.to_vec()),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use PeerKind::{Cpu, Cuda, Cupy, Torch};
    use clap::Parser;

    #[derive(Parser)]
    struct Call {
        #[command(flatten)]
        shared: Shared,
    }

    /// The kinds that a call names, or the error.
    fn kinds(args: &[&str]) -> Result<PeerKinds, String> {
        let call = Call::try_parse_from(["bench"].iter().chain(args));
        call.map(|call| call.shared.kinds()).map_err(|error| error.to_string())
    }

    #[test]
    fn peers_are_all_or_those_of_the_named_kinds() {
        assert_eq!(kinds(&[]), Ok(PeerKinds::None));
        assert_eq!(kinds(&["--peers"]), Ok(PeerKinds::All));
        assert_eq!(kinds(&["--peers", "-o", "a"]), Ok(PeerKinds::All));
        assert_eq!(kinds(&["--peers=torch"]), Ok(PeerKinds::Named(vec![Torch])));
        let named = PeerKinds::Named(vec![Cuda, Cpu, Cupy]);
        assert_eq!(kinds(&["--peers=cuda,cpu,cupy"]), Ok(named));
    }

    #[test]
    fn an_unknown_kind_is_refused_with_the_known_ones() {
        let why = kinds(&["--peers=jax"]).expect_err("there is no such kind");
        assert!(["jax", "cuda, cpu, torch, cupy"].iter().all(|part| why.contains(part)), "{why}");
        assert!(kinds(&["--peers", "torch"]).is_err(), "a kind comes after =");
    }
}

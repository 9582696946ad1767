//! `gridsync dag`: graphs of kernels, run by every method.
//!
//! [`Work`] describes a graph in which the result of each node depends on everything before it. A
//! [`Runner`] holds it on a device and [prepares](Runner::ready) it for a [`Method`]. Every result
//! is compared with [`Work::reference`]. [`Args`] run all methods, whose result is a [`Report`].

mod chart;
mod file;
mod launching;
mod method;
mod report;
mod run;
mod runner;
mod work;

pub use chart::by_method;
pub use method::{FromDevice, Method};
pub use report::{Dag as Report, Links, Outcome};
pub use runner::{Ready, RunError, Runner, Span};
pub use work::{Step, Work};

pub use gridsync_lab_kernels::dag::Operation;

use crate::ExperimentError;
use crate::bench::{PeerError, Spread, chains_in_cpp};
use crate::count::within;
use clap::builder::PossibleValuesParser;
use gridsync::device::Device;
use indicatif::ProgressBar;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Run a graph of kernels by every method, and compare the costs
///
/// By a launch for each node: in one stream, in several with events, overlapping, as a CUDA graph. By a kernel
/// that launches the others. By one kernel for all nodes: with a barrier of the grid after each level, and with
/// an edge for each dependency.
/// Every result is compared with the CPU reference. On a GPU the time of the whole graph is the median of 7
/// samples or more.
#[derive(Debug, clap::Args)]
#[command(after_help = file::FORMAT)]
pub struct Args {
    /// The file with the graph [default: --diamond].
    #[arg(value_name = "FILE.toml", conflicts_with_all = ["diamond", "chain", "random"])]
    file: Option<PathBuf>,
    /// A and B, which do not depend on each other, and C, the product of both.
    #[arg(long, conflicts_with_all = ["chain", "random"])]
    diamond: bool,
    /// A chain of this many nodes.
    #[arg(long, value_name = "N", conflicts_with = "random", value_parser = within::<usize>(1..=MOST_NODES))]
    chain: Option<usize>,
    /// Nodes with up to four random inputs each.
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
    /// The nodes of --random.
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "random", value_parser = within::<usize>(1..=MOST_NODES))]
    nodes: usize,
    /// Use only these methods; may be given several times.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Method::ALL.map(Method::name)))]
    by: Vec<String>,
    /// Write the graph (dag.svg) and, from a GPU, when each node ran (timelines.svg) to this folder, for up to 200
    /// nodes.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
    /// Elements of each node's array.
    #[arg(short = 'n', long, alias = "n", value_name = "N", value_parser = within::<u32>(1..=1 << 28))]
    elements: Option<u32>,
    /// The minimum time of each node.
    #[arg(long, value_name = "US", value_parser = microseconds)]
    microseconds: Option<f64>,
    /// Threads of each block.
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=u64::MAX))]
    threads: Option<u32>,
    /// Blocks of one kernel for all nodes [default: what the widest level of the graph can use].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=u64::MAX))]
    blocks: Option<u32>,
    /// Measure the same chain in CUDA C++ too, in the same run: needs nvcc.
    #[arg(long, requires = "chain", conflicts_with_all = ["elements", "threads", "microseconds"])]
    peers: bool,
}

/// The most nodes of a graph. Proving that all of them are ordered needs n² / 8 bytes.
const MOST_NODES: u64 = 20_000;

/// The most nodes that a drawing can show distinctly.
const MOST_DRAWN: usize = 200;

fn microseconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1e6).contains(&number) => Ok(number),
        _ => Err("must be a number from 0 to 1e6".into()),
    }
}

impl Args {
    /// The files that `--output` writes, at most.
    pub const FILES: [&'static str; 2] = ["dag.svg", "timelines.svg"];

    /// The folder of `--output`.
    #[must_use]
    pub fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Whether to measure CUDA C++ too.
    #[must_use]
    pub const fn has_peers(&self) -> bool {
        self.peers
    }

    /// The requested graph.
    ///
    /// # Errors
    /// [`ExperimentError::Usage`] if its file or its threads are invalid, or if it cannot be drawn.
    pub fn work(&self) -> Result<Work, ExperimentError> {
        let mut work = match (&self.file, self.chain, self.random) {
            (Some(file), ..) => file::read(file).map_err(ExperimentError::Usage)?,
            (_, Some(nodes), _) => Work::chain(nodes),
            (.., Some(seed)) => Work::random(seed, self.nodes),
            _ => Work::diamond(),
        };
        work.elements = self.elements.unwrap_or(work.elements);
        work.threads = self.threads.unwrap_or(work.threads);
        if !work.threads.is_multiple_of(32) {
            return Err(ExperimentError::Usage(format!(
                "a block of {} threads: one kernel for all nodes needs whole warps, so use a multiple of 32",
                work.threads
            )));
        }
        if let Some(microseconds) = self.microseconds {
            work.steps.iter_mut().for_each(|step| step.microseconds = microseconds);
        }
        let nodes = work.steps.len();
        if self.output.is_some() && nodes > MOST_DRAWN {
            return Err(ExperimentError::Usage(format!(
                "{nodes} nodes are too many for a drawing: at most {MOST_DRAWN} are drawn; leave --output out"
            )));
        }
        Ok(work)
    }

    /// The methods, in the order of the tables.
    fn methods(&self) -> impl Iterator<Item = Method> {
        let is_named = |method: &Method| self.by.iter().any(|name| name == method.name());
        Method::ALL.into_iter().filter(move |method| self.by.is_empty() || is_named(method))
    }

    /// The times of `work`, which is a chain, in CUDA C++, by the name of the method there. The GPU
    /// should do nothing else.
    ///
    /// # Errors
    /// If the peer cannot be built, or fails.
    pub fn peers(&self, work: &Work) -> Result<HashMap<&'static str, Spread>, PeerError> {
        let mut ways: Vec<_> = self.methods().filter_map(Method::in_cpp).collect();
        ways.dedup();
        chains_in_cpp(&ways, work.steps.len())
    }

    /// Runs `work` on `device` by all methods, and shows on `bar` how far it is. `peers` are the
    /// times in CUDA C++, if they were measured.
    ///
    /// # Errors
    /// If the device fails, or the graph is invalid.
    pub fn run(
        &self,
        work: &Work,
        peers: &HashMap<&'static str, Spread>,
        device: &Device,
        bar: &ProgressBar,
    ) -> Result<Report, ExperimentError> {
        let mut runner = Runner::new(device, work, false)?;
        let blocks = match self.blocks {
            Some(blocks) => blocks,
            None => runner.blocks()?,
        };
        bar.set_length(self.methods().count() as u64);
        let (mut methods, mut timed) = (Vec::new(), Vec::new());
        for method in self.methods() {
            bar.set_message(method.name());
            let mut outcome = run::outcome(device, &mut runner, method, blocks)?;
            outcome.cpp_us = method.in_cpp().and_then(|way| Some(peers.get(way)?.median));
            if outcome.us.is_some() && outcome.wrong.is_none() {
                timed.push(method);
            }
            methods.push(outcome);
            bar.inc(1);
        }
        let dag = runner.dag();
        let drawings = match self.output {
            Some(_) => {
                let timelines = run::timelines(device, work, &timed, blocks)?;
                Some((chart::graph(work, dag), timelines))
            }
            None => None,
        };
        let (path, critical_path_us) = dag.critical_path();
        Ok(Report {
            device: device.properties().name.clone(),
            nodes: work.steps.len(),
            edges: work.steps.iter().map(|step| step.after.len()).sum(),
            levels: dag.levels().len(),
            elements: work.elements,
            threads: work.threads,
            critical_path: path.iter().map(|&id| work.steps[id].name.clone()).collect(),
            critical_path_us,
            blocks,
            links: Links::of(dag, blocks),
            methods,
            drawings,
        })
    }
}

/// An invalid graph or plan is a user error.
impl From<RunError> for ExperimentError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Device(error) => error.into(),
            refused => Self::Usage(refused.to_string()),
        }
    }
}

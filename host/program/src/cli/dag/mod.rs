//! `gridsync dag`: runs a graph of kernels by every available method.

mod charts;
mod file;
mod run;
mod summary;

use super::exit::{Usage, Wrong};
use super::lab::folder;
use super::progress::progress;
use super::{Global, output};
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use gridsync_lab::bench::chains_in_cpp;
use gridsync_lab::count::within;
use gridsync_lab::dag::{Method, RunError, Runner, Work};
use run::Outcome;
use std::collections::HashMap;
use std::path::PathBuf;

/// Run a graph of kernels by every method, and compare the costs
///
/// By a launch for each node: in one stream, in several with events, overlapping, as a CUDA graph. By a kernel
/// that launches the others. By one kernel for all nodes: with a barrier of the grid after each level, and with
/// an edge for each dependency.
/// Every result is compared with the CPU reference. On a GPU the time of the whole graph is the median of 7
/// samples or more.
#[derive(clap::Args)]
#[command(after_help = file::FORMAT)]
pub(crate) struct Dag {
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

fn microseconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1e6).contains(&number) => Ok(number),
        _ => Err("must be a number from 0 to 1e6".into()),
    }
}

impl Dag {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let work = self.work()?;
        let device = global.device.device()?;
        if let Some(output) = &self.output {
            let nodes = work.steps.len();
            if nodes > charts::MOST {
                let most = charts::MOST;
                let why = format!(
                    "{nodes} nodes are too many for a drawing: at most {most} are drawn; leave --output out"
                );
                return Err(Usage(why).into());
            }
            folder::prepare(output, &charts::NAMES)?;
        }
        let by = Method::ALL.into_iter().filter(|method| {
            self.by.is_empty() || self.by.iter().any(|name| name == method.name())
        });
        let by: Vec<Method> = by.collect();
        let (device, peers) = if self.peers {
            if device.properties().is_emulated() {
                let why = "--peers measures times, which the emulator does not have: choose a GPU with --device";
                return Err(Usage(why.into()).into());
            }
            // The peer runs alone on the GPU.
            drop(device);
            let mut ways: Vec<_> = by.iter().filter_map(|method| method.in_cpp()).collect();
            ways.dedup();
            let peers = chains_in_cpp(&ways, work.steps.len()).context("measuring CUDA C++")?;
            (global.device.device()?, peers)
        } else {
            (device, HashMap::new())
        };
        let mut runner = Runner::new(&device, &work, false).map_err(failed)?;
        let blocks = match self.blocks {
            Some(blocks) => blocks,
            None => runner.blocks()?,
        };
        let bar = progress(global, by.len());
        let mut outcomes: Vec<Outcome> = Vec::new();
        for method in by {
            bar.set_message(method.name());
            let mut outcome = run::outcome(&device, &mut runner, method, blocks).map_err(failed)?;
            outcome.peer = method.in_cpp().and_then(|way| peers.get(way).copied());
            outcomes.push(outcome);
            bar.inc(1);
        }
        let files = match &self.output {
            Some(_) => charts::files(&device, &work, &outcomes, blocks)?,
            None => Vec::new(),
        };
        bar.finish_and_clear();
        if let Some(output) = &self.output {
            folder::write(output, &files)?;
        }
        output::result(
            global,
            || summary::text(global, &device, &work, &runner, blocks, &outcomes),
            || summary::json(&device, &work, &runner, blocks, &outcomes),
        )?;
        match outcomes.iter().find_map(|it| it.wrong.as_ref().map(|wrong| (it.method, wrong))) {
            Some((method, wrong)) => Err(Wrong(format!("{}: {wrong}", method.name())).into()),
            None => Ok(()),
        }
    }

    /// The requested graph.
    fn work(&self) -> anyhow::Result<Work> {
        let mut work = match (&self.file, self.chain, self.random) {
            (Some(file), ..) => file::read(file)?,
            (_, Some(nodes), _) => Work::chain(nodes),
            (.., Some(seed)) => Work::random(seed, self.nodes),
            _ => Work::diamond(),
        };
        work.elements = self.elements.unwrap_or(work.elements);
        work.threads = self.threads.unwrap_or(work.threads);
        if !work.threads.is_multiple_of(32) {
            return Err(Usage(format!(
                "a block of {} threads: one kernel for all nodes needs whole warps, so use a multiple of 32",
                work.threads
            ))
            .into());
        }
        if let Some(microseconds) = self.microseconds {
            work.steps.iter_mut().for_each(|step| step.microseconds = microseconds);
        }
        Ok(work)
    }
}

/// Converts the error of a run. An invalid graph or plan is a user error.
fn failed(error: RunError) -> anyhow::Error {
    match error {
        RunError::Device(error) => error.into(),
        refused => Usage(refused.to_string()).into(),
    }
}

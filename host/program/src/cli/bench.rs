//! `gridsync bench`: measures gridsync, and a peer in the same run.

mod calls;
mod compare;
mod figure;
mod flags;
mod latency;
mod order;
mod peers;
mod python;
mod rows;
mod scaling;
mod suites;
mod system;
mod throughput;

use super::exit::{Usage, Wrong};
use super::{Global, output};
use gridsync::device::Device;
use gridsync_lab::bench::{self, MeasureError, PeerError};
pub(super) use order::suite_first;
use serde_json::json;
use std::env;
pub(super) use suites::with_names_of_others;

/// Measure on a GPU, and a peer in the same run
///
/// Each row is printed as soon as it is measured. The records, which --output and --json give, have
/// more: the least and the greatest sample, how many samples there were, and the time of the peer.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, arg_required_else_help = false)]
pub(crate) struct Bench {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Suite(suites::Chosen),
    Compare(compare::Compare),
    Peers(peers::Peers),
    /// Build all peers at once into the folder that GRIDSYNC_PEERS names, for later calls with --peers
    BuildPeers,
}

impl Bench {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        match self.command {
            Command::Suite(suite) => suite.run(global),
            Command::Compare(compare) => compare.run(global),
            Command::Peers(peers) => peers.run(global),
            Command::BuildPeers => build_peers(global),
        }
    }
}

fn build_peers(global: &Global) -> anyhow::Result<()> {
    if env::var_os("GRIDSYNC_PEERS").is_none_or(|folder| folder.is_empty()) {
        return Err(
            Usage("GRIDSYNC_PEERS does not name a folder to build the peers into".into()).into()
        );
    }
    let built = bench::build_peers(suites::peers())?;
    output::result(global, || format!("{built} peers are built"), || json!({ "peers": built }))
}

/// The device, and the times of its peer if `ask_peer`. The peer runs alone on the GPU: a second
/// context makes its barriers slower.
fn with_peer<P: Default>(
    device: Device,
    ask_peer: bool,
    global: &Global,
    peer: impl FnOnce() -> anyhow::Result<P>,
) -> anyhow::Result<(Device, P)> {
    if !ask_peer {
        return Ok((device, P::default()));
    }
    drop(device);
    let times = peer()?;
    Ok((global.device.device()?, times))
}

/// The error of a peer, as [`Wrong`] if its result is wrong.
fn of_peer(error: PeerError) -> anyhow::Error {
    match error {
        PeerError::Wrong(_) => Wrong(error.to_string()).into(),
        error => error.into(),
    }
}

/// The error of a measurement, as [`Wrong`] if a result is wrong.
fn of_measurement(error: MeasureError) -> anyhow::Error {
    match error {
        MeasureError::Wrong(what) => Wrong(what).into(),
        MeasureError::Device(error) => error.into(),
    }
}

//! `gridsync dag`: runs a graph of kernels by every available method.

use super::Global;
use super::exit::Usage;
use super::lab::{failed, folder, found};
use super::progress::progress;
use anyhow::Context;
use gridsync_lab::dag::Args;
use std::collections::HashMap;

/// Runs the graph, and prints the result.
pub(super) fn run(args: &Args, global: &Global) -> anyhow::Result<()> {
    let work = args.work().map_err(failed)?;
    let device = global.device.device()?;
    if let Some(output) = args.output() {
        folder::prepare(output, &Args::FILES)?;
    }
    let (device, peers) = if args.has_peers() {
        if device.properties().is_emulated() {
            let why = "--peers measures times, which the emulator does not have: choose a GPU with --device";
            return Err(Usage(why.into()).into());
        }
        // The peer runs alone on the GPU.
        drop(device);
        let peers = args.peers(&work).context("measuring CUDA C++")?;
        (global.device.device()?, peers)
    } else {
        (device, HashMap::new())
    };
    let bar = progress(global, 0);
    let report = args.run(&work, &peers, &device, &bar).map_err(failed)?;
    bar.finish_and_clear();
    found(&report, args.output(), global)?.print(global)
}

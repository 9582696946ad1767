//! The suite `system`: collectives over several GPUs.

use super::figure::{MOST_LINES, by_gpus};
use super::flags::{Grids, is_asked, one_of};
use super::rows::{Rows, grid, param, peer, times, variant};
use super::suites::{Measure, Records};
use super::{Global, Usage, of_peer};
use crate::cli::choice::DeviceChoice;
use crate::cli::output;
use crate::data::{Output, write_raw};
use anyhow::Context;
use clap::{Arg, Args};
use gridsync::device::cuda::probe;
use gridsync::device::{Devices, MOST_GPUS};
use gridsync_lab::bench::{
    self, COLLECTIVES, Collective, Nccl, PeerKind, PeerKinds, SYSTEM_THREADS, Sampling, Shape,
    Spread, Step, SystemPoint, gpu_counts, nccl_times, system_blocks,
};
use gridsync_lab::images;
use std::collections::HashMap;
use std::ffi::OsString;

/// The suite.
pub(super) struct System;

#[derive(Args)]
pub(super) struct Flags {
    #[command(flatten)]
    grids: Grids,
    /// Draw the times by the number of GPUs to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<OsString>,
}

impl Measure for System {
    type Flags = Flags;

    fn describe(&self, flag: Arg) -> Arg {
        match flag.get_id().as_str() {
            "only" => one_of(flag, names()),
            "blocks" => flag.help(
                "Blocks of the grids [default: one in all, a half and one for each multiprocessor]",
            ),
            "threads" => flag.help("Threads of a block [default: 256]"),
            _ => flag,
        }
    }

    fn measure(&self, flags: Flags, kinds: &PeerKinds, global: &Global) -> Records {
        let ask_peer = kinds.contains(PeerKind::Cuda);
        let Flags { grids, svg } = flags;
        let collectives = collectives(&grids.only)?;
        // The peer and each number of GPUs run alone, so these devices are closed again.
        let (ordinals, devices) = gpus(global)?;
        let multiprocessors = devices.iter().map(|one| one.properties().multiprocessors).min();
        drop(devices);
        let shapes = grids.shapes(&system_blocks(multiprocessors.unwrap_or(1)), &[SYSTEM_THREADS]);
        if svg.is_some() {
            expect_drawable(collectives.len() * shapes.len() + usize::from(ask_peer))?;
        }
        let sampling = Sampling::default();
        let peers = if ask_peer { peers(&ordinals, &sampling)? } else { HashMap::new() };

        let points = gpu_counts(ordinals.len()).len() * collectives.len() * shapes.len();
        let cells = [variant("collective", names()), param("GPUs", 4, "gpus")]
            .into_iter()
            .chain(grid())
            .chain(times(7, 3))
            .chain(peer("NCCL µs", 7, 3));
        let mut rows = Rows::new(global, points, cells);
        let step = |step: Step<'_, SystemPoint>| {
            rows.step(
                step,
                |SystemPoint { collective, gpus, shape: Shape { blocks, threads } }| {
                    format!("{} of {gpus} at {blocks} × {threads}", collective.name)
                },
            );
        };
        let system = bench::System {
            ordinals: &ordinals,
            collectives: &collectives,
            shapes: &shapes,
            peers: &peers,
            sampling,
        };
        let images = images::all();
        let records = system.run(|gpus| Devices::cuda(gpus, &images), step)?;
        rows.finish(&records)?;
        if records.is_empty() {
            return Err(Usage(format!(
                "nothing to measure: none of {} collectives at {} grid shapes fits (see gridsync devices for the limits; all-reduce needs threads in multiples of 32)",
                collectives.len(),
                shapes.len(),
            ))
            .into());
        }
        if let Some(svg) = svg {
            write_raw(&Output::parse(svg), by_gpus(&records, &peers)?.as_bytes())?;
        }
        Ok(records)
    }
}

/// The names of all collectives.
fn names() -> impl Iterator<Item = &'static str> {
    COLLECTIVES.iter().map(|collective| collective.name)
}

/// The collectives with these names, or all without names.
fn collectives(only: &[String]) -> Result<Vec<Collective>, Usage> {
    if let Some(other) = only.iter().find(|only| names().all(|name| name != *only)) {
        let names = names().collect::<Vec<_>>().join(", ");
        return Err(Usage(format!("the suite system has no {other}: it has {names}")));
    }
    let is_asked = |collective: &Collective| is_asked(only, collective.name);
    Ok(COLLECTIVES.into_iter().filter(is_asked).collect())
}

/// Refuses a figure with more lines than colours, before anything is measured.
fn expect_drawable(lines: usize) -> Result<(), Usage> {
    if lines <= MOST_LINES {
        return Ok(());
    }
    Err(Usage(format!(
        "--svg draws {MOST_LINES} lines at most, but this would be {lines}: name fewer of --only, --blocks and --threads"
    )))
}

/// The numbers of the GPUs that `--device` names, or of all GPUs without it, and the GPUs. All are
/// opened at once, so that one that does not work is reported before anything is measured. A GPU
/// that is named twice counts as two that share it.
pub(super) fn gpus(global: &Global) -> anyhow::Result<(Vec<u32>, Devices)> {
    let ordinals = match &global.device {
        DeviceChoice::Cuda(ordinals) => ordinals.clone(),
        DeviceChoice::Auto | DeviceChoice::AllCuda => {
            let devices = probe().context("bench needs a GPU")?;
            devices.iter().map(|device| device.ordinal).take(MOST_GPUS).collect()
        }
        // Returns an error that explains why bench refuses them.
        DeviceChoice::Emulator(_) | DeviceChoice::Ptx(_) | DeviceChoice::Cpu => {
            global.device.gpu("bench").map(|_| Vec::new())?
        }
    };
    let devices = Devices::cuda(&ordinals, &images::all());
    Ok((ordinals, devices.context("bench needs GPUs that work together")?))
}

/// The times of NCCL. Without NCCL, prints a message and returns an empty map.
fn peers(ordinals: &[u32], sampling: &Sampling) -> anyhow::Result<HashMap<usize, Spread>> {
    let nccl = match Nccl::find() {
        Ok(nccl) => nccl,
        Err(none) => {
            output::say(format_args!("gridsync: leaving out the peer: {none}"));
            return Ok(HashMap::new());
        }
    };
    let counts = gpu_counts(ordinals.len());
    let times = nccl_times(&nccl, ordinals, &counts, sampling).map_err(of_peer);
    let times = times.context("measuring NCCL")?;
    if times.is_empty() {
        output::say(format_args!(
            "gridsync: leaving out the peer: NCCL needs at least two GPUs, each named once"
        ));
    }
    Ok(times)
}

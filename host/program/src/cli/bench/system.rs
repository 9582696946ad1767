//! The suite `system`: collectives over several GPUs.

use super::figure::{MOST_LINES, by_gpus};
use super::rows::Rows;
use super::{Bench, Global, Usage};
use crate::cli::choice::DeviceChoice;
use crate::cli::exit::Wrong;
use crate::cli::output;
use crate::data::{Output, write_raw};
use anyhow::Context;
use gridsync::device::cuda::probe;
use gridsync::device::{Devices, MOST_GPUS};
use gridsync_lab::bench::{
    COLLECTIVES, Collective, Nccl, PeerError, Record, SYSTEM_THREADS, Sampling, Shape, Spread,
    Step, System, SystemPoint, gpu_counts, nccl_times, system_blocks,
};
use gridsync_lab::display::Column;
use gridsync_lab::images;
use std::collections::HashMap;

impl Bench {
    pub(super) fn system(&self, global: &Global) -> anyhow::Result<Vec<Record>> {
        let collectives = self.collectives()?;
        let ordinals = ordinals(global)?;
        let images = images::all();
        // Open all GPUs first, so that one that does not work is reported before anything is
        // measured. Then close them, because the peer and each number of GPUs run alone.
        let shapes = {
            let devices =
                Devices::cuda(&ordinals, &images).context("bench needs GPUs that work together")?;
            self.shapes(&devices)
        };
        self.expect_drawable(collectives.len() * shapes.len())?;
        let sampling = Sampling::default();
        let peers = match self.peers {
            true => peers(&ordinals, &sampling)?,
            false => HashMap::new(),
        };

        let points = gpu_counts(ordinals.len()).len() * collectives.len() * shapes.len();
        let mut rows = Rows::new(global, points, columns(), cells);
        let step = |step: Step<'_, SystemPoint>| match step {
            Step::Next(SystemPoint { collective, gpus, shape: Shape { blocks, threads } }) => {
                rows.next(format!("{} of {gpus} at {blocks} × {threads}", collective.name));
            }
            Step::Measured(record) => rows.add(record),
        };
        let system = System {
            ordinals: &ordinals,
            collectives: &collectives,
            shapes: &shapes,
            peers: &peers,
            sampling,
        };
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
        if let Some(svg) = &self.svg {
            let figure = by_gpus(&records, &peers)?;
            write_raw(&Output::parse(svg.clone()), figure.as_bytes())?;
        }
        Ok(records)
    }

    /// The collectives that `--only` names. It accepts names from all suites, so some may belong to
    /// others.
    fn collectives(&self) -> Result<Vec<Collective>, Usage> {
        let is_here = |name: &str| COLLECTIVES.iter().any(|collective| collective.name == name);
        if let Some(other) = self.only.iter().find(|name| !is_here(name)) {
            let names = COLLECTIVES.map(|collective| collective.name).join(", ");
            return Err(Usage(format!("the suite system has no {other}: it has {names}")));
        }
        let is_asked = |name| self.only.is_empty() || self.only.iter().any(|only| only == name);
        Ok(COLLECTIVES.into_iter().filter(|collective| is_asked(collective.name)).collect())
    }

    /// The grids on each GPU.
    fn shapes(&self, devices: &Devices) -> Vec<Shape> {
        let multiprocessors = devices.iter().map(|one| one.properties().multiprocessors).min();
        let blocks = match &self.blocks[..] {
            [] => system_blocks(multiprocessors.unwrap_or(1)),
            blocks => blocks.to_vec(),
        };
        let threads = match &self.threads[..] {
            [] => &[SYSTEM_THREADS],
            threads => threads,
        };
        Shape::all(&blocks, threads)
    }

    /// Refuses a figure with more lines than colours, before anything is measured.
    fn expect_drawable(&self, lines: usize) -> Result<(), Usage> {
        let lines = lines + usize::from(self.peers);
        match self.svg.is_some() && lines > MOST_LINES {
            false => Ok(()),
            true => Err(Usage(format!(
                "--svg draws {MOST_LINES} lines at most, but this would be {lines}: name fewer of --only, --blocks and --threads"
            ))),
        }
    }
}

/// The numbers of the GPUs that `--device` names, or of all GPUs without it. A GPU that is named
/// twice counts as two that share it.
pub(super) fn ordinals(global: &Global) -> anyhow::Result<Vec<u32>> {
    match &global.device {
        DeviceChoice::Cuda(ordinals) => Ok(ordinals.clone()),
        DeviceChoice::Auto | DeviceChoice::AllCuda => {
            let devices = probe().context("bench needs a GPU")?;
            Ok(devices.iter().map(|device| device.ordinal).take(MOST_GPUS).collect())
        }
        // Returns an error that explains why bench refuses them.
        DeviceChoice::Emulator(_) | DeviceChoice::Cpu => {
            global.device.gpu("bench").map(|_| Vec::new())
        }
    }
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
    let times = nccl_times(&nccl, ordinals, &counts, sampling).map_err(|error| match error {
        PeerError::Wrong(_) => anyhow::Error::new(Wrong(error.to_string())),
        error => error.into(),
    });
    let times = times.context("measuring NCCL")?;
    if times.is_empty() {
        output::say(format_args!(
            "gridsync: leaving out the peer: NCCL needs at least two GPUs, each named once"
        ));
    }
    Ok(times)
}

/// The columns of the table.
fn columns() -> Vec<Column> {
    let names = COLLECTIVES.iter().map(|collective| collective.name.len());
    vec![
        Column::words("collective", names.max().unwrap_or(0)),
        Column::numbers("GPUs", 4),
        Column::numbers("blocks", 6),
        Column::numbers("threads", 7),
        Column::numbers("µs", 7),
        Column::numbers("min", 7),
        Column::numbers("max", 7),
        Column::numbers("NCCL µs", 7),
        Column::numbers("ratio", 5),
        Column::words("", 0),
    ]
}

/// The row of a record.
fn cells(_so_far: &[Record], record: &Record) -> Vec<String> {
    let peer = record.peer.as_ref();
    vec![
        record.variant.clone(),
        record.params["gpus"].to_string(),
        record.params["blocks"].to_string(),
        record.params["threads"].to_string(),
        format!("{:.3}", record.median),
        format!("{:.3}", record.min),
        format!("{:.3}", record.max),
        peer.map_or(String::new(), |peer| format!("{:.3}", peer.median)),
        record.ratio().map_or(String::new(), |ratio| format!("{ratio:.3}")),
    ]
}

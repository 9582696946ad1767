//! `gridsync bench`: measurements, beside a peer's in the same run.

use super::exit::Usage;
use super::{Global, output};
use anyhow::Context;
use gridsync::bench::{Peer, Record, barrier, grid_sync, shapes};
use gridsync::data::{Output, write_raw};
use gridsync::device::Device;
use gridsync::report::table;
use gridsync_kernels::grid::barrier::{GridBarrier, PhaseBarrier};
use std::ffi::OsString;

/// Measure on a GPU, beside a peer
///
/// The suite `barrier` is the time per crossing of each grid barrier, back to back, over shapes of
/// grids: the slope between launches of 200 and 2200 rounds, the median of 7. Its peer is
/// cooperative groups' grid.sync().
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// What to measure.
    suite: Suite,
    /// Measure the peer too, in the same run: needs nvcc.
    #[arg(long)]
    peers: bool,
    /// Write the records to this file, one JSON value a line.
    #[arg(long, value_name = "FILE")]
    out: Option<OsString>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Suite {
    /// The grid barriers.
    Barrier,
}

impl Bench {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let device = global.device.device()?;
        if device.properties().is_emulated() {
            return Err(Usage(
                "the time of an emulated grid says nothing: bench needs a GPU (see gridsync devices)"
                    .into(),
            )
            .into());
        }
        let records = match self.suite {
            Suite::Barrier => barriers(&device, self.peers)?,
        };
        let lines: String = records
            .iter()
            .map(|record| format!("{}\n", record.json()))
            .collect();
        if let Some(out) = self.out {
            write_raw(&Output::parse(out), lines.as_bytes())?;
        }
        let json = || records.iter().map(Record::json).collect();
        output::result(global, || text(&records), json)
    }
}

fn barriers(device: &Device, peers: bool) -> anyhow::Result<Vec<Record>> {
    let shapes = shapes(device.properties().multiprocessors);
    let peer = if peers {
        Some(grid_sync(&shapes).context("measuring grid.sync()")?)
    } else {
        None
    };
    let mut records = Vec::new();
    for shape in shapes {
        let measured = [
            barrier::<GridBarrier>(device, "split", shape)?,
            barrier::<PhaseBarrier>(device, "phase", shape)?,
        ];
        let peer = peer
            .as_ref()
            .and_then(|peer| peer.get(&shape))
            .map(|&median| Peer {
                name: "grid.sync",
                median,
            });
        records.extend(measured.into_iter().flatten().map(|record| Record {
            peer: peer.clone(),
            ..record
        }));
    }
    Ok(records)
}

fn text(records: &[Record]) -> String {
    let mut table = table();
    table.set_header([
        "barrier", "blocks", "threads", "µs", "min", "max", "peer µs", "ratio",
    ]);
    for record in records {
        let peer = record
            .peer
            .as_ref()
            .map_or(String::new(), |peer| format!("{:.3}", peer.median));
        table.add_row([
            record.variant.to_owned(),
            record.params["blocks"].to_string(),
            record.params["threads"].to_string(),
            format!("{:.3}", record.time.median),
            format!("{:.3}", record.time.min),
            format!("{:.3}", record.time.max),
            peer,
            record
                .ratio()
                .map_or(String::new(), |ratio| format!("{ratio:.3}")),
        ]);
    }
    table.to_string()
}

//! The latency suites: designs at several grid shapes.

use super::rows::Rows;
use super::{Bench, Global, Usage};
use crate::cli::output;
use anyhow::Context;
use gridsync::device::Device;
use gridsync_lab::bench::{Design, Record, Sampling, Shape, Step, Suite, THREADS, default_blocks};
use gridsync_lab::display::Column;
use std::collections::HashMap;

impl Bench {
    pub(super) fn latencies(
        &self,
        suite: &Suite,
        device: Device,
        global: &Global,
    ) -> anyhow::Result<Vec<Record>> {
        let designs: Vec<Design> = suite
            .designs
            .iter()
            .filter(|design| self.only.is_empty() || self.only.iter().any(|n| n == design.name))
            .copied()
            .collect();
        let blocks = match &self.blocks[..] {
            [] => default_blocks(device.properties().multiprocessors).to_vec(),
            blocks => blocks.to_vec(),
        };
        let threads = match &self.threads[..] {
            [] => &THREADS,
            threads => threads,
        };
        let shapes = Shape::all(&blocks, threads);
        let (device, peers) = if self.peers {
            // The peer runs alone on the GPU: a second context makes its barriers slower.
            drop(device);
            let peers = suite.peers(&shapes).context("measuring grid.sync()")?;
            (global.device.device()?, peers)
        } else {
            (device, HashMap::new())
        };

        let points = designs.len() * shapes.len();
        let mut rows = Rows::new(global, points, columns(&designs), cells);
        let step = |step: Step<'_, (&Design, Shape)>| match step {
            Step::Next((design, Shape { blocks, threads })) => {
                rows.next(format!("{} at {blocks} × {threads}", design.name));
            }
            Step::Measured(record) => rows.add(record),
        };
        let sampling = Sampling::default();
        let run = suite.run(&device, &designs, &shapes, &peers, &sampling, step)?;
        rows.finish(&run.records)?;

        for absent in &run.absent {
            output::say(format_args!("gridsync: leaving out {}: {}", absent.design, absent.error));
        }
        if run.records.is_empty() {
            return Err(Usage(format!(
                "nothing to measure: none of {} designs at {} grid shapes has a kernel for {} and fits on it (see gridsync devices for its limits)",
                designs.len(),
                shapes.len(),
                device.properties().name
            ))
            .into());
        }
        Ok(run.records)
    }
}

/// The columns of the table.
fn columns(designs: &[Design]) -> Vec<Column> {
    let names = designs.iter().map(|design| design.name.len());
    vec![
        Column::words("design", names.max().unwrap_or(0)),
        Column::numbers("blocks", 6),
        Column::numbers("threads", 7),
        Column::numbers("µs", 7),
        Column::numbers("min", 7),
        Column::numbers("max", 7),
        Column::numbers("peer µs", 7),
        Column::numbers("ratio", 5),
        Column::words("", 0),
    ]
}

/// The row of a record.
fn cells(_so_far: &[Record], record: &Record) -> Vec<String> {
    let peer = record.peer.as_ref();
    vec![
        record.variant.clone(),
        record.params["blocks"].to_string(),
        record.params["threads"].to_string(),
        format!("{:.3}", record.median),
        format!("{:.3}", record.min),
        format!("{:.3}", record.max),
        peer.map_or(String::new(), |peer| format!("{:.3}", peer.median)),
        record.ratio().map_or(String::new(), |ratio| format!("{ratio:.3}")),
    ]
}

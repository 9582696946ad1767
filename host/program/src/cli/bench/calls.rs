//! The suite `calls`: the cost of a call for the calling thread.

use super::rows::Rows;
use super::{Bench, Global};
use crate::cli::choice::DeviceChoice;
use anyhow::Context;
use gridsync::device::Device;
use gridsync_lab::bench::{
    Call, Record, Sampling, Step, call_points, peer_calls, run_calls, sum_in_a_process,
};
use gridsync_lab::display::Column;
use gridsync_lab::images;
use std::collections::HashMap;

/// Lengths to measure by default.
const SIZES: [usize; 3] = [1 << 10, 1 << 16, 1 << 20];

impl Bench {
    pub(super) fn calls(&self, device: Device, global: &Global) -> anyhow::Result<Vec<Record>> {
        let points = call_points(match &self.sizes[..] {
            [] => &SIZES,
            sizes => sizes,
        });
        let sampling = Sampling::default();
        // The peer runs alone on the GPU, and so do processes.
        let name = device.properties().name.clone();
        drop(device);
        let peers = match self.peers {
            true => peer_calls(&points, &sampling).context("measuring CUB")?,
            false => HashMap::new(),
        };
        let program = std::env::current_exe().context("finding this program")?;
        let ordinal = match &global.device {
            DeviceChoice::Cuda(ordinals) => ordinals[0],
            _ => 0,
        };
        let process = || sum_in_a_process(&program, &format!("cuda:{ordinal}"));

        let mut rows = Rows::new(global, points.len(), columns(), cells);
        let step = |step: Step<'_, (Call, usize)>| match step {
            Step::Next((call, n)) => rows.next(format!("{} of {n}", call.name())),
            Step::Measured(record) => rows.add(record),
        };
        let open = || Device::cuda(ordinal, &images::all());
        let records = run_calls(&name, open, &points, &peers, &sampling, process, step)?;
        rows.finish(&records)?;
        Ok(records)
    }
}

/// The columns of the table.
fn columns() -> Vec<Column> {
    let names = Call::ALL.iter().map(|call| call.name().len());
    vec![
        Column::words("call", names.max().unwrap_or(0)),
        Column::numbers("elements", 10),
        Column::numbers("µs", 10),
        Column::numbers("min", 10),
        Column::numbers("max", 10),
        Column::numbers("peer µs", 10),
        Column::numbers("ratio", 5),
        Column::words("", 0),
    ]
}

/// The row of a record.
fn cells(_so_far: &[Record], record: &Record) -> Vec<String> {
    let peer = record.peer.as_ref();
    vec![
        record.variant.clone(),
        record.params["n"].to_string(),
        format!("{:.2}", record.median),
        format!("{:.2}", record.min),
        format!("{:.2}", record.max),
        peer.map_or(String::new(), |peer| format!("{:.2}", peer.median)),
        record.ratio().map_or(String::new(), |ratio| format!("{ratio:.3}")),
    ]
}

//! The suites of latencies: designs over shapes of grids.

use super::{Bench, Global, Usage, below, marks};
use crate::cli::progress::progress;
use anyhow::Context;
use gridsync::bench::{Design, Record, Sampling, Shape, Suite, THREADS, default_blocks};
use gridsync::device::Device;
use gridsync::report::table;
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
            // The peer has the GPU to itself: a second context on it makes barriers 4 % slower.
            drop(device);
            let peers = suite.peers(&shapes).context("measuring grid.sync()")?;
            (global.device.device()?, peers)
        } else {
            (device, HashMap::new())
        };

        let bar = progress(global, designs.len() * shapes.len());
        let step = |design: &Design, shape: Shape| {
            let Shape { blocks, threads } = shape;
            bar.set_message(format!("{} at {blocks} × {threads}", design.name));
            bar.inc(1);
        };
        let sampling = Sampling::default();
        let run = suite.run(&device, &designs, &shapes, &peers, &sampling, step)?;
        bar.finish_and_clear();

        for absent in &run.absent {
            eprintln!("gridsync: leaving out {}: {}", absent.design, absent.error);
        }
        if run.records.is_empty() {
            return Err(Usage(format!(
                "nothing to measure: of {} designs at {} shapes of grids none has a kernel for {} and fits on it (gridsync devices tells its limits)",
                designs.len(),
                shapes.len(),
                device.properties().name
            ))
            .into());
        }
        Ok(run.records)
    }
}

/// The table, and below it what its marks mean.
pub(super) fn text(records: &[Record]) -> String {
    let mut table = table();
    table.set_header([
        "design", "blocks", "threads", "µs", "min", "max", "samples", "peer µs", "ratio", "",
    ]);
    let mut notes = Vec::new();
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
            record.time.samples.to_string(),
            peer,
            record
                .ratio()
                .map_or(String::new(), |ratio| format!("{ratio:.3}")),
            marks(&mut notes, record),
        ]);
    }
    format!("{table}\n{}", below(&notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::bench::{Spread, Warning};
    use serde_json::json;

    #[test]
    fn what_broke_a_rule_is_marked_and_said_below_once() {
        let drift = Warning::drift(1.0, 1.1).expect("10 % are too much");
        let short = Warning::too_short(20.0).expect("20 µs are too short");
        let record = |variant, warnings| Record {
            suite: "barrier",
            variant,
            device: "a GPU".into(),
            params: json!({ "blocks": 132, "threads": 256 }),
            time: Spread::of(vec![0.845]).expect("there is a sample"),
            bytes: None,
            peer: None,
            warnings,
        };
        let text = text(&[
            record("split", vec![drift]),
            record("phase", vec![short, drift]),
        ]);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert!(lines[1].ends_with(" [1]"), "{text}");
        assert!(lines[2].ends_with(" [2][1]"), "{text}");
        assert!(lines[4].starts_with("[1] drift: "), "{text}");
        assert!(lines[5].starts_with("[2] too short: "), "{text}");
        assert_eq!(lines.len(), 6, "{text}");
    }
}

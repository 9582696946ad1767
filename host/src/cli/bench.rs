//! `gridsync bench`: measurements, beside a peer's in the same run.

use super::exit::Usage;
use super::{Global, output};
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::value_parser;
use gridsync::bench::{
    ALL_REDUCE, BARRIER, Design, Record, Sampling, Shape, Suite, THREADS, Warning, default_blocks,
};
use gridsync::data::{Output, write_raw};
use gridsync::device::Device;
use gridsync::report::table;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal};

/// Measure on a GPU, beside a peer
///
/// The suite `barrier` is the time per crossing of each grid barrier, back to back, over shapes of
/// grids: the slope between launches of 200 and 2200 rounds, the median of 7 or more, until it is
/// known to half a percent. What could not be measured that well is marked. Its peer is cooperative
/// groups' grid.sync().
///
/// The suite `all-reduce` is the same of one number for each block, combined and brought to every
/// block; its peer is that by grid.sync().
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// What to measure.
    suite: Name,
    /// Measure these designs only [default: all].
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(designs().map(|design| design.name))
    )]
    only: Vec<String>,
    /// Blocks of the grids [default: a quarter, a half, one, two and four for each
    /// multiprocessor].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u32).range(1..))]
    blocks: Vec<u32>,
    /// Threads of a block.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_values_t = THREADS,
        value_parser = value_parser!(u32).range(1..)
    )]
    threads: Vec<u32>,
    /// Measure the peer too, in the same run: needs nvcc.
    #[arg(long)]
    peers: bool,
    /// Write the records to this file, one JSON value a line.
    #[arg(long, value_name = "FILE")]
    out: Option<OsString>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Name {
    /// The grid barriers.
    Barrier,
    /// One number of each block, combined.
    AllReduce,
}

impl Name {
    const fn suite(self) -> &'static Suite {
        match self {
            Self::Barrier => &BARRIER,
            Self::AllReduce => &ALL_REDUCE,
        }
    }
}

/// The designs of all suites.
fn designs() -> impl Iterator<Item = &'static Design> {
    [BARRIER, ALL_REDUCE]
        .into_iter()
        .flat_map(|suite| suite.designs)
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
        let records = self.measure(self.suite.suite(), device, global)?;
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

    fn measure(
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
        let shapes = if self.blocks.is_empty() {
            let blocks = default_blocks(device.properties().multiprocessors);
            Shape::all(&blocks, &self.threads)
        } else {
            Shape::all(&self.blocks, &self.threads)
        };
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

/// A bar on standard error, or none: with --quiet, and where that is no terminal.
pub(super) fn progress(global: &Global, points: usize) -> ProgressBar {
    if global.quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len}, {eta} left: {msg}")
        .expect("the template should be one");
    ProgressBar::new(points as u64).with_style(style)
}

/// The table, and below it what its marks mean.
fn text(records: &[Record]) -> String {
    let mut table = table();
    table.set_header([
        "design", "blocks", "threads", "µs", "min", "max", "samples", "peer µs", "ratio", "",
    ]);
    let mut notes: Vec<Warning> = Vec::new();
    for record in records {
        let peer = record
            .peer
            .as_ref()
            .map_or(String::new(), |peer| format!("{:.3}", peer.median));
        let marks: String = record
            .warnings
            .iter()
            .map(|warning| format!("[{}]", number(&mut notes, *warning)))
            .collect();
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
            marks,
        ]);
    }
    let notes: String = (1..)
        .zip(&notes)
        .map(|(number, warning)| format!("\n[{number}] {warning}"))
        .collect();
    format!("{table}\n{notes}")
}

/// The number of the note that says `warning`; what several records share is one note.
pub(super) fn number(notes: &mut Vec<Warning>, warning: Warning) -> usize {
    let known = notes.iter().position(|note| *note == warning);
    1 + known.unwrap_or_else(|| {
        notes.push(warning);
        notes.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::bench::Spread;
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

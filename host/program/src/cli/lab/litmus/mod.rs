//! `gridsync lab litmus`: what PTX's memory model allows.

mod shapes_table;

use super::found::wrapped;
use super::{Experiment, Found, RunsOn};
use crate::cli::Global;
use crate::cli::count::within;
use crate::cli::exit::Usage;
use crate::cli::progress::progress;
use crate::lab::litmus::{Report, WRITE_AND_READ};
use crate::report::{Table, table};
use gridsync::device::Device;
use gridsync::parallel::try_map;
use litmus::{parse, shapes};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Ask which final states PTX's memory model allows for small programs, and which the emulator shows
///
/// Each file is a litmus test: threads with a few instructions of PTX, and a question. The model's answer comes
/// from all executions that its axioms allow. The emulator runs the same instructions on weak memory, under one
/// schedule after the other. A state that it shows and the model forbids is an error. Without files it runs the
/// classic shapes. Needs no device. The format of the files: toolchain/litmus/README.md.
#[derive(clap::Args)]
pub(super) struct Litmus {
    /// The tests [default: the classic shapes].
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Schedules of the emulator for each test, at most.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = within::<u64>(1..=u64::MAX))]
    schedules: u64,
}

impl Experiment for Litmus {
    const RUNS_ON: RunsOn = RunsOn::Nothing;
    const IN_ALL: &'static [&'static str] = &["--schedules=200"];

    fn find(&self, global: &Global, _device: &Device) -> anyhow::Result<Found> {
        let texts = self.texts()?;
        let bar = progress(global, texts.len());
        let report = |at: usize| {
            let (name, text) = &texts[at];
            let test = parse(text).map_err(|error| Usage(format!("{name}: {error}")))?;
            let report = Report::of(name.clone(), test, self.schedules);
            bar.inc(1);
            report.map_err(|error| Usage(format!("{name}: {error}")).into())
        };
        let reports: Vec<Report> = try_map::<_, anyhow::Error>(texts.len(), &report)?;
        bar.finish_and_clear();
        let wrong = reports.iter().find_map(|report| {
            report.contradiction().map(|what| format!("{}: {what}", report.name))
        });
        Ok(Found {
            text: text(global, &reports, self.files.is_empty()),
            json: reports.iter().map(as_json).collect(),
            is_one_a_line: true,
            wrong,
            ..Found::default()
        })
    }
}

impl Litmus {
    /// The tests: names and texts.
    fn texts(&self) -> anyhow::Result<Vec<(String, String)>> {
        if self.files.is_empty() {
            let own = WRITE_AND_READ.map(|(name, text)| (name.to_owned(), text.to_owned()));
            let shapes = shapes::all().into_iter().map(|shape| (shape.name, shape.text));
            return Ok(shapes.chain(own).collect());
        }
        let read = |file: &PathBuf| {
            let name = file.display().to_string();
            let text = fs::read_to_string(file)
                .map_err(|error| Usage(format!("cannot read {name}: {error}")))?;
            Ok((name, text))
        };
        self.files.iter().map(read).collect()
    }
}

fn text(global: &Global, reports: &[Report], are_shapes: bool) -> String {
    let (shapes, others) =
        reports.split_at(if are_shapes { reports.len() - WRITE_AND_READ.len() } else { 0 });
    let mut parts = Vec::new();
    if !shapes.is_empty() {
        parts.push(shapes_table::table_of(shapes).to_string());
    }
    parts.push(of_files(others).to_string());
    if !global.quiet {
        if !shapes.is_empty() {
            parts.insert(0, wrapped(shapes_table::WHAT));
        }
        let not_seen: usize = reports.iter().map(not_seen).sum();
        parts.push(wrapped(&format!(
            "States are final values of what the question names. {not_seen} states that the model \
             allows were not seen in the emulator. Some never are, such as a read of a write that \
             comes later in the run (load buffering): toolchain/simt/README.md, \"Weak memory\". A \
             state that it shows and the model forbids would be an error."
        )));
    }
    parts.join("\n\n")
}

fn of_files(reports: &[Report]) -> Table {
    let mut table = table();
    table.set_header(["test", "asked", "every run ends", "states", "in the emulator", "schedules"]);
    for report in reports {
        let (shown, schedules) = match &report.emulated {
            Err(why) => (format!("not run: {why}"), String::new()),
            Ok(emulated) => {
                let model = &report.model.states;
                let text = match model.len() - not_seen(report) {
                    all if all == model.len() => "all".to_owned(),
                    some => format!("{some} of {}", model.len()),
                };
                let endless = if emulated.endless.is_some() { ", and no end" } else { "" };
                (text + endless, emulated.schedules.to_string())
            }
        };
        let ends = if report.model.terminates { "yes" } else { "no" };
        let states = report.model.states.len().to_string();
        table.add_row([&report.name, report.verdict(), ends, &states, &shown, &schedules]);
    }
    table
}

/// How many states the model allows that the emulator did not show.
fn not_seen(report: &Report) -> usize {
    let Ok(emulated) = &report.emulated else { return 0 };
    report.model.states.iter().filter(|state| !emulated.states.contains_key(*state)).count()
}

fn as_json(report: &Report) -> Value {
    let named = |state: &Vec<i32>| -> Value {
        let columns = report.model.columns.iter().zip(state);
        columns.map(|(&term, &value)| (report.test.term_name(term), Value::from(value))).collect()
    };
    let emulator = report.emulated.as_ref().ok().map(|emulated| {
        json!({
            "states": emulated.states.keys().map(named).collect::<Vec<_>>(),
            "schedules": emulated.schedules,
            "endless": emulated.endless.is_some(),
        })
    });
    json!({
        "file": report.name,
        "quantifier": match report.test.question.quantifier {
            litmus::Quantifier::Exists => "exists",
            litmus::Quantifier::NotExists => "~exists",
            litmus::Quantifier::Forall => "forall",
        },
        "model": report.verdict(),
        "terminates": report.model.terminates,
        "states": report.model.states.iter().map(named).collect::<Vec<_>>(),
        "emulator": emulator,
        "gpu": null,
    })
}

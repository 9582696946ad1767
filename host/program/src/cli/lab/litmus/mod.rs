//! `gridsync lab litmus`: what PTX's memory model allows.

mod shapes_table;

use super::found::wrapped;
use super::{Experiment, Found, RunsOn};
use crate::cli::Global;
use crate::cli::exit::Usage;
use crate::cli::progress::progress;
use crate::shown::escaped;
use gridsync::device::Device;
use gridsync::parallel::try_map;
use gridsync_lab::count::within;
use gridsync_lab::display::{Table, table};
use gridsync_lab::litmus::{Gpu, Report, WRITE_AND_READ};
use litmus::{Test, parse, shapes};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Ask which final states PTX's memory model allows for small programs, and which emulator and GPU show
///
/// Each file is a litmus test: threads with a few instructions of PTX, and a question. The model's answer comes
/// from all executions that its axioms allow. The emulator runs the same instructions on weak memory, under one
/// schedule after the other. A GPU runs them side by side, near and far in memory, on one multiprocessor and
/// several, alone and disturbed. A state that is shown and that the model forbids is an error. Without files it
/// runs the classic shapes. Without a GPU that part is left out. The format of the files: toolchain/litmus/README.md.
#[derive(clap::Args)]
pub(super) struct Litmus {
    /// The tests [default: the classic shapes].
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Schedules of the emulator for each test, at most.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = within::<u64>(1..=u64::MAX))]
    schedules: u64,
    /// Runs on the GPU for each test, at least.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = within::<u64>(1..=u64::MAX))]
    runs: u64,
}

impl Experiment for Litmus {
    const RUNS_ON: RunsOn = RunsOn::Nothing;
    const IN_ALL: &'static [&'static str] = &["--schedules=200", "--runs=1"];

    fn find(&self, global: &Global, _device: &Device) -> anyhow::Result<Found> {
        let gpu = global.device.gpu_if_any()?;
        let texts = self.texts()?;
        let bar = progress(global, texts.len());
        let report = |at: usize| {
            let (name, text) = &texts[at];
            let test = parse(text).map_err(|error| Usage(format!("{name}: {error}")))?;
            let report = Report::of(name.clone(), test, self.schedules);
            bar.inc(1);
            report.map_err(|error| Usage(format!("{name}: {error}")).into())
        };
        let mut reports: Vec<Report> = try_map::<_, anyhow::Error>(texts.len(), &report)?;
        bar.finish_and_clear();
        let on = gpu.map(|gpu| self.ask(gpu, global, &mut reports)).transpose()?;
        let wrong = reports.iter().find_map(|report| {
            report.contradiction().map(|what| format!("{}: {what}", report.name))
        });
        Ok(Found {
            text: text(global, &reports, self.files.is_empty(), on.as_deref()),
            json: reports.iter().map(as_json).collect(),
            is_one_a_line: true,
            wrong,
            ..Found::default()
        })
    }
}

impl Litmus {
    /// Runs all tests on the GPU with this number and compute capability, and returns its name.
    fn ask(
        &self,
        (ordinal, compute): (u32, u32),
        global: &Global,
        reports: &mut [Report],
    ) -> anyhow::Result<String> {
        let tests: Vec<&Test> = reports.iter().map(|report| &report.test).collect();
        let gpu = Gpu::new(ordinal, compute, &tests)?;
        let bar = progress(global, reports.len());
        for (at, report) in reports.iter_mut().enumerate() {
            report.on_gpu = Some(gpu.run(at, &report.test, &report.model, self.runs)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(gpu.name())
    }

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

fn text(global: &Global, reports: &[Report], are_shapes: bool, gpu: Option<&str>) -> String {
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
        parts.push(wrapped(&gpu.map_or_else(
            || "No GPU ran the tests.".to_owned(),
            |name| {
                let on_gpu = || reports.iter().filter_map(|it| it.on_gpu.as_ref()?.as_ref().ok());
                let runs: u64 = on_gpu().map(|seen| seen.runs).sum();
                format!("{} tests ran on {name}, {runs} runs in all.", on_gpu().count())
            },
        )));
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
    let has_gpu = reports.iter().any(|report| report.on_gpu.is_some());
    let columns = ["test", "asked", "every run ends", "states", "in the emulator", "schedules"];
    let of_gpu = ["on the GPU", "runs"].into_iter().filter(|_| has_gpu);
    table.set_header(columns.into_iter().chain(of_gpu));
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
        let name = escaped(&report.name);
        let cells = [&*name, report.verdict(), ends, &states, &shown, &schedules];
        let mut cells: Vec<String> = cells.into_iter().map(str::to_owned).collect();
        match &report.on_gpu {
            None => {}
            Some(Err(why)) => cells.push(format!("not run: {why}")),
            Some(Ok(seen)) => {
                let endless = if seen.endless > 0 { ", and no end" } else { "" };
                let text = match seen.states.len() {
                    all if all == report.model.states.len() => "all".to_owned(),
                    some => format!("{some} of {states}"),
                };
                cells.extend([text + endless, (seen.runs + seen.endless).to_string()]);
            }
        }
        table.add_row(cells);
    }
    table
}

/// Number of states that the model allows and the emulator did not show.
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
    let gpu = report.on_gpu.as_ref().and_then(|seen| seen.as_ref().ok()).map(|seen| {
        let state =
            |(state, &count): (&Vec<i32>, &u64)| json!({ "state": named(state), "count": count });
        json!({
            "states": seen.states.iter().map(state).collect::<Vec<_>>(),
            "runs": seen.runs,
            "endless": seen.endless,
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
        "gpu": gpu,
    })
}

//! `gridsync lab launches`: many launches against one.

mod files;
mod model;

use super::found::owned;
use super::{Experiment, Found, RunsOn};
use crate::cli::exit::Wrong;
use crate::cli::notes::Notes;
use crate::cli::progress::progress;
use crate::cli::{Global, output};
use gridsync::device::Device;
use gridsync::launch::Plan;
use gridsync_lab::bench::Sampling;
use gridsync_lab::count::within;
use gridsync_lab::display::table;
use gridsync_lab::launches::{Comparison, Form, LaunchesError, POINTS, compare, sweep};
use gridsync_lab::xpx::Setup;
use serde_json::{Value, json};
use std::mem::discriminant;
use std::path::{Path, PathBuf};

/// Compare many launches with one launch that has a grid barrier
///
/// X→P→X again and again: by a launch for each stage, by those launches in one graph, by launches
/// that overlap each other (from compute capability 9.0), and by one launch with each of the grid
/// barriers. Every result is compared with the CPU reference before its form is timed. The time is
/// that of a whole job over its rounds, the median of 7 samples or more.
#[derive(clap::Args)]
pub(crate) struct Launches {
    /// Transforms X→P→X of a job.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = within::<u32>(1..=10_000))]
    rounds: u32,
    /// Elements of X and of P, up to 65536: every thread adds all of them up.
    #[arg(short = 'n', long, alias = "n", default_value_t = 4096, value_name = "N", value_parser = within::<u32>(1..=1 << 16))]
    elements: u32,
    /// Blocks of the grid [default: one for each multiprocessor].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=u64::MAX))]
    blocks: Option<u32>,
    /// Threads of a block.
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = within::<u32>(1..=u64::MAX))]
    threads: u32,
    /// Measure with 1 to 32 blocks of 32 to 1024 threads too, and write to this folder: the gain at
    /// each shape (fig5-launches.svg, fig5-graph.svg), the times with 1024 threads in all
    /// (fig6.svg), the records (launches.jsonl), and what models predict (cost-model.txt).
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Launches {
    const RUNS_ON: RunsOn = RunsOn::Gpu;
    const FILES: &'static [&'static str] = &files::NAMES;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let setup = Setup {
            elements: self.elements as usize,
            blocks: self.blocks.unwrap_or(device.properties().multiprocessors),
            threads: self.threads,
        };

        let points = Form::ALL.len() + self.output.as_ref().map_or(0, |_| POINTS);
        let bar = progress(global, points);
        let step = |form: Form, setup: &Setup| {
            let Setup { blocks, threads, .. } = setup;
            bar.set_message(format!("{} at {blocks} × {threads}", form.name()));
            bar.inc(1);
        };
        let sampling = Sampling::default();
        let compared =
            compare(device, &Form::ALL, &setup, self.rounds, &sampling, step).map_err(failed)?;
        let files = match self.output {
            Some(_) => {
                let swept = sweep(device, self.rounds, &sampling, step).map_err(failed)?;
                files::contents(device, &compared, &swept)?
            }
            None => Vec::new(),
        };
        bar.finish_and_clear();
        Ok(Found {
            text: text(global, device, &compared),
            json: as_json(device, &compared),
            files: owned(files),
            wrong: None,
            ..Found::default()
        })
    }
}

/// Converts an error of the experiment to an error of the program. A wrong form is a wrong result.
fn failed(error: LaunchesError) -> anyhow::Error {
    match error {
        LaunchesError::Device(error) => error.into(),
        wrong => Wrong(wrong.to_string()).into(),
    }
}

/// Name of the plan, for scripts.
const fn plan_name(plan: &Plan) -> &'static str {
    match plan {
        Plan::Single(_) => "single",
        Plan::Stages(_) => "stages",
    }
}

fn text(global: &Global, device: &Device, compared: &Comparison) -> String {
    let mut parts = Vec::new();
    if !global.quiet {
        let Setup { elements, blocks, threads } = compared.setup;
        let plan = match compared.plan {
            Plan::Single(_) => "all of them can be resident, so that one launch will do",
            Plan::Stages(_) => "not all can be resident, so that each stage takes a launch",
        };
        parts.push(format!(
            "X→P→X {} times on {}: {elements} elements, {blocks} blocks of {threads} threads; {plan}",
            compared.rounds,
            device.properties().name
        ));
    }
    let mut table = table();
    table.set_header(["form", "µs per transform", "gain over launches, %", ""]);
    let mut notes = Notes::default();
    for timed in &compared.timed {
        let gain = compared.gain(timed.form, Form::Launches);
        table.add_row([
            timed.form.name().to_owned(),
            format!("{:.3}", timed.time.median),
            gain.map_or(String::new(), |gain| format!("{gain:+.1}")),
            notes.marks(&timed.warnings),
        ]);
    }
    let mut results = format!("{table}\n");
    for note in notes.lines() {
        results += &format!("\n{note}");
    }
    for of_one_kind in
        compared.absent.chunk_by(|a, b| discriminant(&a.error) == discriminant(&b.error))
    {
        let names: Vec<_> = of_one_kind.iter().map(|absent| absent.form.name()).collect();
        let error = &of_one_kind[0].error;
        results += &format!("\nwithout {}: {error}", names.join(", "));
    }
    parts.push(results.trim_end().to_owned());
    let model = model::table(device, [compared]);
    if !global.quiet
        && let Some(model) = model
    {
        parts.push(format!("What one launch with the grid barrier saves:\n{model}"));
    }
    parts.join("\n\n")
}

fn as_json(device: &Device, compared: &Comparison) -> Value {
    let Setup { elements, blocks, threads } = compared.setup;
    let forms = compared.timed.iter().map(|timed| {
        let time = timed.time;
        json!({
            "form": timed.form.name(),
            "us_per_transform": output::number(time.median),
            "min": output::number(time.min),
            "max": output::number(time.max),
            "samples": time.samples,
            "gain_over_launches_percent": compared.gain(timed.form, Form::Launches),
            "warnings": timed.warnings,
        })
    });
    let absent = compared
        .absent
        .iter()
        .map(|absent| json!({ "form": absent.form.name(), "why": absent.error.to_string() }));
    json!({
        "device": device.properties().name,
        "n": elements,
        "blocks": blocks,
        "threads": threads,
        "rounds": compared.rounds,
        "plan": plan_name(&compared.plan),
        "forms": forms.collect::<Vec<_>>(),
        "absent": absent.collect::<Vec<_>>(),
        "cost_model": model::as_json(device, compared),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use gridsync::device::{DeviceError, Emulator, EmulatorConfig, Geometry};
    use gridsync_lab::launches::Absent;

    #[test]
    fn forms_that_are_absent_for_the_same_reason_share_a_line() {
        let setup = Setup { elements: 1, blocks: 9, threads: 32 };
        let unknown = |name| DeviceError::UnknownKernel { name, image: 75 };
        let empty = DeviceError::EmptyGrid { kernel: "k" };
        let errors = [unknown("a"), unknown("b"), empty];
        let compared = Comparison {
            setup,
            rounds: 1,
            plan: Plan::Stages(Geometry::new(9, 32)),
            timed: vec![],
            absent: Form::ALL
                .into_iter()
                .zip(errors)
                .map(|(form, error)| Absent { form, error })
                .collect(),
        };
        let global = crate::cli::Cli::try_parse_from(["gridsync", "devices"]).expect("a call");
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let text = text(&global.global, &device, &compared);
        let absent: Vec<_> = text.lines().filter(|l| l.starts_with("without ")).collect();
        assert_eq!(absent.len(), 2, "{text}");
        assert!(absent[0].starts_with("without launches, graph: "), "{text}");
        assert!(text.contains("each stage takes a launch"), "{text}");
    }
}

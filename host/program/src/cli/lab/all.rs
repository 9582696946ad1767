//! `gridsync lab`: the list of experiments. `gridsync lab all`: runs each of them.

use super::{ALL, InAll, RunsOn, commands, with_options};
use crate::cli::exit::Wrong;
use crate::cli::{Global, output};
use gridsync_lab::display::table;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Run all experiments with their defaults, and write all figures to a folder
///
/// What needs a GPU is left out where there is none, and a line on standard error says so. On a GPU,
/// `lab stress` makes a tenth of its rounds. In JSON, each experiment has a field with its own JSON.
#[derive(clap::Args)]
pub(super) struct All {
    /// The folder for the figures and records.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The result of `gridsync lab`: the list of experiments.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct List {
    /// All experiments.
    experiments: Vec<Listed>,
}

/// An experiment.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct Listed {
    /// Name.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = listed().into_iter().map(|one| one.name).collect::<Vec<_>>())))]
    name: String,
    /// The devices that it runs on. Nothing: it needs no device.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["nothing", "a GPU", "a GPU or the emulator", "anything"])))]
    runs_on: &'static str,
    /// The work of the experiment, in a sentence.
    about: String,
    /// The parameters for `lab all`. Not in the JSON.
    #[serde(skip)]
    takes: InAll,
}

/// All experiments, in the order of the help.
fn listed() -> Vec<Listed> {
    let commands = commands();
    let listed = commands.get_subcommands().zip(ALL).map(|(command, &takes)| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let runs_on = name_of(takes.runs_on);
        Listed { name: command.get_name().to_owned(), runs_on, about, takes }
    });
    listed.collect()
}

/// The list of experiments.
pub(super) fn list(global: &Global) -> anyhow::Result<()> {
    let experiments = listed();
    let mut table = table();
    table.set_header(["experiment", "on", "what it does"]);
    for Listed { name, runs_on, about, .. } in &experiments {
        table.add_row([name, *runs_on, about]);
    }
    let how = "gridsync lab NAME --help tells the options, gridsync lab all runs all of them";
    output::result(global, || format!("{table}\n\n{how}"), || List { experiments })
}

/// The devices that an experiment runs on, as the list names them.
const fn name_of(runs_on: RunsOn) -> &'static str {
    match runs_on {
        RunsOn::Nothing => "nothing",
        RunsOn::Gpu => "a GPU",
        RunsOn::Any => "a GPU or the emulator",
        RunsOn::Anywhere => "anything",
    }
}

impl All {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let device = global.device.device()?;
        let is_gpu = !device.properties().is_emulated();
        let (mut fields, mut wrong) = (BTreeMap::new(), Vec::new());
        for Listed { name, takes, .. } in listed() {
            if takes.runs_on == RunsOn::Gpu && !is_gpu {
                output::say(format_args!("gridsync: leaving out lab {name}: it needs a GPU"));
                continue;
            }
            let folder = self.output.as_deref().filter(|_| takes.has_files);
            let experiment = with_options(&name, takes.options, folder.map(AsRef::as_ref))?;
            let found = experiment.find(global, &device)?;
            wrong.extend(found.wrong.map(|wrong| format!("lab {name}: {wrong}")));
            if global.json {
                fields.insert(name, found.json);
            } else {
                output::print(&format!("lab {name}\n\n{}\n", found.text.trim_end()))?;
            }
        }
        if global.json {
            output::print_json(&fields)?;
        }
        if wrong.is_empty() { Ok(()) } else { Err(Wrong(wrong.join("; ")).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_experiment_parses_without_options_and_with_those_of_lab_all() {
        let listed = listed();
        assert_eq!(listed.len(), ALL.len());
        for Listed { name, about, takes, .. } in listed {
            let folder = takes.has_files.then(|| "folder".as_ref());
            for options in [&[], takes.options] {
                assert!(with_options(&name, options, folder).is_ok(), "{name}");
            }
            assert!(!about.is_empty(), "{name}");
        }
    }
}

//! `gridsync lab`: the list of experiments. `gridsync lab all`: runs each of them.

use super::{ALL, Found, InAll, RunsOn, commands, with_options};
use crate::cli::exit::Wrong;
use crate::cli::{Global, output};
use gridsync_lab::display::table;
use serde_json::{Map, Value, json};
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

/// An entry of the list of experiments.
struct Listed {
    name: String,
    about: String,
    takes: InAll,
}

/// All experiments, in the order of the help.
fn listed() -> Vec<Listed> {
    let commands = commands();
    let listed = commands.get_subcommands().zip(ALL).map(|(command, &takes)| {
        let about = command.get_about().map(ToString::to_string);
        Listed { name: command.get_name().to_owned(), about: about.unwrap_or_default(), takes }
    });
    listed.collect()
}

/// The list of experiments.
pub(super) fn list() -> Found {
    let mut table = table();
    table.set_header(["experiment", "on", "what it does"]);
    for Listed { name, about, takes } in listed() {
        table.add_row([name, name_of(takes.runs_on).to_owned(), about]);
    }
    let json = listed().into_iter().map(|listed| {
        json!({ "name": listed.name, "runs_on": name_of(listed.takes.runs_on), "about": listed.about })
    });
    let how = "gridsync lab NAME --help tells the options, gridsync lab all runs all of them";
    Found {
        text: format!("{table}\n\n{how}"),
        json: json!({ "experiments": json.collect::<Value>() }),
        ..Found::default()
    }
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
        let (mut fields, mut wrong) = (Map::new(), Vec::new());
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
            output::print(&Value::from(fields).to_string())?;
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
        for Listed { name, about, takes } in listed {
            let folder = takes.has_files.then(|| "folder".as_ref());
            for options in [&[], takes.options] {
                assert!(with_options(&name, options, folder).is_ok(), "{name}");
            }
            assert!(!about.is_empty(), "{name}");
        }
    }
}

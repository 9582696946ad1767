//! `gridsync lab`: the list of experiments. `gridsync lab all`: each of them in turn.

use super::{ALL, Found, RunsOn, commands, with_defaults};
use crate::cli::exit::Wrong;
use crate::cli::{Global, output};
use crate::report::table;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Run all experiments with their defaults, and write all figures to a folder
///
/// What needs a GPU is left out where there is none, and a line on standard error says so. In JSON,
/// each experiment has a field with its own JSON.
#[derive(clap::Args)]
pub(super) struct All {
    /// The folder for the figures and records.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// An experiment of the list.
struct Listed {
    name: String,
    about: String,
    runs_on: RunsOn,
    has_files: bool,
}

/// All experiments, in the order of the help.
fn listed() -> Vec<Listed> {
    let commands = commands();
    let listed = commands.get_subcommands().zip(ALL).map(|(command, &(runs_on, has_files))| {
        let about = command.get_about().map(ToString::to_string);
        Listed {
            name: command.get_name().to_owned(),
            about: about.unwrap_or_default(),
            runs_on,
            has_files,
        }
    });
    listed.collect()
}

/// The list of experiments.
pub(super) fn list() -> Found {
    let mut table = table();
    table.set_header(["experiment", "on", "what it does"]);
    for Listed { name, about, runs_on, .. } in listed() {
        table.add_row([name, runs_on.name().to_owned(), about]);
    }
    let json = listed().into_iter().map(|listed| {
        json!({ "name": listed.name, "runs_on": listed.runs_on.name(), "about": listed.about })
    });
    let how = "gridsync lab NAME --help tells the options, gridsync lab all runs all of them";
    Found {
        text: format!("{table}\n\n{how}"),
        json: json!({ "experiments": json.collect::<Value>() }),
        ..Found::default()
    }
}

impl RunsOn {
    /// What the list says.
    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Gpu => "a GPU",
            Self::Any => "a GPU or the emulator",
        }
    }
}

impl All {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let device = global.device.device()?;
        let is_gpu = !device.properties().is_emulated();
        let (mut fields, mut wrong) = (Map::new(), Vec::new());
        for Listed { name, runs_on, has_files, .. } in listed() {
            if runs_on == RunsOn::Gpu && !is_gpu {
                eprintln!("gridsync: leaving out lab {name}: it needs a GPU");
                continue;
            }
            let folder = self.output.as_deref().filter(|_| has_files);
            let found = with_defaults(&name, folder.map(AsRef::as_ref))?.find(global, &device)?;
            wrong.extend(found.wrong.map(|wrong| format!("lab {name}: {wrong}")));
            match global.json {
                true => _ = fields.insert(name, found.json),
                false => output::print(&format!("lab {name}\n\n{}\n", found.text.trim_end()))?,
            }
        }
        if global.json {
            output::print(&Value::from(fields).to_string())?;
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(Wrong(wrong.join("; ")).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_experiment_runs_with_its_defaults_alone() {
        let listed = listed();
        assert_eq!(listed.len(), ALL.len());
        for Listed { name, about, has_files, .. } in listed {
            let folder = has_files.then(|| "folder".as_ref());
            assert!(with_defaults(&name, folder).is_ok(), "{name}");
            assert!(!about.is_empty(), "{name}");
        }
    }
}

//! The command line as parsed and shown: subcommands in groups, each with only the options that it
//! needs.

use super::{Cli, bench, examples};
use clap::{Command, CommandFactory};
use std::fmt::Write;

/// The subcommands, grouped by purpose.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Arrays in files (.npy, .npz or raw)",
        &[
            "reduce",
            "scan",
            "select",
            "segments",
            "group",
            "sort",
            "unique",
            "top",
            "quantile",
            "histogram",
            "describe",
            "range-sum",
            "kendall",
        ],
    ),
    ("Learning and trying", &["demo", "lab", "emulate", "dag", "new"]),
    ("Checking and measuring", &["check", "devices", "verify", "bench", "report"]),
    ("The program itself", &["completions", "man", "help"]),
];

/// The subcommands that do not use a device.
const NO_DEVICE: [&[&str]; 8] = [
    &["bench", "compare"],
    &["bench", "peers"],
    &["bench", "build-peers"],
    &["lab", "spin"],
    &["new"],
    &["report"],
    &["completions"],
    &["man"],
];

/// The command line.
pub(super) fn command() -> Command {
    let command = NO_DEVICE.iter().fold(Cli::command(), |command, path| {
        let device = command.get_arguments().find(|arg| arg.get_id() == "device");
        let hidden = device.expect("the device is an option").clone().hide(true);
        with(command, path, &hidden)
    });
    let command = examples::add_to(command.mut_subcommand("bench", bench::with_names_of_others));
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n\
         Options:\n{{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template)
}

/// `command`, with this option added to the command at `path`.
fn with(command: Command, path: &[&str], option: &clap::Arg) -> Command {
    match path {
        [] => command.arg(option),
        [name, rest @ ..] => command.mut_subcommand(*name, |below| with(below, rest, option)),
    }
}

/// The list of subcommands.
fn groups(command: &Command) -> String {
    let about = |name: &str| match command.find_subcommand(name).and_then(Command::get_about) {
        Some(about) => about.to_string(),
        None => "Print this help, or that of a subcommand".to_owned(),
    };
    let mut text = String::new();
    for (head, names) in GROUPS {
        let _infallible = write!(text, "\n{head}:\n");
        for name in names {
            let _infallible = writeln!(text, "  {name:12} {}", about(name));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_is_in_one_group_and_fits_in_80_columns() {
        let command = command();
        let mut all: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.retain(|name| *name != "help");
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(all, grouped);
        for line in groups(&command).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

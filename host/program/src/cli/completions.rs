//! `gridsync completions`: prints a completion script for a shell.

use super::{Global, command, output};
use clap::ValueEnum;
use clap_complete::Shell;
use serde_json::json;

/// Print a script for shell completion
///
/// It belongs where the shell looks for it:
///
///   bash  ~/.local/share/bash-completion/completions/gridsync
///   zsh   _gridsync, in a folder of $fpath
///   fish  ~/.config/fish/completions/gridsync.fish
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "gridsync", &mut script);
        let script = String::from_utf8(script)?;
        let shell = self.shell.to_possible_value();
        let shell = shell.as_ref().map(|shell| shell.get_name());
        output::result(global, || script.clone(), || json!({ "shell": shell, "script": script }))
    }
}

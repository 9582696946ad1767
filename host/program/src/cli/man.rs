//! `gridsync man`: writes the manual.

use super::lab::folder;
use super::{Global, command, output};
use crate::shown;
use clap::Command;
use clap_mangen::Man;
use serde_json::json;
use std::path::PathBuf;

/// Print the manual page, or write one for each subcommand
///
/// The pages belong in ~/.local/share/man/man1, or in a folder man1 of $MANPATH.
#[derive(clap::Args)]
pub(crate) struct Manual {
    /// The folder for all pages: gridsync.1, gridsync-reduce.1 and so on. Files of these names in it
    /// are replaced. Without it, gridsync.1 is printed.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Manual {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let mut command = command().disable_help_subcommand(true);
        command.build();
        let Some(to) = self.output else {
            let (_, page) = page(command)?;
            return output::result(global, || page.clone(), || json!({ "page": page }));
        };
        let pages = pages(command)?;
        let files: Vec<_> =
            pages.iter().map(|(name, page)| (name.as_str(), page.clone())).collect();
        let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        folder::prepare(&to, &names)?;
        folder::write(&to, &files)?;
        let text = || format!("{}: {} pages", shown::path(&to), names.len());
        output::result(global, text, || json!({ "folder": to, "files": names }))
    }
}

/// The names and contents of the pages of a command and its subcommands at all levels.
fn pages(command: Command) -> anyhow::Result<Vec<(String, String)>> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let below = below.cloned().map(pages).collect::<anyhow::Result<Vec<_>>>()?;
    let mut pages = vec![page(command)?];
    pages.extend(below.into_iter().flatten());
    Ok(pages)
}

/// The name and content of the page of one command.
fn page(command: Command) -> anyhow::Result<(String, String)> {
    let man = Man::new(command).source(concat!("gridsync ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok((man.get_filename(), as_laid_out(&String::from_utf8(page)?)))
}

/// The page, with the text after the flags line by line as in the help, because its examples and
/// tables are laid out by hand.
fn as_laid_out(page: &str) -> String {
    let Some((before, rest)) = page.split_once("\n.SH EXTRA\n") else {
        return page.to_owned();
    };
    let (text, after) = rest.split_at(rest.find("\n.SH ").map_or(rest.len(), |end| end + 1));
    format!("{before}\n.SH NOTES\n.nf\n{text}.fi\n{after}")
}

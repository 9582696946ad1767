//! `doc`: the reference of all packages, from `cargo doc`, with links from each package to those
//! that it uses.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::outcome::Outcome;
use crate::workspace::{cargo, root, run as run_command, walk};

/// The packages that others link to, each after those that it links to.
///
/// rustdoc links to another package only if its pages exist already. cargo documents the packages
/// of a workspace in any order.
const FIRST: [&str; 8] = [
    "gridsync-simt",
    "gridsync-cuda-std",
    "gridsync-kernels",
    "gridsync-image",
    "gridsync-entries",
    "gridsync",
    "gridsync-verify",
    "gridsync-lab",
];

/// The prefixes of the paths of their libraries.
const PATHS: [&str; 8] = [
    "simt::",
    "cuda_std::",
    "gridsync_kernels::",
    "ptx_image::",
    "gridsync_entries::",
    "gridsync::",
    "gridsync_verify::",
    "gridsync_lab::",
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Open the pages of the library in a browser
    #[arg(long)]
    pub(crate) open: bool,
}

/// Writes the pages. A rustdoc warning is an error.
pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let document = |what: &[&str]| {
        let mut command = cargo();
        command.args(["doc", "--no-deps"]).args(what);
        run_command(command.env("RUSTDOCFLAGS", "-Dwarnings"))
    };
    for package in FIRST {
        document(&["--package", package])?;
    }
    // Without those above: with the features of the workspace they would be rewritten, in any
    // order.
    let others = FIRST.iter().flat_map(|package| ["--exclude", package]);
    document(&["--workspace"].into_iter().chain(others).collect::<Vec<_>>())?;
    let unresolved = unresolved(&root().join("target/doc"))?;
    ensure!(
        unresolved.is_empty(),
        "links that rustdoc could not resolve:\n{}\nIf another cargo doc made these pages, remove \
         target/doc and run this again",
        unresolved.join("\n")
    );
    if args.open {
        document(&["--package", "gridsync", "--open"])?;
    }
    Ok(Outcome::Passed)
}

/// Links of the pages that are still Rust paths, each with its page.
fn unresolved(pages: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for page in walk(pages, &|path| path.extension().is_some_and(|extension| extension == "html"))?
    {
        let name = page.strip_prefix(pages).unwrap_or(&page).display().to_string();
        let text = fs::read_to_string(&page).with_context(|| name.clone())?;
        let links = text.split("href=\"").skip(1).filter_map(|rest| rest.split_once('"'));
        for (link, _) in links.filter(|(link, _)| PATHS.iter().any(|path| link.starts_with(path))) {
            found.push(format!("{name}: {link}"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unresolved_rust_path_in_a_link_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let page = dir.path().join("gridsync/index.html");
        fs::create_dir_all(page.parent().unwrap()).unwrap();
        let link = |to: &str| fs::write(&page, format!("see <a href=\"{to}\">this</a>")).unwrap();
        link("../cuda_std/dependent/index.html");
        assert!(unresolved(dir.path()).unwrap().is_empty());
        link("cuda_std::dependent");
        assert_eq!(unresolved(dir.path()).unwrap(), ["gridsync/index.html: cuda_std::dependent"]);
    }
}

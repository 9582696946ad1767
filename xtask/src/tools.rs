//! Checks with tools that may not be installed: of dependencies, and of breaking changes.

use std::process::Stdio;

use anyhow::{Context, Result};

use crate::outcome::Outcome;
use crate::workspace::{cargo, run as run_command};

/// Checks the licences, the duplicates and the sources of all dependencies against `deny.toml`.
pub(crate) fn deny() -> Result<Outcome> {
    if !succeeds(&["deny", "--version"])? {
        return Ok(missing("cargo-deny"));
    }
    run_command(cargo().args(["deny", "check", "licenses", "bans", "sources"]))?;
    Ok(Outcome::Passed)
}

/// Compares the public items of the libraries with those of their last release.
pub(crate) fn semver() -> Result<Outcome> {
    if !succeeds(&["info", "--quiet", "--registry", "crates-io", "gridsync"])? {
        let why = "crates.io has no release of gridsync to compare with, or cannot be reached";
        return Ok(Outcome::Skipped(why.into()));
    }
    if !succeeds(&["semver-checks", "--version"])? {
        return Ok(missing("cargo-semver-checks"));
    }
    run_command(cargo().args(["semver-checks", "--workspace"]))?;
    Ok(Outcome::Passed)
}

/// The result of a step whose tool is not installed.
pub(crate) fn missing(tool: &str) -> Outcome {
    Outcome::Skipped(format!("no {tool}: `cargo install --locked {tool}`"))
}

/// Whether a cargo command succeeds. Its output is hidden.
fn succeeds(args: &[&str]) -> Result<bool> {
    let mut command = cargo();
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status().context("cannot run cargo")?.success())
}

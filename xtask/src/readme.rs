//! `readme`: the table of the README, from the records in bench/runs.

use anyhow::Result;

use crate::outcome::Outcome;
use crate::workspace::{cargo, run as run_command};

/// Rewrites the table. Without `README=overwrite`, the same test fails if the README differs from
/// the records.
pub(crate) fn run() -> Result<Outcome> {
    let mut command = cargo();
    command.args(["test", "-p", "gridsync-tests", "--test", "program", "--", "readme::"]);
    run_command(command.env("README", "overwrite"))?;
    Ok(Outcome::Passed)
}

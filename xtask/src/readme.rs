//! `readme`: the table of the README, from the records in bench/runs.

use anyhow::Result;

use crate::outcome::Outcome;
use crate::workspace::{cargo, run as run_command};

/// Writes the table again. The test that it runs otherwise fails if the README differs from the
/// records.
pub(crate) fn run() -> Result<Outcome> {
    let mut command = cargo();
    command.args(["test", "-p", "gridsync-tests", "--test", "program", "--", "readme::"]);
    run_command(command.env("README", "overwrite"))?;
    Ok(Outcome::Passed)
}

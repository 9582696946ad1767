//! What a check says of the first run in which something went wrong.

use super::{Story, Wrong};
use crate::device::EmulatorConfig;
use simt::{Race, Schedule};
use std::fmt;

/// How to see a failure again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rerun {
    /// By [`Check::only`](super::Check::only) with this seed.
    Seed(u64),
    /// By [`Check::path`](super::Check::path) with this path.
    Path(String),
}

/// The first run in which something went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// How to see it again.
    pub rerun: Rerun,
    /// What was emulated.
    pub config: EmulatorConfig,
    /// What went wrong.
    pub what: Wrong,
    /// The data race behind it, if `what` is not one itself and a race was found.
    pub cause: Option<Cause>,
    /// What happened, in a run that failed in the same way with as few switches between warps and
    /// old values as were found. None if the failure did not come again.
    pub story: Option<Story>,
}

/// The data race behind a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The seed of the schedule that found it: the one of the failure, unless only another one did.
    pub seed: u64,
    /// The race.
    pub race: Box<Race>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rerun, config, what, cause, story } = self;
        let Schedule { policy, lanes, .. } = config.schedule;
        let memory = if config.weak_memory { "weak memory" } else { "sequential memory" };
        let races = if config.races { ", looking for races" } else { "" };
        match rerun {
            Rerun::Seed(seed) => {
                write!(f, "seed {seed} ({memory}{races}, {policy:?}, lanes {lanes:?}): ")?;
                match cause {
                    None => writeln!(f, "{what}")?,
                    Some(Cause { seed: found, race }) if found == seed => {
                        writeln!(f, "{race}\nso this run ends with: {what}")?;
                    }
                    Some(Cause { seed: found, race }) => {
                        writeln!(
                            f,
                            "{race}\nfound under seed {found}; this run ends with: {what}"
                        )?;
                    }
                }
            }
            Rerun::Path(_) => writeln!(f, "one of all executions ({memory}{races}): {what}")?,
        }
        if let Some(story) = story {
            writeln!(f, "{story}")?;
        }
        match rerun {
            Rerun::Seed(seed) => write!(f, "run it alone with `Check::only({seed})`"),
            Rerun::Path(path) => write!(f, "run it alone with `Check::path({path:?})`"),
        }
    }
}

impl std::error::Error for Failure {}

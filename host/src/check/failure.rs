//! A check's report of the first failing run.

use super::{Story, Wrong};
use crate::device::{DeviceError, EmulatorConfig};
use simt::{Fault, Race, Schedule};
use std::fmt;

/// How to reproduce a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rerun {
    /// With [`Check::only`](super::Check::only) and this seed.
    Seed(u64),
    /// With [`Check::path`](super::Check::path) and this path.
    Path(String),
}

/// The first failing run.
#[derive(Clone, Debug)]
pub struct Failure {
    /// How to reproduce it.
    pub rerun: Rerun,
    /// The emulated machine.
    pub config: EmulatorConfig,
    /// The failure.
    pub what: Wrong,
    /// The data race behind it, if `what` is not one itself and a race was found.
    pub cause: Option<Cause>,
    /// The steps of a run that failed in the same way, with as few warp switches and old values as
    /// were found. `None` if the failure could not be reproduced.
    pub story: Option<Story>,
}

/// The data race behind a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The seed of the schedule that found it: that of the failure, unless only another seed found
    /// it.
    pub seed: u64,
    /// The race.
    pub race: Box<Race>,
}

impl Failure {
    /// The data race that the run has found, or the one behind its failure.
    #[must_use]
    pub fn race(&self) -> Option<&Race> {
        let behind = self.cause.as_ref().map(|cause| &*cause.race);
        match &self.what {
            Wrong::Device(DeviceError::Fault(fault)) => match &**fault {
                Fault::Race(race) => Some(race),
                _ => behind,
            },
            _ => behind,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rerun, config, what, cause, story } = self;
        let Schedule { policy, lanes, .. } = config.schedule;
        let memory = if config.weak_memory { "weak memory" } else { "sequential memory" };
        let races = if config.races { ", checking for races" } else { "" };
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

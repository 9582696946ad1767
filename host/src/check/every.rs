//! Every execution of a tiny launch.

use super::{Check, Failure, Rerun, Wrong, finish};
use crate::device::{Device, Emulator, EmulatorConfig};
use simt::search::{BadPath, Path, search};
use std::fmt;
use std::ops::ControlFlow;

/// How many executions [`Check::every`] has explored without a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "if nothing failed, that means little unless all executions are explored"]
pub struct Every {
    /// Executions that differ in more than the order of independent steps.
    pub executions: u64,
    /// Executions that were abandoned halfway, because they would have repeated others.
    pub given_up: u64,
    /// Whether all executions were explored. Otherwise the limit was reached first.
    pub exhausted: bool,
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { executions, given_up, exhausted } = self;
        let all = if *exhausted { "exhausted" } else { "not exhausted" };
        write!(f, "{all} after {executions} executions, and {given_up} given up halfway")
    }
}

impl Check {
    /// Passes `run` a new emulator for each execution of its launches, until all are explored or
    /// `limit` have started: each order of dependent steps, and each value that a read may return.
    /// Checks for races in all of them. This is for two or three blocks of one thread or one warp;
    /// lanes move in lockstep.
    ///
    /// `run` must do the same each time, and launch on its own thread. See [`simt::search`] for the
    /// executions that are explored. With [`sequential`](Self::sequential) memory there are far
    /// fewer of them.
    ///
    /// # Errors
    /// The first failure, with a path for [`Check::path`].
    ///
    /// # Panics
    /// If `run` panics, or does not do the same each time.
    pub fn every(
        &self,
        limit: u64,
        run: impl Fn(&Device) -> Result<(), Wrong>,
    ) -> Result<Every, Box<Failure>> {
        let config = EmulatorConfig { races: true, ..self.config };
        let explored = search(limit, || match finish(&Device::new(Emulator::new(config)), &run) {
            Ok(()) => ControlFlow::Continue(()),
            Err(what) => ControlFlow::Break(what),
        });
        match explored.found {
            None => Ok(Every {
                executions: explored.executions,
                given_up: explored.given_up,
                exhausted: explored.exhausted,
            }),
            Some((what, path)) => {
                let rerun = Rerun::Path(written(&path, &config));
                Err(Box::new(Failure::of(rerun, config, what)).retold(&run))
            }
        }
    }
}

/// The first letter of a path on memory that is not weak, and on weak memory.
const SEQUENTIAL: char = 's';
const WEAK: char = 'w';

/// Formats a path with the kind of memory.
pub(super) fn written(path: &Path, config: &EmulatorConfig) -> String {
    let memory = if config.weak_memory { WEAK } else { SEQUENTIAL };
    format!("{memory}{path}")
}

/// Parses whether memory is weak, and the path.
pub(super) fn read(text: &str) -> Result<(bool, Path), BadPath> {
    let bad = || BadPath { text: text.to_owned() };
    let is_weak = match text.chars().next() {
        Some(SEQUENTIAL) => false,
        Some(WEAK) => true,
        _ => return Err(bad()),
    };
    Ok((is_weak, text[1..].parse().map_err(|_| bad())?))
}

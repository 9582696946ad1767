//! Exhaustive search: runs every execution of a tiny launch.
//!
//! A launch makes decisions: which warp steps next, which block starts next, which older value a
//! read returns and where a write is placed if memory is weak. A [`Schedule`](crate::Schedule)
//! draws them at random. [`search`] enumerates them instead, by running the launch repeatedly
//! (Godefroid, "Model Checking for Programming Languages using VeriSoft", POPL 1997). It skips
//! anything that only repeats another execution: the order of independent steps, and iterations of
//! loops whose poll fails.
//!
//! Lanes of a warp step together, lowest first. Grids launched by kernels run in the order in which
//! they may begin. A timeout expires only when no thread can do anything else.

mod awaits;
mod footprint;
mod guide;
mod path;
mod tree;

pub(crate) use footprint::Object;
pub(crate) use guide::{Guide, Touched, current};
pub use path::{BadPath, Path};
pub(crate) use tree::MOST_WARPS;

use core::ops::ControlFlow;
use guide::{Next, Redundant};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Maximum steps of a launch in a search. A tiny launch that exceeds it does not terminate.
pub(crate) const MOST_STEPS: u64 = 1 << 20;

/// Result of a [`search`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<T> {
    /// Executions that ran to completion.
    pub executions: u64,
    /// Executions that were abandoned halfway, because they would have repeated others.
    pub given_up: u64,
    /// Whether nothing is left to explore.
    pub exhausted: bool,
    /// Result that ended the search early, and the path of that execution.
    pub found: Option<(T, Path)>,
}

/// Calls `run` once for each execution of the launches in it, until it breaks, nothing is left, or
/// `limit` executions have begun.
///
/// `run` must do the same each time: create new memory, launch on this OS thread, and depend on
/// nothing else. The seed and the policy of its schedules are ignored. An execution that only
/// repeats others is abandoned inside a launch, which then unwinds through `run`, without a
/// message.
///
/// The partial-order reduction is that of Abdulla et al. ("Optimal Dynamic Partial Order
/// Reduction", POPL 2014) with source sets and sleep sets.
///
/// # Panics
/// If `run` panics, if it does not do the same each time, and inside another search.
pub fn search<T>(limit: u64, mut run: impl FnMut() -> ControlFlow<T>) -> Explored<T> {
    assert!(current().is_none(), "a search inside a search");
    let guide = Rc::new(Guide::searching());
    let _installed = guide.install();
    let mut explored = Explored { executions: 0, given_up: 0, exhausted: false, found: None };
    while explored.executions + explored.given_up < limit {
        guide.restart();
        match catch_unwind(AssertUnwindSafe(&mut run)) {
            Ok(ended) => {
                explored.executions += 1;
                if let ControlFlow::Break(what) = ended {
                    explored.found = Some((what, guide.path()));
                    return explored;
                }
            }
            Err(payload) if payload.is::<Redundant>() => explored.given_up += 1,
            Err(payload) => resume_unwind(payload),
        }
        match guide.advance() {
            Next::Execution => {}
            Next::Anew => (explored.executions, explored.given_up) = (0, 0),
            Next::None => {
                explored.exhausted = true;
                break;
            }
        }
    }
    explored
}

/// Calls `run` once, with the decisions of `path` in its launches.
///
/// # Panics
/// If `run` panics, and inside a search.
pub fn follow<T>(path: &Path, run: impl FnOnce() -> T) -> T {
    assert!(current().is_none(), "a path inside a search");
    let guide = Rc::new(Guide::along(path.clone()));
    let _installed = guide.install();
    guide.restart();
    run()
}

/// Abandons an execution that need not be explored further.
pub(crate) fn give_up() -> ! {
    resume_unwind(Box::new(Redundant))
}

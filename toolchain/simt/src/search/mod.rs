//! Exhaustive search: every execution of a tiny launch, one after the other.
//!
//! A launch takes decisions: which warp steps next, which block starts next, which older value a
//! read returns and which place a write takes where memory is weak. A [`Schedule`](crate::Schedule)
//! draws them. [`search`] enumerates them instead, by running the launch again and again (Godefroid,
//! "Model Checking for Programming Languages using VeriSoft", POPL 1997), and leaves out what only
//! repeats another execution: the order of independent steps, and turns of loops that poll in vain.
//!
//! Lanes of a warp step together, lowest first. Grids that kernels launch run in the order in which
//! they may begin. A timeout passes only when no thread can do anything else.

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

/// Most steps of a launch in a search. A tiny launch that takes more does not end.
pub(crate) const MOST_STEPS: u64 = 1 << 20;

/// What a [`search`] has explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<T> {
    /// Executions that ran to their end.
    pub executions: u64,
    /// Executions that were given up halfway, because they would have repeated others.
    pub given_up: u64,
    /// Whether nothing is left to explore.
    pub exhausted: bool,
    /// Why the search ended early, and the path of that execution.
    pub found: Option<(T, Path)>,
}

/// Calls `run` once for each execution of the launches in it, until it breaks, nothing is left, or
/// `limit` executions have begun.
///
/// `run` must do the same each time: make its memory anew, launch on this OS thread, and depend on
/// nothing else. The seed and the policy of its schedules do not count. An execution that only
/// repeats others is given up inside a launch, which then unwinds through `run`, without a message.
///
/// Partial-order reduction is that of Abdulla et al. ("Optimal Dynamic Partial Order Reduction", POPL
/// 2014) by source sets and sleep sets.
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

/// Calls `run` once, and takes the decisions of `path` in its launches.
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

/// Leaves an execution that need not be explored further.
pub(crate) fn give_up() -> ! {
    resume_unwind(Box::new(Redundant))
}

//! Replay: records a run's decisions and actions, repeats the decisions, and shrinks and describes
//! a run that fails.
//!
//! [`record`] records the turns of warps and the values that reads of weak memory return. The
//! resulting [`Script`] may be changed and run again. [`shrink`] searches for a script with fewer
//! switches between warps and fewer old values that still fails (Zeller and Hildebrandt,
//! "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002). A [`Story`] shows the part
//! of a run that is relevant to its failure.

mod deed;
mod line;
mod matters;
mod recorder;
mod script;
mod story;

pub(crate) use deed::{Deed, Done, Touch};
pub(crate) use recorder::{Recorder, current};
pub use script::{Script, shrink};
pub use story::{Story, StoryStep};

use crate::fault::Fault;
use crate::race::Race;
use std::rc::Rc;

/// The decisions and actions of a run.
#[derive(Debug)]
pub struct Recording {
    /// The decisions, which [`record`] can repeat.
    pub script: Script,
    deeds: Vec<Deed>,
}

impl Recording {
    /// The part of the run that is relevant to `fault`. Without a fault: the old values that were
    /// read, and where they came from. Without such values: the accesses to the words of the race
    /// behind the failure, if known, or else to all memory that threads share.
    #[must_use]
    pub fn story(&self, fault: Option<&Fault>, cause: Option<&Race>) -> Story {
        Story::of(&self.deeds, fault, cause)
    }
}

/// Calls `run`, and records the launches that it makes on this OS thread. With a `script` they
/// follow its decisions as far as possible, and then the first warp keeps running until it spins or
/// waits; without one they follow their schedule. `tells`: the actions of threads are recorded too,
/// for a [`Story`].
///
/// # Panics
/// If `run` panics, and inside another recording.
pub fn record<T>(script: Option<&Script>, tells: bool, run: impl FnOnce() -> T) -> (T, Recording) {
    assert!(current().is_none(), "a recording inside a recording");
    let recorder = Rc::new(Recorder::new(script.cloned(), tells));
    let installed = recorder.install();
    let result = run();
    drop(installed);
    (result, recorder.take())
}

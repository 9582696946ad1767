//! Runs again: records what a run decides and does, takes the same decisions again, and shrinks and
//! tells a run that fails.
//!
//! [`record`] notes the turns of warps and the values that reads of weak memory return. The
//! [`Script`] of that may be changed and run again. [`shrink`] looks for a script with fewer switches
//! between warps and fewer old values that fails all the same (Zeller and Hildebrandt, "Simplifying
//! and Isolating Failure-Inducing Input", IEEE TSE 2002). A [`Story`] is what happened in a run, as
//! far as it has to do with its failure.

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

/// What a run has decided and done.
#[derive(Debug)]
pub struct Recording {
    /// The decisions, to be taken again by [`record`].
    pub script: Script,
    deeds: Vec<Deed>,
}

impl Recording {
    /// What happened, as far as it has to do with `fault`. Without a fault: the old values that were read, and
    /// where they came from. Without such values: what happened to the words of the race behind the failure, if it
    /// is known, or else to all memory that threads share.
    #[must_use]
    pub fn story(&self, fault: Option<&Fault>, cause: Option<&Race>) -> Story {
        Story::of(&self.deeds, fault, cause)
    }
}

/// Calls `run`, and records the launches that it makes on this OS thread. With a `script` they take
/// its decisions as far as they can, and then the first warp goes on until it spins or waits; without
/// one they take those of their schedule. `tells`: what threads do is recorded too, for a
/// [`Story`].
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

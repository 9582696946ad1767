//! The value that a strong write leaves in a location, with what happened before the write.

use super::cell::Event;
use super::clock::{Clock, Stamp};
use super::reach::Level;
use super::report::Flaw;
use crate::access::Scope;
use crate::place::Place;
use std::rc::Rc;

/// What a write passes on: a release pattern (PTX ISA, "Release and Acquire Patterns"), or a plain
/// write. A plain write is kept to report what is missing.
#[derive(Debug)]
pub(super) struct Head {
    /// The thread before the pattern.
    pub(super) stamp: Stamp,
    /// How far the pattern's first operation reaches; `None` if nothing is released.
    pub(super) reach: Option<Level>,
    /// Scope and location of the fence that is the first operation, if it is a fence.
    pub(super) fence: Option<(Scope, Place)>,
    pub(super) write: Event,
}

/// The value of a location.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// The last write.
    pub(super) write: Event,
    /// How many writes a read of this value observes: an unbroken run of atomics, and the write
    /// before them.
    pub(super) run: u32,
    /// The release patterns whose write is observed by a read of this value.
    pub(super) heads: Vec<Rc<Head>>,
    /// The join of everything passed on by heads that reach every thread. Acquiring it at once is
    /// far faster than head by head when all blocks arrive at one counter.
    pub(super) everywhere: Clock,
    /// For each thread its last release of this very location. A later strong write by the thread
    /// passes it on too.
    pub(super) released: Vec<Rc<Head>>,
}

impl Value {
    /// The value after the first strong write to a location.
    pub(super) fn of(write: Event) -> Self {
        Self {
            write,
            run: 0,
            heads: Vec::new(),
            everywhere: Clock::default(),
            released: Vec::new(),
        }
    }
}

impl Value {
    /// Adds a release pattern that a read of the value may also observe. `widest` is the level that
    /// includes all threads.
    pub(super) fn pass_on(&mut self, head: Rc<Head>, widest: Level) {
        if head.reach >= Some(widest) {
            self.everywhere.absorb(&head.stamp);
        }
        add_head(&mut self.heads, head);
    }

    /// Drops all release patterns: another write has broken the run.
    pub(super) fn restart(&mut self) {
        self.run = 0;
        self.heads.clear();
        self.everywhere = Clock::default();
    }
}

impl Head {
    /// The flaw for a reader that is `apart` from the writer.
    pub(super) fn flaw(&self, apart: Level) -> Option<Flaw> {
        match self.reach {
            None => Some(Flaw::Absent),
            Some(reach) if apart <= reach => None,
            Some(_) => Some(match self.fence {
                Some((scope, place)) => Flaw::Scope { scope, fence: Some(place) },
                None => Flaw::Scope { scope: self.write.access.scope, fence: None },
            }),
        }
    }

    /// Whether it passes on everything that `other` does, at least as far.
    fn covers(&self, other: &Self) -> bool {
        self.stamp.thread == other.stamp.thread
            && self.stamp.epoch >= other.stamp.epoch
            && self.reach >= other.reach
    }
}

/// Adds a head unless another covers it, and removes those that it covers. A thread may have
/// several: an older one that reaches further, and newer ones that reach less far.
pub(super) fn add_head(heads: &mut Vec<Rc<Head>>, new: Rc<Head>) {
    if heads.iter().any(|old| old.covers(&new)) {
        return;
    }
    heads.retain(|old| !new.covers(old));
    heads.push(new);
}

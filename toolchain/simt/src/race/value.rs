//! What a strong write leaves in a location: how readers come to know what happened before it.

use super::cell::Event;
use super::clock::{Clock, Stamp};
use super::reach::Level;
use super::report::Flaw;
use crate::access::Scope;
use crate::dim::Place;

/// What a write passes on: a release pattern (PTX ISA, "Release and Acquire Patterns"), or a write
/// that is none, which is kept to say what is missing.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The thread before the pattern.
    pub(super) stamp: Stamp,
    /// How far the first operation of the pattern reaches; none: nothing is released.
    pub(super) reach: Option<Level>,
    /// The fence that is the first operation, if it is one: its scope and its place.
    pub(super) fence: Option<(Scope, Place)>,
    pub(super) write: Event,
}

/// What is in a location.
#[derive(Debug)]
pub(super) struct Value {
    /// The last write.
    pub(super) write: Event,
    /// How many writes a read of this value observes: an unbroken run of atomics, and the one
    /// before them.
    pub(super) run: u32,
    /// The release patterns whose write a read of this value observes.
    pub(super) heads: Vec<Head>,
    /// What the heads that reach the whole device pass on between them: to take it at once is far
    /// quicker than head by head where all blocks arrive at one counter.
    pub(super) everywhere: Clock,
    /// Of each thread its last release of this very location: a later strong write of the thread
    /// passes it on too.
    pub(super) released: Vec<Head>,
}

impl Value {
    /// What the first strong write to a location leaves.
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
    /// A read of the value may observe this release pattern too.
    pub(super) fn pass_on(&mut self, head: Head) {
        if head.reach == Some(Level::Device) {
            self.everywhere.absorb(&head.stamp);
        }
        add_head(&mut self.heads, head);
    }

    /// No release pattern is left: another write has broken the run.
    pub(super) fn restart(&mut self) {
        self.run = 0;
        self.heads.clear();
        self.everywhere = Clock::default();
    }
}

impl Head {
    /// What is missing for a reader that is so far `apart`.
    pub(super) fn flaw(&self, apart: Level) -> Option<Flaw> {
        match self.reach {
            None => Some(Flaw::Absent),
            Some(reach) if apart <= reach => None,
            Some(_) => Some(match self.fence {
                Some((scope, place)) => Flaw::Scope {
                    scope,
                    fence: Some(place),
                },
                None => Flaw::Scope {
                    scope: self.write.access.scope,
                    fence: None,
                },
            }),
        }
    }

    /// Whether it passes on, as far as the other one or further, all that the other one does.
    fn covers(&self, other: &Self) -> bool {
        self.stamp.thread == other.stamp.thread
            && self.stamp.epoch >= other.stamp.epoch
            && self.reach >= other.reach
    }
}

/// Adds a head, unless another one stands for it; it stands for those that it covers. A thread may
/// have several: an older one that reaches further, and newer ones that reach less far.
pub(super) fn add_head(heads: &mut Vec<Head>, new: Head) {
    if heads.iter().any(|old| old.covers(&new)) {
        return;
    }
    heads.retain(|old| !new.covers(old));
    heads.push(new);
}

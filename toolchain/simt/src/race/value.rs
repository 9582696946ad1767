//! What a strong write leaves in a location: how readers come to know what happened before it.

use super::cell::Event;
use super::clock::{Clock, Stamp};
use super::reach::Level;

/// What a write passes on: a release pattern (PTX ISA, "Release and Acquire Patterns"), or a write
/// that is none, which is kept to say what is missing.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The thread before the pattern.
    pub(super) stamp: Stamp,
    /// How far the first operation of the pattern reaches; none: nothing is released.
    pub(super) reach: Option<Level>,
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

/// Adds a head; it stands for older ones of the same thread that reach no further.
pub(super) fn add_head(heads: &mut Vec<Head>, new: Head) {
    heads.retain(|old| old.stamp.thread != new.stamp.thread || old.reach > new.reach);
    heads.push(new);
}

//! What the detector knows of a thread.

use super::clock::{Clock, Stamp};
use super::reach::Level;
use std::collections::HashMap;

/// A location: where its first cell is.
pub(super) type Location = (u64, usize);

/// A thread of the launch.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) now: Stamp,
    /// The last fence that releases as far as each level, unless a later one reaches further.
    pub(super) fences: [Option<Stamp>; 3],
    /// What it has read without acquiring it: of each location, by how far an acquire has to reach
    /// (PTX ISA, "Release and Acquire Patterns": a strong read, then an acquire or a fence).
    pending: HashMap<Location, [Clock; 3]>,
}

impl Thread {
    /// A thread that has not done anything yet.
    pub(super) fn new(number: u32) -> Self {
        Self {
            now: Stamp::first(number),
            fences: [None, None, None],
            pending: HashMap::new(),
        }
    }

    /// It has read what `stamp` released, and would have to acquire it as far as `level`.
    pub(super) fn saw(&mut self, location: Location, level: Level, stamp: &Stamp) {
        self.pending.entry(location).or_default()[level as usize].absorb(stamp);
    }

    /// It acquires, as far as `reach`, what it has read from a location.
    pub(super) fn acquire_from(&mut self, location: Location, reach: Level) {
        if let Some(seen) = self.pending.get_mut(&location) {
            for seen in &mut seen[..=reach as usize] {
                self.now.clock.join(&core::mem::take(seen));
            }
        }
    }

    /// A fence acquires all that it has read, as far as `reach`.
    pub(super) fn acquire(&mut self, reach: Level) {
        for seen in self.pending.values_mut() {
            for seen in &mut seen[..=reach as usize] {
                self.now.clock.join(&core::mem::take(seen));
            }
        }
        if reach == Level::Device {
            self.pending.clear();
        }
    }

    /// A fence releases, as far as `reach`, all that came before it.
    pub(super) fn release(&mut self, reach: Level) {
        let stamp = self.now.pass_on();
        self.fences[..reach as usize].fill(None);
        self.fences[reach as usize] = Some(stamp);
    }
}

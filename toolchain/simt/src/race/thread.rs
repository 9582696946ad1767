//! The race detector's state of a thread.

use super::clock::{Clock, Stamp};
use super::links::Links;
use super::reach::{LEVELS, Level};
use crate::access::Scope;
use crate::place::Place;
use std::collections::HashMap;

/// A location: its region, and its offset there.
pub(super) type Location = (u64, usize);

/// A thread of the launch.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) now: Stamp,
    /// For each level, the last fence that releases that far, unless a later one reaches further.
    pub(super) fences: [Option<Fence>; LEVELS],
    /// What it has read without acquiring it: for each location, by how far an acquire must reach
    /// (PTX ISA, "Release and Acquire Patterns": a strong read, then an acquire or a fence).
    pending: HashMap<Location, [Clock; LEVELS]>,
    /// Whether it is a bulk copy that has not ended.
    pub(super) is_copying: bool,
    /// Whether it passes on only what it did itself, and not what it learned, as bulk copies do.
    is_copy: bool,
    /// The writes that it saw without learning what came before them.
    pub(super) links: Links,
}

/// A fence that releases: the thread's stamp at the fence, and the fence itself.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    pub(super) stamp: Stamp,
    pub(super) scope: Scope,
    pub(super) place: Place,
}

impl Thread {
    /// A thread that has done nothing yet.
    pub(super) fn new(number: u32) -> Self {
        Self {
            now: Stamp::first(number),
            fences: [const { None }; LEVELS],
            pending: HashMap::new(),
            is_copying: false,
            is_copy: false,
            links: Links::default(),
        }
    }

    /// A bulk copy.
    pub(super) fn of_copy(number: u32) -> Self {
        Self { is_copy: true, ..Self::new(number) }
    }

    /// Passes on its stamp. It then enters its next epoch.
    pub(super) fn pass_on(&mut self) -> Stamp {
        let stamp = self.now.pass_on();
        if self.is_copy { Stamp { clock: Clock::default(), ..stamp } } else { stamp }
    }

    /// It has read what `stamp` released, and must acquire it as far as `level`.
    pub(super) fn saw(&mut self, location: Location, level: Level, stamp: &Stamp) {
        self.pending.entry(location).or_default()[level as usize].absorb(stamp);
    }

    /// Acquires, as far as `reach`, what it has read from a location.
    pub(super) fn acquire_from(&mut self, location: Location, reach: Level) {
        if let Some(seen) = self.pending.get_mut(&location) {
            for seen in &mut seen[..=reach as usize] {
                self.now.clock.join(&core::mem::take(seen));
            }
        }
    }

    /// A fence acquires everything read so far, as far as its scope reaches.
    pub(super) fn acquire(&mut self, scope: Scope, place: Place) {
        let reach = Level::of(scope);
        self.links.fence(reach, scope, place);
        for seen in self.pending.values_mut() {
            for seen in &mut seen[..=reach as usize] {
                self.now.clock.join(&core::mem::take(seen));
            }
        }
        if reach == Level::System {
            self.pending.clear();
        }
    }

    /// A fence releases everything before it, as far as its scope reaches.
    pub(super) fn release(&mut self, scope: Scope, place: Place) {
        let reach = Level::of(scope) as usize;
        let stamp = self.now.pass_on();
        self.fences[..reach].fill(None);
        self.fences[reach] = Some(Fence { stamp, scope, place });
    }
}

//! Vector clocks: the events that a thread knows to have happened before.

use super::sequential::ByGroup;
use crate::access::Space;
use std::rc::Rc;

/// For each thread, its last known epoch, and the last epochs that come before a proxy fence of
/// shared and of device memory that is also known. Clones share their storage until one of them
/// changes, so a whole block has one set of numbers after a barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    pub(super) known: Epochs,
    fenced: [Epochs; 2],
    /// The epochs that come before a `fence.sc` that is also known.
    pub(super) fences: ByGroup,
    /// The epochs that come before a `fence.sc` which the next `fence.sc` comes after.
    pub(super) reached: ByGroup,
}

/// An epoch for each thread; 0 for none.
#[derive(Clone, Debug, Default)]
pub(super) struct Epochs(Option<Rc<Vec<u32>>>);

impl Epochs {
    pub(super) fn get(&self, thread: u32) -> u32 {
        let epochs = self.0.as_ref();
        epochs.and_then(|epochs| epochs.get(thread as usize)).copied().unwrap_or(0)
    }

    pub(super) fn raise(&mut self, thread: u32, epoch: u32) {
        if self.get(thread) >= epoch {
            return;
        }
        let epochs = Rc::make_mut(self.0.get_or_insert_default());
        let at = thread as usize;
        epochs.resize(epochs.len().max(at + 1), 0);
        epochs[at] = epoch;
    }

    pub(super) fn join(&mut self, other: &Self) {
        let Some(theirs) = &other.0 else { return };
        if self.is(other) {
            return;
        }
        let Some(mine) = &mut self.0 else {
            *self = other.clone();
            return;
        };
        let mine = Rc::make_mut(mine);
        mine.resize(mine.len().max(theirs.len()), 0);
        for (mine, theirs) in mine.iter_mut().zip(&**theirs) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether they include all of `other`.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let Some(theirs) = &other.0 else { return true };
        let Some(mine) = &self.0 else { return theirs.iter().all(|&epoch| epoch == 0) };
        let beyond = theirs.get(mine.len()..).unwrap_or_default();
        Rc::ptr_eq(mine, theirs)
            || mine.iter().zip(&**theirs).all(|(mine, theirs)| mine >= theirs)
                && beyond.iter().all(|&epoch| epoch == 0)
    }

    fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(mine), Some(theirs)) => Rc::ptr_eq(mine, theirs),
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        }
    }
}

impl Clock {
    pub(super) fn get(&self, thread: u32) -> u32 {
        self.known.get(thread)
    }

    /// The last epoch of a thread that is ordered before a proxy fence of this memory.
    pub(super) fn fenced(&self, space: Space, thread: u32) -> u32 {
        self.fenced[memory(space)].get(thread)
    }

    /// Learns `epoch` of `thread`.
    pub(super) fn raise(&mut self, thread: u32, epoch: u32) {
        self.known.raise(thread, epoch);
    }

    /// Learns everything that `other` knows, across proxies.
    pub(super) fn join_fenced(&mut self, other: &Self) {
        self.join(other);
        self.fenced.iter_mut().for_each(|fenced| fenced.join(&other.known));
    }

    /// Learns everything that `other` knows.
    pub(super) fn join(&mut self, other: &Self) {
        self.known.join(&other.known);
        for (mine, theirs) in self.fenced.iter_mut().zip(&other.fenced) {
            mine.join(theirs);
        }
        self.fences.join(&other.fences);
        self.reached.join(&other.reached);
    }

    /// Whether the two share their storage.
    pub(super) fn is(&self, other: &Self) -> bool {
        let mut fenced = self.fenced.iter().zip(&other.fenced);
        self.known.is(&other.known)
            && fenced.all(|(mine, theirs)| mine.is(theirs))
            && self.fences.is(&other.fences)
            && self.reached.is(&other.reached)
    }
}

/// Which of the two memories that proxy fences are for.
fn memory(space: Space) -> usize {
    usize::from(space == Space::Global)
}

/// A thread at one moment: its epoch, and its clock for the other threads.
///
/// A thread enters its next epoch whenever its stamp is passed on. So a thread that knows an epoch
/// also knows everything that the epoch's thread knew when that epoch ended.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    pub(super) thread: u32,
    pub(super) epoch: u32,
    pub(super) clock: Clock,
}

impl Stamp {
    /// The first epoch of a thread, with an empty clock.
    pub(super) fn first(thread: u32) -> Self {
        Self { thread, epoch: 1, clock: Clock::default() }
    }

    /// Whether what `thread`, another thread, did in `epoch` happened before.
    pub(super) fn knows(&self, thread: u32, epoch: u32) -> bool {
        self.thread == thread || self.clock.get(thread) >= epoch
    }

    /// Whether what `thread`, perhaps the same thread, did in `epoch` happened before.
    pub(super) fn follows(&self, thread: u32, epoch: u32) -> bool {
        let known = if self.thread == thread { self.epoch } else { self.clock.get(thread) };
        known >= epoch
    }

    /// Whether all of these epochs happened before.
    pub(super) fn covers(&self, epochs: &Epochs) -> bool {
        let mut numbered = epochs.0.iter().flat_map(|epochs| epochs.iter()).zip(0..);
        numbered.all(|(&epoch, thread)| self.follows(thread, epoch))
    }

    /// Passes the stamp on. The thread then enters its next epoch.
    pub(super) fn pass_on(&mut self) -> Self {
        let passed = self.clone();
        self.epoch += 1;
        passed
    }

    /// A proxy fence of this memory, ordered after everything known. The thread then enters its next
    /// epoch.
    pub(super) fn fence_proxies(&mut self, space: Space) {
        let fenced = &mut self.clock.fenced[memory(space)];
        *fenced = self.clock.known.clone();
        fenced.raise(self.thread, self.epoch);
        self.epoch += 1;
    }
}

impl Clock {
    /// Learns what a thread did up to `stamp`, and what it knew.
    pub(super) fn absorb(&mut self, stamp: &Stamp) {
        // Whoever knows the epoch has learned what its thread knew at its end.
        if self.get(stamp.thread) >= stamp.epoch {
            return;
        }
        self.join(&stamp.clock);
        self.raise(stamp.thread, stamp.epoch);
    }
}

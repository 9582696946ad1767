//! Vector clocks: what a thread knows to have happened before it.

use std::rc::Rc;

/// For each thread, its last epoch that is known; 0 for none. Clones share their numbers until one
/// of them grows, so a whole block has one set after a barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Rc<Vec<u32>>);

impl Clock {
    pub(super) fn get(&self, thread: u32) -> u32 {
        self.0.get(thread as usize).copied().unwrap_or(0)
    }

    /// Learns `epoch` of `thread`.
    pub(super) fn raise(&mut self, thread: u32, epoch: u32) {
        if self.get(thread) >= epoch {
            return;
        }
        let known = Rc::make_mut(&mut self.0);
        let at = thread as usize;
        known.resize(known.len().max(at + 1), 0);
        known[at] = epoch;
    }

    /// Learns all that `other` knows.
    pub(super) fn join(&mut self, other: &Self) {
        if self.is(other) || other.0.is_empty() {
            return;
        }
        if self.0.is_empty() {
            *self = other.clone();
            return;
        }
        let known = Rc::make_mut(&mut self.0);
        known.resize(known.len().max(other.0.len()), 0);
        for (mine, theirs) in known.iter_mut().zip(&*other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether the two share their numbers.
    pub(super) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// A thread at one moment: its epoch, and what it knows of the others.
///
/// A thread enters its next epoch whenever its stamp is passed on. So a thread that knows an epoch
/// knows all that the first one knew when that epoch ended.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    pub(super) thread: u32,
    pub(super) epoch: u32,
    pub(super) clock: Clock,
}

impl Stamp {
    /// The first epoch of a thread, which knows of no other.
    pub(super) fn first(thread: u32) -> Self {
        Self { thread, epoch: 1, clock: Clock::default() }
    }

    /// Whether what `thread`, another thread, did in `epoch` happened before.
    pub(super) fn knows(&self, thread: u32, epoch: u32) -> bool {
        self.thread == thread || self.clock.get(thread) >= epoch
    }

    /// Whether what `thread`, perhaps the same thread, did in `epoch` happened before.
    pub(super) fn follows(&self, thread: u32, epoch: u32) -> bool {
        let known = match self.thread == thread {
            true => self.epoch,
            false => self.clock.get(thread),
        };
        known >= epoch
    }

    /// Passes the stamp on. The thread is then in its next epoch.
    pub(super) fn pass_on(&mut self) -> Self {
        let passed = self.clone();
        self.epoch += 1;
        passed
    }
}

impl Clock {
    /// Learns what a thread did up to `stamp`, and what it knew.
    pub(super) fn absorb(&mut self, stamp: &Stamp) {
        self.join(&stamp.clock);
        self.raise(stamp.thread, stamp.epoch);
    }
}

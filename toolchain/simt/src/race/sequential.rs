//! The order of `fence.sc` (PTX ISA, "Fence-SC Order").
//!
//! Each of two morally strong `fence.sc` could come first, as long as no axiom forbids it. F1 must
//! come before F2 if an access after F1, in base causality order, comes before an access before F2
//! in the communication of one location: the second reads the first, overwrites it, or overwrites
//! what it read. In the opposite order, the axioms of coherence and causality would forbid that. A
//! strong read also stands for the write that it observes. Fences that are not ordered that way
//! order nothing.
//!
//! So a [`Clock`](super::clock::Clock) also has what came before the `fence.sc` that it knows. An
//! access leaves this at its location, for accesses that come later in the order of the location.
//! These accumulate it, and the next `fence.sc` acquires it.
//!
//! With weak memory, an access may precede accesses that ran earlier: a read of an old value, or a
//! write that is placed before others. Such a [`Late`] access is remembered, and everything after a
//! `fence.sc` after one of the others learns what it passes on.

use super::State;
use super::cell::Event;
use super::clock::{Clock, Epochs, Stamp};
use super::reach::{Group, Level};
use super::shadow::Span;
use super::thread::Location;
use std::collections::HashMap;
use std::rc::Rc;

/// Up to this number of late accesses, none is dropped.
const FEW_LATE: usize = 64;

/// Epochs that come before `fence.sc`, for each group of threads that the fences' scopes include.
/// Two such fences are morally strong if they have a group in common.
#[derive(Clone, Debug, Default)]
pub(super) struct ByGroup {
    all: Option<Rc<Vec<(Group, Epochs)>>>,
    /// It has what all late accesses up to this [change](FenceOrder::changes) pass on to it.
    settled: u64,
}

impl ByGroup {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_none()
    }

    /// Whether the two share their storage.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.all, &other.all) {
            (Some(mine), Some(theirs)) => Rc::ptr_eq(mine, theirs),
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &(Group, Epochs)> {
        self.all.iter().flat_map(|all| all.iter())
    }

    fn get(&self, group: Group) -> Option<&Epochs> {
        self.iter().find(|(its, _)| *its == group).map(|(_, epochs)| epochs)
    }

    /// Adds epochs of a group, and returns whether any of them is new.
    fn add(&mut self, group: Group, new: &Epochs) -> bool {
        if self.get(group).is_some_and(|epochs| epochs.covers(new)) {
            return false;
        }
        let all = Rc::make_mut(self.all.get_or_insert_default());
        match all.iter_mut().find(|(its, _)| *its == group) {
            Some((_, epochs)) => epochs.join(new),
            None => all.push((group, new.clone())),
        }
        true
    }

    /// Adds epochs of a group that late accesses may precede.
    fn learn(&mut self, group: Group, new: &Epochs) {
        if self.add(group, new) {
            self.settled = 0;
        }
    }

    /// Adds everything in `other`.
    pub(super) fn join(&mut self, other: &Self) {
        if other.is_empty() || self.is(other) {
            return;
        }
        if self.is_empty() {
            *self = other.clone();
            return;
        }
        let add = |changed, (group, epochs): &(Group, Epochs)| self.add(*group, epochs) | changed;
        if other.iter().fold(false, add) {
            // What precedes the union precedes one of the two, which has what it passes on.
            self.settled = self.settled.min(other.settled);
        }
    }

    /// Removes a group.
    fn take(&mut self, group: Group) -> Option<Epochs> {
        let at = self.iter().position(|(its, _)| *its == group)?;
        let all = Rc::make_mut(self.all.as_mut()?);
        let (_, epochs) = all.swap_remove(at);
        if all.is_empty() {
            self.all = None;
        }
        Some(epochs)
    }

    /// Adds what a late access passes on, where an access that it precedes comes before a fence.
    /// Returns what was added.
    fn settle(&mut self, late: &Late) -> Vec<Epochs> {
        let is_missing = |(group, passed): &&(Group, Epochs)| {
            self.get(*group).is_some_and(|epochs| late.precedes(epochs) && !epochs.covers(passed))
        };
        let missing: Vec<_> = late.passes.iter().filter(is_missing).cloned().collect();
        let is_behind = |(_, epochs): &&(Group, Epochs)| late.precedes(epochs);
        let behind: Vec<Group> = self.iter().filter(is_behind).map(|(group, _)| *group).collect();
        for (_, passed) in &missing {
            behind.iter().for_each(|group| self.learn(*group, passed));
        }
        missing.into_iter().map(|(_, passed)| passed).collect()
    }
}

/// What accesses to a location pass on to `fence.sc` behind later accesses: for one value, the
/// write of it, everything before that write, and reads of the value.
#[derive(Clone, Debug, Default)]
pub(super) struct Passed {
    before: ByGroup,
    write: ByGroup,
    reads: ByGroup,
}

impl Passed {
    /// What the next write to the location comes after.
    fn all(&self) -> ByGroup {
        let mut all = self.before.clone();
        all.join(&self.write);
        all.join(&self.reads);
        all
    }
}

/// An access that precedes accesses which ran earlier.
#[derive(Debug)]
pub(super) struct Late {
    passes: ByGroup,
    /// The threads and epochs of those that it precedes.
    followers: Vec<(u32, u32)>,
    /// Number of the last change of the followers.
    changed: u64,
}

impl Late {
    /// Whether one of the accesses that it precedes is in these epochs.
    fn precedes(&self, epochs: &Epochs) -> bool {
        self.followers.iter().any(|&(thread, epoch)| epochs.get(thread) >= epoch)
    }

    /// Adds an access that it precedes. Returns whether it is new.
    fn add(&mut self, (thread, epoch): (u32, u32)) -> bool {
        match self.followers.iter_mut().find(|(its, _)| *its == thread) {
            Some((_, first)) if *first <= epoch => return false,
            Some((_, first)) => *first = epoch,
            None => self.followers.push((thread, epoch)),
        }
        true
    }
}

/// The accesses and fences by which a launch orders its `fence.sc`.
#[derive(Debug, Default)]
pub(super) struct FenceOrder {
    /// Whether there has been a `fence.sc`.
    pub(super) has_fence: bool,
    /// What accesses pass on, by location and bytes, if memory is not weak. Otherwise it is in the
    /// history of the location.
    passed: HashMap<(Location, usize), Passed>,
    late: Vec<Late>,
    /// Number of changes of late accesses.
    changes: u64,
    /// Number of late accesses above which those that all threads know are dropped.
    most_late: usize,
}

impl Clock {
    fn settle(&mut self, late: &Late) -> bool {
        let mine = [&self.fences, &self.reached].into_iter().filter(|groups| !groups.is_empty());
        if mine.map(|groups| groups.settled).min().is_none_or(|settled| late.changed <= settled) {
            return false;
        }
        let added = self.fences.settle(late);
        added.iter().for_each(|epochs| self.known.join(epochs));
        !added.is_empty() | !self.reached.settle(late).is_empty()
    }
}

impl State {
    /// A `fence.sc` comes after those that its thread has been reached from.
    pub(super) fn order_fence(&mut self, thread: u32, reach: Level) {
        self.order.has_fence = true;
        let now = &mut self.threads[thread as usize].now;
        let groups: Vec<Group> = self.shape.groups(reach, thread).collect();
        for epochs in groups.iter().filter_map(|group| now.clock.reached.take(*group)) {
            now.clock.known.join(&epochs);
        }
        let mut before = now.clock.known.clone();
        before.raise(thread, now.epoch);
        groups.iter().for_each(|group| now.clock.fences.learn(*group, &before));
    }

    /// Lets a thread learn what late accesses pass on to it.
    pub(super) fn settle(&mut self, thread: u32) {
        let clock = &mut self.threads[thread as usize].now.clock;
        // What one passes on may come after what another one precedes.
        while self.order.late.iter().fold(false, |changed, late| clock.settle(late) | changed) {}
        (clock.fences.settled, clock.reached.settled) = (self.order.changes, self.order.changes);
    }

    /// Whether an access may order fences. Weak accesses that do not race are ordered anyway.
    pub(super) fn may_order(&self, new: &Event) -> bool {
        self.order.has_fence && (new.access.reach().is_some() || !self.reports)
    }

    /// An access in sequentially consistent memory.
    pub(super) fn communicate(&mut self, new: &Event, span: Span) {
        if self.weak.is_some() || !self.may_order(new) || self.shape.is_copy(new.thread) {
            return;
        }
        let clock = &mut self.threads[new.thread as usize].now.clock;
        let key = ((span.region, span.offset), span.bytes);
        if clock.fences.is_empty() && !self.order.passed.contains_key(&key) {
            return;
        }
        let passed = self.order.passed.entry(key).or_default();
        if new.access.writes() {
            let before = passed.all();
            clock.reached.join(&before);
            *passed = Passed { before, write: clock.fences.clone(), reads: ByGroup::default() };
        } else {
            clock.reached.join(&passed.before);
            clock.reached.join(&passed.write);
            passed.reads.join(&clock.fences);
        }
    }

    /// A read of a version in weak memory, which it may observe.
    pub(super) fn communicate_read(
        &mut self,
        thread: u32,
        location: Location,
        at: usize,
        observes: bool,
    ) {
        let history = self.weak.as_mut().and_then(|weak| weak.locations.get_mut(location));
        let Some(history) = history else { return };
        let clock = &mut self.threads[thread as usize].now.clock;
        let passed = &mut history.versions[at].passed;
        clock.reached.join(&passed.write);
        if observes {
            clock.reached.join(&passed.before);
        }
        passed.reads.join(&clock.fences);
        self.precede(thread, location, at + 1);
    }

    /// A write in weak memory.
    pub(super) fn communicate_write(&mut self, thread: u32, location: Location, at: usize) {
        let history = self.weak.as_mut().and_then(|weak| weak.locations.get_mut(location));
        let Some(history) = history else { return };
        let clock = &mut self.threads[thread as usize].now.clock;
        let last = at.checked_sub(1).map(|last| &history.versions[last].passed);
        let before = last.map(Passed::all).unwrap_or_default();
        clock.reached.join(&before);
        let write = clock.fences.clone();
        history.versions[at].passed = Passed { before, write, reads: ByGroup::default() };
        self.precede(thread, location, at + 1);
    }

    /// An access precedes the versions from `first` of its location, which were written earlier.
    fn precede(&mut self, thread: u32, location: Location, first: usize) {
        let passes = self.threads[thread as usize].now.clock.fences.clone();
        let history = self.weak.as_mut().and_then(|weak| weak.locations.get_mut(location));
        let Some(history) = history.filter(|_| !passes.is_empty()) else { return };
        let mut followers = Vec::new();
        for version in &mut history.versions[first..] {
            version.passed.before.join(&passes);
            followers.extend(version.followers());
        }
        if followers.is_empty() {
            return;
        }
        let known = self.order.late.iter().position(|late| late.passes.is(&passes));
        let at = known.unwrap_or_else(|| {
            self.drop_late();
            self.order.late.push(Late { passes, followers: Vec::new(), changed: 0 });
            self.order.late.len() - 1
        });
        let late = &mut self.order.late[at];
        let is_new = followers.into_iter().fold(false, |is_new, it| late.add(it) | is_new);
        if is_new {
            self.order.changes += 1;
            late.changed = self.order.changes;
            (0..self.threads.len() as u32).for_each(|thread| self.settle(thread));
        }
    }

    /// Drops late accesses from which all threads have learned, when there are many.
    fn drop_late(&mut self) {
        if self.order.late.len() < self.order.most_late.max(FEW_LATE) {
            return;
        }
        let threads = &self.threads[..self.shape.threads as usize];
        self.order.late.retain(|late| {
            let knows = |now: &Stamp| late.passes.iter().all(|(_, epochs)| now.covers(epochs));
            !threads.iter().all(|thread| knows(&thread.now))
        });
        self.order.most_late = 2 * self.order.late.len();
    }
}

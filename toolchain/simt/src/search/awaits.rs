//! Polling threads: they step again when the words that they have read change.
//!
//! A polling loop may run any number of iterations. Iterations that change nothing and fail make no
//! difference, so few of them are explored. A thread whose poll failed waits until another one
//! changes something that it has read since its last write or spin. If it has read only one word,
//! an execution in which that word changes later is abandoned: in another execution the thread
//! reads it later. The same is done if a strong read has returned an old value, because a fair run
//! reads the last value eventually. A weak read need not.
//!
//! Whether the iterations of a loop write is determined at its first spin that is not preceded by a
//! write. Until then its thread does not wait. The result is kept for the rest of the search, which
//! restarts.

use std::collections::HashMap;

use super::footprint::{Footprint, Object};
use crate::place::Place;

/// The accesses of a launch's lanes that are relevant to polling, and which lanes wait.
#[derive(Debug, Default)]
pub(super) struct Awaits {
    /// 32 per warp.
    lanes: Vec<Lane>,
    /// How often each cell has changed.
    changes: HashMap<Object, u64>,
    /// Number of steps so far, and the turn of this one in the tree.
    steps: u64,
    turn: usize,
    /// How often the clock has leapt without a change since.
    leaps: u32,
    /// Whether a thread has read its clock since the last leap.
    timed: bool,
    /// The locations of the spins of this execution, in the order in which they were first reached,
    /// and whether their loops are free of writes.
    spins: Vec<(Place, bool)>,
}

/// One thread.
#[derive(Clone, Debug, Default)]
struct Lane {
    state: State,
    /// The reads of cells since its last write or spin.
    looked: Vec<Look>,
    /// The cells that it is writing.
    writing: Vec<Object>,
    /// The cells that may have woken it: its next step depends on them.
    woken: Vec<Object>,
    /// The number of read accesses in `looked`.
    reads: u32,
    /// Whether it has changed memory, or read its clock, since its last spin.
    has_written: bool,
    has_timed: bool,
    /// Its clock, separate from that of other threads.
    clock: u64,
    /// How often its clock has leapt in a loop that reads no memory.
    leaps: u32,
}

#[derive(Clone, Copy, Debug)]
struct Look {
    cell: Object,
    /// How often the cell had changed.
    changes: u64,
    /// Whether a strong read has returned an old value.
    is_old: bool,
    step: u64,
    /// The turn of this step in the tree.
    turn: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Runs,
    /// Until something that it has read changes.
    Waits,
    /// It has read only one word: if that changes, the execution is abandoned and another one
    /// covers it.
    WaitsForOne,
    /// It has failed because of an old value: another execution covers this one.
    Gone,
}

/// Effect of a spin on the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spun {
    GoesOn,
    /// Another alternative of the same step covers all that may follow.
    Redundant,
    /// A word that it read in this iteration has changed since: it read too early.
    Early(usize),
    /// This loop is free of writes, which was not known: the search restarts.
    Learned,
}

/// Outcome if no thread can step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standstill {
    /// Some threads can step now.
    Woken,
    /// Only executions that are covered by another one get here.
    Redundant,
    Deadlock,
}

/// Maximum number of doublings of the clock's leaps.
const LONGEST_LEAP: u32 = 40;

impl Awaits {
    /// The lanes of `warps` warps, all of which run.
    pub(super) fn of_warps(warps: usize) -> Self {
        Self { lanes: vec![Lane::default(); warps * 32], ..Self::default() }
    }

    /// The lanes of a warp, out of `ready`, that do not wait.
    pub(super) fn awake(&self, warp: usize, ready: u32) -> u32 {
        let lanes = self.lanes[warp * 32..][..32].iter().enumerate();
        let waiting = lanes.filter(|(_, lane)| lane.state != State::Runs);
        waiting.fold(ready, |awake, (lane, _)| awake & !(1 << lane))
    }

    /// A new thread occupies this lane.
    pub(super) fn begin(&mut self, lane: usize) {
        self.lanes[lane] = Lane::default();
    }

    /// A step of these lanes begins. It depends on the cells that woke them.
    pub(super) fn step(
        &mut self,
        turn: usize,
        lanes: impl Iterator<Item = usize>,
        footprint: &mut Footprint,
    ) {
        self.steps += 1;
        self.turn = turn;
        for lane in lanes {
            self.lanes[lane].woken.drain(..).for_each(|cell| footprint.add(cell, false));
        }
    }

    /// A thread accesses a cell. `reads`: `Some` for a read, with whether it is a strong read of an
    /// old value. `is_first`: this is the first cell of the access.
    pub(super) fn access(
        &mut self,
        lane: usize,
        (cell, is_first): (Object, bool),
        reads: Option<bool>,
        writes: bool,
    ) {
        let changes = self.changes.get(&cell).copied().unwrap_or(0);
        let thread = &mut self.lanes[lane];
        if let Some(is_old) = reads {
            thread.reads += u32::from(is_first);
            thread.looked.push(Look { cell, changes, is_old, step: self.steps, turn: self.turn });
        }
        if writes {
            thread.writing.push(cell);
        }
    }

    /// The last write of a thread has ended. Wakes the threads that wait for it if memory has
    /// `changed`. Returns the turns in which other threads read too early, so that this execution
    /// is abandoned.
    pub(super) fn wrote(&mut self, lane: usize, changed: bool) -> Vec<usize> {
        let written = core::mem::take(&mut self.lanes[lane].writing);
        if !changed || written.is_empty() {
            return Vec::new();
        }
        self.leaps = 0;
        written.iter().for_each(|&cell| *self.changes.entry(cell).or_default() += 1);
        let mut early = Vec::new();
        for (number, thread) in self.lanes.iter_mut().enumerate() {
            if number == lane {
                thread.has_written = true;
                thread.forget();
            } else if thread.looked.iter().any(|look| written.contains(&look.cell)) {
                match thread.state {
                    State::Waits => thread.wake(),
                    State::WaitsForOne => early.extend(thread.looked.iter().map(|look| look.turn)),
                    State::Runs | State::Gone => {}
                }
            }
        }
        early
    }

    /// A thread reads its clock, which is private: it does not depend on how steps interleave.
    pub(super) fn clock(&mut self, lane: usize) -> u64 {
        self.timed = true;
        let lane = &mut self.lanes[lane];
        lane.has_timed = true;
        lane.clock += 1;
        lane.clock
    }

    /// A thread sleeps.
    pub(super) fn slept(&mut self, lane: usize, cycles: u32) {
        self.lanes[lane].clock += u64::from(cycles);
    }

    /// A thread spins, which depends on everything that it has read. `is_alone`: no other lane of
    /// its warp steps. `known` returns whether the loop at this location is free of writes.
    pub(super) fn spun(
        &mut self,
        lane: usize,
        (place, is_alone): (Place, bool),
        known: impl FnOnce(usize) -> bool,
        footprint: &mut Footprint,
    ) -> Spun {
        let is_pure = self.is_pure(place, known);
        let (changes, step) = (&self.changes, self.steps);
        let thread = &mut self.lanes[lane];
        let wrote = core::mem::take(&mut thread.has_written);
        let timed = core::mem::take(&mut thread.has_timed);
        thread.looked.iter().for_each(|look| footprint.add(look.cell, false));
        let has_changed =
            |look: &Look| changes.get(&look.cell).copied().unwrap_or(0) != look.changes;
        if thread.looked.is_empty() && timed {
            // It waits only for its clock.
            thread.clock += 1 << thread.leaps;
            thread.leaps = (thread.leaps + 1).min(LONGEST_LEAP);
        } else if !is_pure && !wrote {
            return Spun::Learned;
        } else if !is_pure {
            thread.forget();
        } else {
            let has_changed = thread.looked.iter().any(has_changed);
            let is_old = thread.looked.iter().any(|look| look.is_old);
            let is_one = is_alone && thread.reads == 1;
            let is_one_step = thread.looked.iter().all(|look| look.step == step);
            thread.leaps = 0;
            match (has_changed, is_old) {
                (true, _) if is_one => return Spun::Early(thread.looked[0].turn),
                (_, true) if is_one => return Spun::Redundant,
                (true, _) => thread.forget(),
                (_, true) if is_one_step => return Spun::Redundant,
                (_, true) => thread.state = State::Gone,
                _ if is_one => thread.state = State::WaitsForOne,
                _ => thread.state = State::Waits,
            }
        }
        Spun::GoesOn
    }

    /// Whether a loop that spins here is free of writes, as returned by `known` for its number.
    fn is_pure(&mut self, place: Place, known: impl FnOnce(usize) -> bool) -> bool {
        let next = self.spins.len();
        let at = self.spins.iter().position(|(other, _)| *other == place).unwrap_or(next);
        if at == next {
            self.spins.push((place, known(next)));
        }
        self.spins[at].1
    }

    /// For each spin of this execution, whether its loop is free of writes.
    pub(super) fn spins(&self) -> impl Iterator<Item = bool> {
        self.spins.iter().map(|&(_, is_pure)| is_pure)
    }

    /// No thread can step.
    pub(super) fn standstill(&mut self, patience: u32) -> Standstill {
        if self.lanes.iter().any(|lane| lane.state == State::Gone) {
            return Standstill::Redundant;
        }
        // A timeout may expire first, if some thread reads its clock.
        let timed = core::mem::take(&mut self.timed);
        if self.leaps > 0 && !timed || self.leaps >= patience {
            return Standstill::Deadlock;
        }
        let leap = 1 << self.leaps.min(LONGEST_LEAP);
        self.leaps += 1;
        let mut standstill = Standstill::Deadlock;
        let waits = |lane: &&mut Lane| lane.state != State::Runs;
        for lane in self.lanes.iter_mut().filter(waits) {
            lane.clock += leap;
            lane.wake();
            standstill = Standstill::Woken;
        }
        standstill
    }
}

impl Lane {
    fn wake(&mut self) {
        self.state = State::Runs;
        self.reads = 0;
        self.woken.extend(self.looked.drain(..).map(|look| look.cell));
    }

    /// The reads so far are not those that it polls.
    fn forget(&mut self) {
        self.reads = 0;
        self.looked.clear();
    }
}

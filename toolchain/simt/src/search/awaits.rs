//! Threads that poll: they step again when what they have looked at changes.
//!
//! A loop that polls may go round any number of times. A turn that changes nothing and fails is
//! left out of the search: the thread waits until another one changes what it has looked at since
//! its last write or spin. A strong read that returns an old value to such a turn is not explored
//! further, because a fair run reads the last value in time, and another execution does so at once.

use std::collections::HashMap;

use super::footprint::{Footprint, Object};
use crate::dim::Place;

/// What the lanes of a launch have looked at, and which of them wait.
#[derive(Debug, Default)]
pub(super) struct Awaits {
    /// By warp, 32 for each.
    lanes: Vec<Lane>,
    /// How often each cell has changed.
    changes: HashMap<Object, u64>,
    /// Steps so far.
    steps: u64,
    /// How often the clock has leapt without a change since.
    leaps: u32,
}

/// One thread.
#[derive(Clone, Debug, Default)]
struct Lane {
    state: State,
    /// The cells that it has looked at since its last write or spin.
    looked: Vec<Look>,
    /// The cells that it is writing.
    writing: Vec<Object>,
    /// The cells that woke it may be any of these: its next step depends on them.
    woken: Vec<Object>,
    /// Whether it has changed memory, or read its clock, since its last spin.
    has_written: bool,
    has_timed: bool,
    /// Where it spun last, and whether it had written before.
    spun: Option<(Place, bool)>,
    /// Its own clock.
    clock: u64,
    /// How often its clock has leapt in a loop that looks at nothing else.
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
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Runs,
    /// Until something that it has looked at changes. `unsure`: it has written since it spun last,
    /// and so may have something else to do.
    Waits { unsure: bool },
    /// What waits for it has failed by an old value: this execution will be explored otherwise.
    Gone,
}

/// What a spin means for the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spun {
    GoesOn,
    /// Another alternative of the same step covers all that may follow.
    Redundant,
}

/// What is left if no thread can step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standstill {
    /// Some threads can step now.
    Woken,
    /// Only executions that are explored otherwise get here.
    Redundant,
    Deadlock,
}

/// Where the clock's leaps stop doubling.
const LONGEST_LEAP: u32 = 40;

impl Awaits {
    /// The lanes of so many warps, all of which run.
    pub(super) fn of_warps(warps: usize) -> Self {
        Self { lanes: vec![Lane::default(); warps * 32], ..Self::default() }
    }

    /// The lanes of a warp that do not wait, out of `ready`.
    pub(super) fn awake(&self, warp: usize, ready: u32) -> u32 {
        let lanes = self.lanes[warp * 32..][..32].iter().enumerate();
        let waiting = lanes.filter(|(_, lane)| lane.state != State::Runs);
        waiting.fold(ready, |awake, (lane, _)| awake & !(1 << lane))
    }

    /// A new thread has this place.
    pub(super) fn begin(&mut self, lane: usize) {
        self.lanes[lane] = Lane::default();
    }

    /// A step of these lanes begins. What woke them is part of what it depends on.
    pub(super) fn step(&mut self, lanes: impl Iterator<Item = usize>, footprint: &mut Footprint) {
        self.steps += 1;
        for lane in lanes {
            self.lanes[lane].woken.drain(..).for_each(|cell| footprint.add(cell, false));
        }
    }

    /// A thread accesses a cell. `reads`: it reads, and whether this is a strong read of an old value.
    pub(super) fn access(&mut self, lane: usize, cell: Object, reads: Option<bool>, writes: bool) {
        let changes = self.changes.get(&cell).copied().unwrap_or(0);
        let thread = &mut self.lanes[lane];
        if let Some(is_old) = reads {
            thread.looked.push(Look { cell, changes, is_old, step: self.steps });
        }
        if writes {
            thread.writing.push(cell);
        }
    }

    /// The last write of a thread has ended. Wakes who waits for it if memory has `changed`.
    pub(super) fn wrote(&mut self, lane: usize, changed: bool) {
        let written = core::mem::take(&mut self.lanes[lane].writing);
        if !changed || written.is_empty() {
            return;
        }
        self.leaps = 0;
        written.iter().for_each(|&cell| *self.changes.entry(cell).or_default() += 1);
        for (number, thread) in self.lanes.iter_mut().enumerate() {
            if number == lane {
                thread.has_written = true;
                thread.looked.clear();
            } else if matches!(thread.state, State::Waits { .. })
                && thread.looked.iter().any(|look| written.contains(&look.cell))
            {
                thread.wake();
            }
        }
    }

    /// A thread reads its clock, which is its own: how steps interleave does not change it.
    pub(super) fn clock(&mut self, lane: usize) -> u64 {
        let lane = &mut self.lanes[lane];
        lane.has_timed = true;
        lane.clock += 1;
        lane.clock
    }

    /// A thread sleeps.
    pub(super) fn slept(&mut self, lane: usize, cycles: u32) {
        self.lanes[lane].clock += u64::from(cycles);
    }

    /// A thread spins. That depends on all that it has looked at.
    pub(super) fn spun(&mut self, lane: usize, place: Place, footprint: &mut Footprint) -> Spun {
        let (changes, step) = (&self.changes, self.steps);
        let thread = &mut self.lanes[lane];
        let wrote = core::mem::take(&mut thread.has_written);
        let timed = core::mem::take(&mut thread.has_timed);
        let before = thread.spun.replace((place, wrote));
        thread.looked.iter().for_each(|look| footprint.add(look.cell, false));
        let writes_each_turn = wrote && before == Some((place, true));
        let has_changed =
            |look: &Look| changes.get(&look.cell).copied().unwrap_or(0) != look.changes;
        if writes_each_turn || thread.looked.iter().any(has_changed) {
            thread.looked.clear();
        } else if thread.looked.is_empty() && timed {
            // It waits for its clock alone.
            thread.clock += 1 << thread.leaps;
            thread.leaps = (thread.leaps + 1).min(LONGEST_LEAP);
        } else if thread.looked.iter().any(|look| look.is_old) {
            if thread.looked.iter().all(|look| look.step == step) {
                return Spun::Redundant;
            }
            thread.state = State::Gone;
        } else {
            thread.leaps = 0;
            thread.has_timed = timed;
            thread.state = State::Waits { unsure: wrote };
        }
        Spun::GoesOn
    }

    /// No thread can step.
    pub(super) fn standstill(&mut self, patience: u32) -> Standstill {
        if self.lanes.iter().any(|lane| lane.state == State::Gone) {
            return Standstill::Redundant;
        }
        let unsure = |lane: &&mut Lane| lane.state == State::Waits { unsure: true };
        let mut woken = false;
        self.lanes.iter_mut().filter(unsure).for_each(|lane| {
            lane.wake();
            woken = true;
        });
        if woken {
            return Standstill::Woken;
        }
        let leap = 1 << self.leaps.min(LONGEST_LEAP);
        let timed = |lane: &&mut Lane| lane.state != State::Runs && lane.has_timed;
        if self.leaps < patience {
            self.leaps += 1;
            self.lanes.iter_mut().filter(timed).for_each(|lane| {
                lane.clock += leap;
                lane.wake();
                woken = true;
            });
        }
        if woken { Standstill::Woken } else { Standstill::Deadlock }
    }
}

impl Lane {
    fn wake(&mut self) {
        self.state = State::Runs;
        self.has_timed = false;
        self.woken.extend(self.looked.drain(..).map(|look| look.cell));
    }
}

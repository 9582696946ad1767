//! Records the decisions of launches, and makes them follow a script.

use core::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Recording;
use super::deed::{Deed, Done};
use super::script::{Grid, Script};
use crate::picker::Party;

thread_local! {
    /// The recorder for launches on this OS thread.
    static RECORDER: RefCell<Option<Rc<Recorder>>> = const { RefCell::new(None) };
}

/// The recorder for launches on this OS thread, if there is one.
pub(crate) fn current() -> Option<Rc<Recorder>> {
    RECORDER.with_borrow(Clone::clone)
}

/// Maximum number of recorded deeds. A story shows the last few of them.
const MOST_DEEDS: usize = 1 << 20;

/// Records the launches of this OS thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    state: RefCell<State>,
    /// Whether launches follow a script.
    follows: bool,
    tells: bool,
}

#[derive(Debug, Default)]
struct State {
    script: Script,
    taken: Script,
    /// The script's next turn, and how many of its steps are done.
    turn: usize,
    done: u32,
    /// Steps of each warp, and choices of each thread.
    steps: HashMap<usize, u32>,
    choices: HashMap<u32, u32>,
    warp: usize,
    deeds: Vec<Deed>,
    /// The write that has not ended yet.
    writing: Option<usize>,
}

/// Ends the recording on this OS thread when dropped.
pub(super) struct Installed;

impl Drop for Installed {
    fn drop(&mut self) {
        RECORDER.set(None);
    }
}

impl Recorder {
    pub(super) fn new(script: Option<Script>, tells: bool) -> Self {
        let follows = script.is_some();
        let state = State { script: script.unwrap_or_default(), ..State::default() };
        Self { state: RefCell::new(state), follows, tells }
    }

    pub(super) fn install(self: &Rc<Self>) -> Installed {
        RECORDER.set(Some(Rc::clone(self)));
        Installed
    }

    pub(super) fn take(&self) -> Recording {
        let State { taken, deeds, .. } = self.state.take();
        Recording { script: taken, deeds }
    }

    /// Whether launches follow a script.
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    /// A grid begins.
    pub(crate) fn begin(&self) {
        let state = &mut *self.state.borrow_mut();
        state.taken.grids.push(Grid::default());
        (state.turn, state.done) = (0, 0);
        state.steps.clear();
        state.choices.clear();
    }

    /// The warp that comes next in the script, if it can run.
    pub(crate) fn wanted(&self, is_ready: impl Fn(usize) -> bool) -> Option<usize> {
        let state = &mut *self.state.borrow_mut();
        let grid = state.script.grids.get(state.taken.grids.len() - 1)?;
        while let Some(&(warp, steps)) = grid.turns.get(state.turn) {
            if state.done < steps && is_ready(warp) {
                state.done += 1;
                return Some(warp);
            }
            (state.turn, state.done) = (state.turn + 1, 0);
        }
        None
    }

    /// This warp steps.
    pub(crate) fn steps(&self, warp: usize) {
        let state = &mut *self.state.borrow_mut();
        state.warp = warp;
        *state.steps.entry(warp).or_default() += 1;
        let Some(grid) = state.taken.grids.last_mut() else { return };
        match grid.turns.last_mut() {
            Some((last, steps)) if *last == warp => *steps += 1,
            _ => grid.turns.push((warp, 1)),
        }
    }

    /// The lanes that step, out of `ready`, if the schedule chooses `drawn`.
    pub(crate) fn party(&self, drawn: Party, ready: u32) -> Party {
        let state = &mut *self.state.borrow_mut();
        let key = (state.warp, state.steps.get(&state.warp).copied().unwrap_or(0));
        let grid = state.script.grids.get(state.taken.grids.len() - 1);
        let wanted = grid.and_then(|grid| grid.parties.get(&key)).copied();
        let wanted = wanted.map(|party| party.among(ready));
        let party = wanted.filter(|party| party.mask != 0).unwrap_or(drawn);
        if party != Party::in_order(ready)
            && let Some(grid) = state.taken.grids.last_mut()
        {
            grid.parties.insert(key, party);
        }
        party
    }

    /// The one of `count` alternatives that a thread chooses, if the schedule chooses that of
    /// `draw`.
    pub(crate) fn choose(&self, thread: u32, count: usize, draw: impl FnOnce() -> usize) -> usize {
        let state = &mut *self.state.borrow_mut();
        let number = state.choices.entry(thread).or_default();
        let key = (thread, *number);
        *number += 1;
        let chosen = if self.follows {
            let grid = state.script.grids.get(state.taken.grids.len() - 1);
            let wanted = grid.and_then(|grid| grid.choices.get(&key)).copied();
            wanted.unwrap_or(0).min(count - 1)
        } else {
            draw()
        };
        if chosen != 0
            && let Some(grid) = state.taken.grids.last_mut()
        {
            grid.choices.insert(key, chosen);
        }
        chosen
    }

    /// Records an action of a thread.
    pub(crate) fn tell(&self, deed: impl FnOnce() -> Deed) {
        let state = &mut *self.state.borrow_mut();
        if !self.tells || state.deeds.len() == MOST_DEEDS {
            return;
        }
        let launch = state.taken.grids.len();
        state.deeds.push(Deed { launch, ..deed() });
        state.writing = Some(state.deeds.len() - 1);
    }

    /// The last write was to the word of a barrier in shared memory.
    pub(crate) fn wrote_barrier(&self) {
        let state = &mut *self.state.borrow_mut();
        if let Some(at) = state.writing
            && let Done::Access(touch) = &mut state.deeds[at].what
        {
            touch.is_barrier = true;
        }
    }

    /// The last write has left these bits. `is_early`: they are not the last value of their
    /// location.
    pub(crate) fn wrote(&self, bits: u128, is_early: bool) {
        let state = &mut *self.state.borrow_mut();
        if let Some(at) = state.writing.take()
            && let Done::Access(touch) = &mut state.deeds[at].what
        {
            touch.wrote = Some(bits);
            touch.is_old |= is_early;
        }
    }
}

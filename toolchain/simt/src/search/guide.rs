//! The interface between a running launch and a search.

use core::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use super::awaits::{Awaits, Spun, Standstill};
use super::footprint::{Footprint, Names, Object};
use super::path::Path;
use super::tree::{MOST_WARPS, Tree};
use crate::access::{Access, AccessKind, Order};
use crate::dim::WARP_LANES;
use crate::memory::Label;
use crate::place::Place;
use crate::warp::lanes;

thread_local! {
    /// The guide of launches on this OS thread.
    static GUIDE: RefCell<Option<Rc<Guide>>> = const { RefCell::new(None) };
}

/// The guide of launches on this OS thread, if there is one.
pub(crate) fn current() -> Option<Rc<Guide>> {
    GUIDE.with_borrow(Clone::clone)
}

/// Makes the decisions of launches instead of a schedule.
#[derive(Debug)]
pub(crate) struct Guide {
    state: RefCell<State>,
    /// Whether this execution need not be explored further.
    is_redundant: Cell<bool>,
}

#[derive(Debug)]
struct State {
    decider: Decider,
    /// The decisions of this execution.
    taken: Vec<u32>,
    names: Names,
    awaits: Awaits,
    footprint: Footprint,
    /// The warp that steps now or stepped last, and the number of its lane among all lanes.
    warp: Option<usize>,
    lane: usize,
    /// Whether no other lane of the warp steps.
    is_alone: bool,
    /// For the spins of the preceding launches: see [`Awaits::spins`].
    spins: Vec<bool>,
    patience: u32,
}

/// Source of decisions.
#[derive(Debug)]
enum Decider {
    Search(Search),
    Path(Path),
}

#[derive(Debug, Default)]
struct Search {
    tree: Tree,
    /// The spins of loops that are free of writes.
    pure: HashSet<Place>,
    /// Whether one of them is new.
    has_learned: bool,
}

/// The next step after an execution.
pub(super) enum Next {
    Execution,
    /// The first execution again: more is known about loops.
    Anew,
    None,
}

/// The payload that ends an execution that need not be explored further.
pub(super) struct Redundant;

/// Ends the search on this OS thread when dropped.
pub(super) struct Installed;

impl Drop for Installed {
    fn drop(&mut self) {
        GUIDE.set(None);
    }
}

/// The bytes and region of an access. `owner` distinguishes the shared memories of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    pub(crate) label: Label,
    pub(crate) owner: u64,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

impl Guide {
    pub(super) fn searching() -> Self {
        Self::new(Decider::Search(Search::default()))
    }

    pub(super) fn along(path: Path) -> Self {
        Self::new(Decider::Path(path))
    }

    fn new(decider: Decider) -> Self {
        let state = State {
            decider,
            taken: Vec::new(),
            names: Names::default(),
            awaits: Awaits::default(),
            footprint: Footprint::default(),
            warp: None,
            lane: 0,
            is_alone: false,
            spins: Vec::new(),
            patience: 0,
        };
        Self { state: RefCell::new(state), is_redundant: Cell::new(false) }
    }

    /// Guides the launches of this OS thread until the result is dropped.
    pub(super) fn install(self: &Rc<Self>) -> Installed {
        GUIDE.set(Some(Rc::clone(self)));
        Installed
    }

    /// Begins an execution.
    pub(super) fn restart(&self) {
        self.is_redundant.set(false);
        let state = &mut *self.state.borrow_mut();
        state.taken.clear();
        state.spins.clear();
        state.awaits = Awaits::default();
        if let Decider::Search(Search { tree, .. }) = &mut state.decider {
            tree.restart();
        }
    }

    /// Advances to the next execution.
    pub(super) fn advance(&self) -> Next {
        let Decider::Search(search) = &mut self.state.borrow_mut().decider else {
            return Next::None;
        };
        if core::mem::take(&mut search.has_learned) {
            search.tree = Tree::default();
            return Next::Anew;
        }
        if search.tree.advance() { Next::Execution } else { Next::None }
    }

    /// The decisions of this execution.
    pub(super) fn path(&self) -> Path {
        let state = &*self.state.borrow();
        let spins = state.spins.iter().copied().chain(state.awaits.spins());
        Path::new(spins.collect(), state.taken.clone())
    }

    /// A grid begins, with room for `warps` warps. Returns whether it is small enough.
    pub(crate) fn begin(&self, warps: usize, patience: u32) -> bool {
        let state = &mut *self.state.borrow_mut();
        if warps > MOST_WARPS {
            return false;
        }
        let before = core::mem::replace(&mut state.awaits, Awaits::of_warps(warps));
        state.spins.extend(before.spins());
        (state.warp, state.patience) = (None, patience);
        // Touched by destructors of an execution that was abandoned.
        state.footprint = Footprint::default();
        state.separate();
        true
    }

    /// The warp to step next, out of those that are ready, each with its ready lanes.
    pub(crate) fn pick(&self, ready: &[(usize, u32)]) -> Option<usize> {
        let state = &mut *self.state.borrow_mut();
        loop {
            let awake = |&&(warp, lanes): &&(usize, u32)| state.awaits.awake(warp, lanes) != 0;
            let mut order: Vec<usize> = ready.iter().filter(awake).map(|&(warp, _)| warp).collect();
            if !order.is_empty() {
                let last = state.warp.unwrap_or(0);
                order.sort_by_key(|&warp| (warp + MOST_WARPS - last) % MOST_WARPS);
                let picked = state.turn(&order);
                if picked.is_none() {
                    self.is_redundant.set(true);
                }
                state.warp = picked;
                return picked;
            }
            match state.awaits.standstill(state.patience) {
                Standstill::Woken => state.separate(),
                Standstill::Deadlock => return None,
                Standstill::Redundant => {
                    self.is_redundant.set(true);
                    return None;
                }
            }
        }
    }

    /// The lanes of the picked warp, out of `ready`, that step.
    pub(crate) fn party(&self, ready: u32) -> u32 {
        let state = &mut *self.state.borrow_mut();
        let warp = state.warp.unwrap_or(0);
        let awake = state.awaits.awake(warp, ready);
        state.is_alone = awake.count_ones() == 1;
        let number = |lane| warp * WARP_LANES as usize + lane as usize;
        let turn = match &state.decider {
            Decider::Search(Search { tree, .. }) => tree.turn(),
            Decider::Path(_) => 0,
        };
        state.awaits.step(turn, lanes(awake).map(number), &mut state.footprint);
        awake
    }

    /// A lane of the picked warp continues.
    pub(crate) fn turn_of(&self, lane: u32) {
        let state = &mut *self.state.borrow_mut();
        state.lane = state.warp.unwrap_or(0) * WARP_LANES as usize + lane as usize;
    }

    /// A block has started in the slot of this warp.
    pub(crate) fn started(&self, warp: usize) {
        let state = &mut *self.state.borrow_mut();
        (0..WARP_LANES as usize)
            .for_each(|lane| state.awaits.begin(warp * WARP_LANES as usize + lane));
    }

    /// The step ends. Returns whether the execution continues.
    pub(crate) fn stepped(&self) -> bool {
        let state = &mut *self.state.borrow_mut();
        let footprint = core::mem::take(&mut state.footprint);
        if let Decider::Search(Search { tree, .. }) = &mut state.decider {
            tree.stepped(&footprint);
        }
        !self.is_redundant.get()
    }

    /// Whether this execution need not be explored further.
    pub(crate) fn is_redundant(&self) -> bool {
        self.is_redundant.get()
    }

    /// One of `count` alternatives, the first of which is the default.
    pub(crate) fn choose(&self, count: usize) -> usize {
        self.state.borrow_mut().choose(count)
    }

    /// The step touches an object that is not memory, and changes it.
    pub(crate) fn touch(&self, object: Object) {
        self.state.borrow_mut().footprint.add(object, true);
    }

    /// The thread accesses memory. `is_old`: it reads an old value.
    pub(crate) fn access(&self, touched: Touched, access: Access, is_old: bool) {
        let State { names, awaits, footprint, lane, .. } = &mut *self.state.borrow_mut();
        let Touched { label, owner, offset, bytes } = touched;
        let writes = access.kind != AccessKind::Read;
        let is_strong = access.order != Order::Weak || access.kind == AccessKind::Atomic;
        let reads = (access.kind != AccessKind::Write).then_some(is_old && is_strong);
        let mut is_first = true;
        for cell in names.cells((label, owner), (offset, bytes)) {
            footprint.add(cell, writes);
            awaits.access(*lane, (cell, is_first), reads, writes);
            is_first = false;
        }
    }

    /// The last write of the thread has ended, and perhaps changed memory.
    pub(crate) fn wrote(&self, changed: bool) {
        let state = &mut *self.state.borrow_mut();
        for turn in state.awaits.wrote(state.lane, changed) {
            state.too_early(turn);
            self.is_redundant.set(true);
        }
    }

    /// The thread spins.
    pub(crate) fn spun(&self, place: Place) {
        let state = &mut *self.state.borrow_mut();
        let first = state.spins.len();
        let State { decider, awaits, footprint, is_alone, .. } = state;
        let known = |number| match &*decider {
            Decider::Search(search) => search.pure.contains(&place),
            Decider::Path(path) => path.is_pure(first + number),
        };
        match awaits.spun(state.lane, (place, *is_alone), known, footprint) {
            Spun::GoesOn => {}
            Spun::Redundant => self.is_redundant.set(true),
            Spun::Early(turn) => {
                state.too_early(turn);
                self.is_redundant.set(true);
            }
            Spun::Learned => {
                if let Decider::Search(search) = decider {
                    search.pure.insert(place);
                    search.has_learned = true;
                    self.is_redundant.set(true);
                }
            }
        }
    }

    /// The thread sleeps.
    pub(crate) fn slept(&self, cycles: u32) {
        let state = &mut *self.state.borrow_mut();
        state.awaits.slept(state.lane, cycles);
    }

    /// The thread's clock.
    pub(crate) fn clock(&self) -> u64 {
        let state = &mut *self.state.borrow_mut();
        state.awaits.clock(state.lane)
    }
}

impl State {
    /// Chooses one of these warps. The first is the default.
    fn turn(&mut self, order: &[usize]) -> Option<usize> {
        let enabled = order.iter().fold(0, |all, &warp| all | 1u64 << warp);
        let picked = match &mut self.decider {
            Decider::Search(Search { tree, .. }) => tree.pick(enabled, order)?,
            Decider::Path(_) if order.len() == 1 => order[0],
            Decider::Path(path) => {
                let at = path.decision(self.taken.len());
                order.get(at).copied().unwrap_or(order[0])
            }
        };
        if order.len() > 1 {
            let at = order.iter().position(|&warp| warp == picked);
            self.taken.push(at.map_or(0, |at| at as u32));
        }
        Some(picked)
    }

    fn choose(&mut self, count: usize) -> usize {
        if count < 2 {
            return 0;
        }
        let chosen = match &mut self.decider {
            Decider::Search(Search { tree, .. }) => tree.choose(count),
            Decider::Path(path) => path.decision(self.taken.len()).min(count - 1),
        };
        self.taken.push(chosen as u32);
        chosen
    }

    /// The step of this turn is useless unless another warp steps before it.
    fn too_early(&mut self, turn: usize) {
        if let Decider::Search(Search { tree, .. }) = &mut self.decider {
            tree.want_all(turn);
        }
    }

    /// Orders all later steps after all steps so far.
    fn separate(&mut self) {
        if let Decider::Search(Search { tree, .. }) = &mut self.decider {
            tree.separate();
        }
    }
}

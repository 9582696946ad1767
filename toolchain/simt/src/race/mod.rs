//! Finds data races by the happens-before relation of the PTX memory model (PTX ISA, "Memory
//! Consistency Model"). A race is two accesses to the same bytes, at least one of them a write,
//! that causality does not order and that are not morally strong.
//!
//! Each thread has a vector [`clock`]. Each four bytes of memory have a [`cell`] with the accesses
//! that may still be part of a race. This is FastTrack (Flanagan and Freund, PLDI 2009), except
//! that a cell keeps all unordered accesses, because strong accesses may be concurrent. A [`value`]
//! holds what a strong write leaves for readers to acquire; [`reach`] determines the reach of
//! scopes.

mod cell;
mod clock;
mod copies;
mod grids;
mod links;
mod locations;
mod protocols;
mod proxies;
mod reach;
mod report;
mod sequential;
mod shadow;
mod sync;
mod thread;
mod value;
mod weak;

pub(crate) use report::NEEDS_GLOBAL_FENCE;
pub use report::{Flaw, Link, MissingOrder, Race, RacingAccess};
pub(crate) use shadow::Span;

use crate::access::{Access, AccessKind, Order, Scope, Space};
use crate::place::Place;
use cell::Event;
use clock::Clock;
use core::cell::RefCell;
use grids::Bounds;
use links::{Links, Seen};
use protocols::Protocols;
use reach::Level;
pub(crate) use reach::Shape;
use sequential::FenceOrder;
use shadow::Shadow;
use std::collections::HashMap;
use thread::Thread;
use weak::Weak;
pub(crate) use weak::{Draws, Old};

/// Maximum number of threads with race detection: a clock may have a number for each of them.
pub(crate) const MAX_THREADS: u64 = 1 << 17;

/// The race detector of one launch. Threads are numbered across the launch: by GPU, then by block.
#[derive(Debug)]
pub(crate) struct Races {
    state: RefCell<State>,
}

/// Whether two threads of a block, which have a barrier, only happen to have updated the same word.
/// If so, the update was not meant to order anything, and the race is elsewhere.
fn is_by_chance(seen: &Seen, old: &Event, new: &Event) -> bool {
    let is_update = |event: &Event| event.access.kind == AccessKind::Atomic;
    let nothing = Some(Flaw::Absent);
    (seen.release, seen.acquire) == (nothing, nothing)
        && is_update(&seen.read)
        && is_update(&seen.head.write)
        && ![old, new].iter().any(|event| is_update(event))
}

#[derive(Debug)]
struct State {
    shape: Shape,
    threads: Vec<Thread>,
    shadow: Shadow,
    clusters: HashMap<u32, Cluster>,
    grids: Vec<Bounds>,
    /// What the lanes of a warp have released at a barrier of some warps that has not opened since, by
    /// the warp's first thread and the barrier.
    arrivals: HashMap<(u32, u32), Clock>,
    protocols: Protocols,
    /// The numbers of each thread's bulk copies, as indices into the threads.
    copies: HashMap<u32, Vec<u32>>,
    /// The order of `fence.sc`.
    order: FenceOrder,
    /// The histories of locations, if memory is weak.
    weak: Option<Weak>,
    /// Whether a race is an error.
    reports: bool,
}

/// An access and its location in the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    pub(crate) access: Access,
    pub(crate) place: Place,
    /// The number of the protocol that it is part of; 0 for none.
    pub(crate) protocol: u8,
}

/// The clocks passed on by threads that arrived at a cluster barrier.
#[derive(Debug, Default)]
struct Cluster {
    /// Since it last opened.
    arriving: Clock,
    /// Before it last opened.
    opened: Clock,
}

/// Two accesses that race.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) earlier: Party,
    pub(crate) why: Why,
}

/// An access, by the number of its thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Party {
    pub(crate) thread: u32,
    pub(crate) access: Access,
    pub(crate) bytes: usize,
    pub(crate) place: Place,
}

/// Like [`MissingOrder`], but with thread numbers.
#[derive(Debug)]
pub(crate) enum Why {
    Scope(Scope),
    Overlap,
    Link {
        write: Party,
        read: Party,
        release: Option<Flaw>,
        acquire: Option<Flaw>,
        barrier: Option<&'static str>,
    },
    Crossing(&'static str),
    Protocol(&'static str),
    Copy,
    Proxy(Space),
    ReadOnly,
    Grids {
        overlaps: bool,
    },
    Everything {
        same_block: bool,
    },
}

impl Races {
    /// The detector for a launch of this shape, of at most [`MAX_THREADS`] threads. If `reports`, a
    /// race is an error. Memory is weak if `weak` is given, which draws the values.
    pub(crate) fn new(shape: Shape, reports: bool, weak: Option<Draws>) -> Self {
        Self {
            state: RefCell::new(State {
                threads: (0..shape.threads).map(Thread::new).collect(),
                grids: (0..shape.grids()).map(|_| Bounds::default()).collect(),
                shape,
                shadow: Shadow::default(),
                clusters: HashMap::new(),
                arrivals: HashMap::new(),
                protocols: Protocols::default(),
                copies: HashMap::new(),
                order: FenceOrder::default(),
                weak: weak.map(Weak::new),
                reports,
            }),
        }
    }

    /// Whether memory is weak.
    pub(crate) fn is_weak(&self) -> bool {
        self.state.borrow().weak.is_some()
    }

    /// A thread accesses memory, which currently holds the bits `held` if they were written and
    /// memory is weak. Returns the old value that a read sees instead. Fails with the access that
    /// this one races with, or that a proxy hides from it.
    pub(crate) fn access(
        &self,
        thread: u32,
        span: Span,
        act: Act,
        held: Option<u128>,
    ) -> Result<Option<Old>, Box<Found>> {
        let state = &mut *self.state.borrow_mut();
        let Act { access, place, .. } = act;
        if access.order == Order::SeqCst {
            state.fence(thread, access.scope, Order::SeqCst, place);
        }
        let now = &state.threads[thread as usize].now;
        let new = Event::new(now, act, span.offset, span.bytes);
        let old = if access.reads() { state.look(&new, span, held) } else { None };
        let observed = match &old {
            Some((_, value)) => state.acquire_old(&new, span, value.as_ref()),
            None => state.acquire(&new, span),
        };
        state.settle(thread);
        let now = &state.threads[thread as usize].now;
        for (cell, mask) in span.cells() {
            let new = new.of_cell(mask);
            let cell = state.shadow.cell(span.region, cell);
            if state.reports
                && let Some(old) = cell.race(&new, now, &state.shape)
            {
                return Err(Box::new(state.explain(&old, &new)));
            }
            if let Some((old, why)) = proxies::breach(cell, &new, now, &state.shape) {
                return Err(Box::new(Found { earlier: state.party(&old), why }));
            }
            cell.record(new, observed);
        }
        state.communicate(&new, span);
        if access.writes() {
            let is_early = state.begin_write(&new, span, held);
            let value =
                if is_early { state.release_early(&new, span) } else { state.release(&new, span) };
            state.leave(value);
        }
        Ok(old.map(|(old, _)| old))
    }

    /// The write that a thread began has left these bits in memory. If another write is the last of
    /// the location, returns that write's bits, which belong in memory instead.
    pub(crate) fn wrote(&self, bits: u128) -> Option<u128> {
        self.state.borrow_mut().weak.as_mut()?.end_write(bits)
    }

    /// A hash of the values that weak memory has drawn.
    pub(crate) fn decided(&self) -> u64 {
        self.state.borrow().weak.as_ref().map_or(0, Weak::decided)
    }

    /// A thread's fence.
    pub(crate) fn fence(&self, thread: u32, scope: Scope, order: Order, place: Place) {
        self.state.borrow_mut().fence(thread, scope, order, place);
    }

    /// The number of the protocol `name`, starting at 1.
    pub(crate) fn protocol(&self, name: &'static str) -> u8 {
        self.state.borrow_mut().protocols.number(name)
    }

    /// The block of a thread takes part in the barrier `name`, whose words begin at `words`.
    pub(crate) fn join(&self, thread: u32, name: &'static str, words: u64) {
        let state = &mut *self.state.borrow_mut();
        let block = state.shape.group(Level::Block, thread);
        state.protocols.join(name, words, block);
    }

    /// These threads have met at the barrier of their block, or of some lanes of their warp.
    pub(crate) fn meet(&self, threads: impl Iterator<Item = u32> + Clone) {
        self.state.borrow_mut().meet(threads);
    }

    /// A thread of the warp with this first thread arrives at a barrier of some warps.
    pub(crate) fn barrier_arrive(&self, thread: u32, (warp, barrier): (u32, u32)) {
        let state = &mut *self.state.borrow_mut();
        let stamp = state.threads[thread as usize].now.pass_on();
        state.arrivals.entry((warp, barrier)).or_default().absorb(&stamp);
    }

    /// A barrier opens for warps, given by their first threads, of which some threads have waited.
    /// These learn what all threads knew, if the barrier orders accesses.
    pub(crate) fn barrier_open(
        &self,
        barrier: u32,
        warps: impl Iterator<Item = u32>,
        waiting: impl Iterator<Item = u32>,
        orders: bool,
    ) {
        let state = &mut *self.state.borrow_mut();
        let mut all = Clock::default();
        for arrived in warps.filter_map(|warp| state.arrivals.remove(&(warp, barrier))) {
            all.join(&arrived);
        }
        for thread in waiting.filter(|_| orders) {
            state.threads[thread as usize].now.clock.join(&all);
        }
    }

    /// A thread arrives at the barrier of its cluster.
    pub(crate) fn cluster_arrive(&self, thread: u32, order: Order) {
        self.state.borrow_mut().cluster_arrive(thread, order);
    }

    /// The barrier of a thread's cluster has opened.
    pub(crate) fn cluster_opened(&self, thread: u32) {
        let state = &mut *self.state.borrow_mut();
        let cluster = state.cluster(thread);
        cluster.opened = core::mem::take(&mut cluster.arriving);
    }

    /// A thread has passed the barrier of its cluster.
    pub(crate) fn cluster_pass(&self, thread: u32) {
        let state = &mut *self.state.borrow_mut();
        let opened = state.cluster(thread).opened.clone();
        state.threads[thread as usize].now.clock.join(&opened);
        state.settle(thread);
    }
}

impl State {
    fn cluster(&mut self, thread: u32) -> &mut Cluster {
        let number = self.shape.group(Level::Cluster, thread);
        self.clusters.entry(number).or_default()
    }

    /// The reason why `old` and `new` race.
    #[cold]
    fn explain(&self, old: &Event, new: &Event) -> Found {
        let apart = self.shape.between(old.thread, new.thread);
        let narrow = |event: &&&Event| event.access.reach().is_some_and(|reach| reach < apart);
        let both_strong = old.access.reach().is_some() && new.access.reach().is_some();
        let why = match [old, new].iter().find(narrow) {
            Some(event) if both_strong => Why::Scope(event.access.scope),
            _ if both_strong => Why::Overlap,
            _ => self.missing_order(old, new),
        };
        Found { earlier: self.party(old), why }
    }

    /// What would order the two, if known: a link with something missing, a barrier that both could
    /// cross, or a protocol by which one learned of the other, but which does not order other
    /// memory.
    fn missing_order(&self, old: &Event, new: &Event) -> Why {
        let [old_block, new_block] =
            [old, new].map(|event| self.shape.group(Level::Block, event.thread));
        let same_block = old_block == new_block;
        let [old_grid, new_grid] = [old, new].map(|event| self.shape.grid(event.thread));
        if self.shape.overlap(old_grid, new_grid) {
            return Why::Grids { overlaps: true };
        }
        if [old, new].iter().any(|event| self.shape.is_copy(event.thread)) {
            return Why::Copy;
        }
        let barrier =
            if same_block { None } else { self.protocols.barrier_of(old_block, new_block) };
        if let Some(seen) = self.link_between(old, new, Links::own) {
            return Why::Link {
                write: self.party(&seen.head.write),
                read: self.party(&seen.read),
                release: seen.release,
                acquire: seen.acquire,
                barrier,
            };
        }
        if let Some(barrier) = barrier {
            return Why::Crossing(barrier);
        }
        if old_grid != new_grid && self.shape.are_on_one_gpu(old_grid, new_grid) {
            return Why::Grids { overlaps: false };
        }
        self.link_between(old, new, Links::of_protocols)
            .and_then(|seen| self.protocols.name(seen.read.protocol))
            .map_or(Why::Everything { same_block }, Why::Protocol)
    }

    /// The link among all threads' `links` that would order the two if nothing were missing in it.
    fn link_between<'s, I: Iterator<Item = &'s Seen>>(
        &'s self,
        old: &Event,
        new: &Event,
        links: impl Fn(&'s Links) -> I,
    ) -> Option<&'s Seen> {
        let now = &self.threads[new.thread as usize].now;
        let same_block = self.shape.between(old.thread, new.thread) == Level::Block;
        self.threads
            .iter()
            .flat_map(|thread| links(&thread.links))
            .filter(|seen| seen.would_order(old, now))
            .filter(|seen| !(same_block && is_by_chance(seen, old, new)))
            .min_by_key(|seen| seen.rank())
    }

    fn party(&self, event: &Event) -> Party {
        Party {
            thread: self.shape.owner(event.thread),
            access: event.access,
            bytes: event.bytes.into(),
            place: event.place,
        }
    }
}

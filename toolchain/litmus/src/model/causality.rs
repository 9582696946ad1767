//! Observation order, Fence-SC order, synchronisation and causality order.

use std::ops::ControlFlow;

use super::event::{Candidate, Kind};
use super::phases::Phases;
use super::reads_from::Sources;
use super::relation::{Relation, bits, completions};

/// Observation order: from a write to a read that is morally strong with it and reads from it,
/// continued through atomics.
fn observation(candidate: &Candidate, sources: &Sources) -> Relation {
    let mut direct = Relation::empty(candidate.events.len());
    for (read, source) in sources.iter().enumerate() {
        if let Some(write) = source.filter(|write| candidate.strong.has(*write, read)) {
            direct.add(write, read);
        }
    }
    let mut order = direct.clone();
    loop {
        let mut next = order.clone();
        for write in candidate.of(Kind::Write) {
            for read in bits(order.after(write)) {
                if let Some(partner) = candidate.events[read].partner {
                    for later in bits(direct.after(partner)) {
                        next.add(write, later);
                    }
                }
            }
        }
        if next == order {
            return order;
        }
        order = next;
    }
}

/// Release patterns that synchronise with acquire patterns, from the first operation of the release
/// pattern to the last operation of the acquire pattern.
fn patterns(candidate: &Candidate, observation: &Relation) -> Relation {
    let events = &candidate.events;
    let mut synchronises = Relation::empty(events.len());
    for write in candidate.of(Kind::Write).filter(|write| events[*write].strong.is_some()) {
        for read in bits(observation.after(write)).filter(|read| events[*read].strong.is_some()) {
            for first in firsts(candidate, write) {
                for last in lasts(candidate, read) {
                    if candidate.strong.has(first, last) {
                        synchronises.add(first, last);
                    }
                }
            }
        }
    }
    synchronises
}

/// The first operations of the release patterns with this write: a release on the location, the
/// write or one before it, or a fence before it.
fn firsts(candidate: &Candidate, write: usize) -> impl Iterator<Item = usize> {
    let location = candidate.events[write].location;
    candidate.events.iter().enumerate().filter_map(move |(first, event)| {
        let place = event.kind == Kind::Fence || event.location == location;
        let before = first == write || candidate.program.has(first, write);
        (event.releases && place && before).then_some(first)
    })
}

/// The last operations of the acquire patterns with this read. The read of a `red` has none.
fn lasts(candidate: &Candidate, read: usize) -> impl Iterator<Item = usize> {
    let location = candidate.events[read].location;
    let red = candidate.events[read].reduction;
    candidate.events.iter().enumerate().filter_map(move |(last, event)| {
        let place = event.kind == Kind::Fence || event.location == location;
        let after = last == read || candidate.program.has(read, last);
        (event.acquires && place && after && !red).then_some(last)
    })
}

/// Calls `visit` with the causality order of each Fence-SC order that does not contradict it.
pub(super) fn orders(
    candidate: &Candidate,
    sources: &Sources,
    phases: &Phases,
    visit: &mut dyn FnMut(&Relation) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let events = &candidate.events;
    let observation = observation(candidate, sources);
    let mut synchronises = patterns(candidate, &observation);
    for phase in phases {
        for &from in phase {
            for &to in phase.iter().filter(|to| **to != from && waits(candidate, **to)) {
                synchronises.add(from, to);
            }
        }
    }
    let fences: Vec<usize> = candidate.of(Kind::Fence).filter(|f| events[*f].sequential).collect();
    let mut known = Relation::empty(events.len());
    let mut pairs = Vec::new();
    for &a in &fences {
        for &b in fences.iter().filter(|b| candidate.strong.has(a, **b)) {
            // An order in which infinitely many fences of a spin come before another fence is not
            // an order of a run. So the iterations of spins come last, in sequence.
            if candidate.program.has(a, b) || events[a].round < events[b].round {
                known.add(a, b);
            } else if a < b && events[a].round == events[b].round {
                pairs.push((a, b));
            }
        }
    }
    known.close();
    completions(&known, &pairs, candidate.budget, &mut |fence_order| {
        let mut base = candidate.program.clone();
        base.unite(&synchronises);
        base.unite(fence_order);
        base.close();
        let mut causality = base.clone();
        causality.unite(&observation.then(&base));
        let contradiction = fences.iter().any(|&a| {
            fences.iter().any(|&b| {
                causality.has(a, b)
                    && (a == b || candidate.strong.has(a, b) && fence_order.has(b, a))
            })
        });
        if contradiction { ControlFlow::Continue(()) } else { visit(&causality) }
    })
}

/// Whether an event is a barrier at which the thread waits.
fn waits(candidate: &Candidate, event: usize) -> bool {
    use crate::program::Action;
    let thread = candidate.events[event].thread.unwrap_or(0);
    let step = event - candidate.starts[thread];
    matches!(candidate.paths[thread].steps[step].action, Action::Barrier { wait: true, .. })
}

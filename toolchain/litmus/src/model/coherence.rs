//! Coherence order, and the axioms.

use std::ops::ControlFlow;

use super::event::{Candidate, Kind};
use super::reads_from::Sources;
use super::relation::{Relation, bits, completions};

/// Calls `visit` with each coherence order that satisfies the axioms, given this causality order.
///
/// Two writes to one location are ordered if they are morally strong or one causally precedes the
/// other, and by transitivity. Writes that race are not ordered: an order between them would forbid
/// more and allow nothing new.
pub(super) fn orders(
    candidate: &Candidate,
    sources: &Sources,
    causality: &Relation,
    visit: &mut dyn FnMut(&Relation) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let events = &candidate.events;
    let writes: Vec<usize> = candidate.of(Kind::Write).collect();
    let mut known = Relation::empty(events.len());
    let mut pairs = Vec::new();
    for &a in &writes {
        for &b in writes.iter().filter(|b| events[**b].location == events[a].location) {
            let initial = events[a].thread.is_none() && a != b;
            // The axiom of coherence: causality order between writes is coherence order.
            if initial || causality.has(a, b) {
                known.add(a, b);
            } else if a < b && candidate.strong.has(a, b) {
                pairs.push((a, b));
            }
        }
    }
    known.close();
    completions(&known, &pairs, candidate.budget, &mut |coherence| {
        let from_read = from_read(candidate, sources, coherence);
        let allowed = atomicity(candidate, &from_read, coherence)
            && consistent_locations(candidate, sources, &from_read, coherence)
            && causal(candidate, sources, &from_read, causality)
            && fair(candidate, &from_read);
        if allowed { visit(coherence) } else { ControlFlow::Continue(()) }
    })
}

/// From each read to the writes that come after its source.
fn from_read(candidate: &Candidate, sources: &Sources, coherence: &Relation) -> Relation {
    let mut order = Relation::empty(candidate.events.len());
    for (read, source) in sources.iter().enumerate() {
        if let Some(source) = source {
            for write in bits(coherence.after(*source)) {
                order.add(read, write);
            }
        }
    }
    order
}

/// Atomicity: no write that is morally strong with an atomic comes between the write that the
/// atomic reads and its own write.
fn atomicity(candidate: &Candidate, from_read: &Relation, coherence: &Relation) -> bool {
    candidate.of(Kind::Read).all(|read| {
        let Some(write) = candidate.events[read].partner else { return true };
        let mut between = bits(from_read.after(read) & candidate.strong.after(read));
        !between.any(|other| coherence.has(other, write))
    })
}

/// Sequential consistency per location: program order on a location and morally strong
/// communication have no cycle.
fn consistent_locations(
    candidate: &Candidate,
    sources: &Sources,
    from_read: &Relation,
    coherence: &Relation,
) -> bool {
    let mut order = candidate.program_location.clone();
    for (event, source) in sources.iter().enumerate() {
        if let Some(source) = source.filter(|source| candidate.strong.has(*source, event)) {
            order.add(source, event);
        }
    }
    for event in 0..candidate.events.len() {
        let later = from_read.after(event) | coherence.after(event);
        for write in bits(later & candidate.strong.after(event)) {
            order.add(event, write);
        }
    }
    order.close();
    order.irreflexive()
}

/// Causality: no read reads from a write that it causally precedes, nor from one that was
/// overwritten by a write that causally precedes the read.
fn causal(
    candidate: &Candidate,
    sources: &Sources,
    from_read: &Relation,
    causality: &Relation,
) -> bool {
    candidate.of(Kind::Read).all(|read| {
        let later = sources[read].is_some_and(|source| causality.has(read, source));
        !later && !bits(from_read.after(read)).any(|write| causality.has(write, read))
    })
}

/// Fairness: a read of an endless spin does not forever miss a write that is morally strong with it
/// and comes after the write that it reads.
fn fair(candidate: &Candidate, from_read: &Relation) -> bool {
    let mut spins = candidate.of(Kind::Read).filter(|read| candidate.events[*read].round > 0);
    spins.all(|read| from_read.after(read) & candidate.strong.after(read) == 0)
}

//! The source of each read, and the resulting values.
//!
//! No-thin-air: reads-from and dependencies have no cycle. So the value of each read follows from
//! its source, along a finite chain. A write depends on the reads that its value is computed from,
//! on those compared by an earlier branch, and, in an atomic, on its own read.

use std::ops::ControlFlow;

use super::event::{Candidate, Kind};
use super::relation::Relation;
use crate::program::Value;

/// The write that each read reads, by event.
pub(super) type Sources = Vec<Option<usize>>;

/// The value depends on itself.
struct ThinAir;

/// Calls `visit` for each choice of sources that gives all reads a value and satisfies all
/// branches.
pub(super) fn choices(
    candidate: &Candidate,
    visit: &mut dyn FnMut(&Sources) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let reads: Vec<(usize, Vec<usize>)> =
        candidate.of(Kind::Read).map(|read| (read, sources(candidate, read))).collect();
    let mut chosen = vec![None; candidate.events.len()];
    choose(candidate, &reads, &mut chosen, visit)
}

fn choose(
    candidate: &Candidate,
    reads: &[(usize, Vec<usize>)],
    chosen: &mut Sources,
    visit: &mut dyn FnMut(&Sources) -> ControlFlow<()>,
) -> ControlFlow<()> {
    candidate.budget.step()?;
    if !possible(candidate, chosen) {
        return ControlFlow::Continue(());
    }
    let Some(((read, sources), rest)) = reads.split_first() else {
        return if acyclic(candidate, chosen) { visit(chosen) } else { ControlFlow::Continue(()) };
    };
    // Both iterations of an endless spin read the same, because some iteration repeats forever.
    let repeated = candidate.events[*read].repeats.and_then(|first| chosen[first]);
    for &source in sources.iter().filter(|source| repeated.is_none_or(|same| same == **source)) {
        chosen[*read] = Some(source);
        choose(candidate, rest, chosen, visit)?;
    }
    chosen[*read] = None;
    ControlFlow::Continue(())
}

/// The writes that a read may read from, as far as its own thread restricts them: no later write,
/// and none that the thread itself has overwritten. Coherence forbids the others.
fn sources(candidate: &Candidate, read: usize) -> Vec<usize> {
    let location = candidate.events[read].location;
    let own = |write: &usize| candidate.events[*write].thread == candidate.events[read].thread;
    let writes: Vec<usize> = candidate
        .of(Kind::Write)
        .filter(|write| candidate.events[*write].location == location)
        .collect();
    let last = writes.iter().filter(|write| own(write) && **write < read).max();
    let may = |write: &usize| match last {
        _ if own(write) => Some(write) == last,
        Some(_) => candidate.events[*write].thread.is_some(),
        None => true,
    };
    writes.iter().copied().filter(may).collect()
}

/// Whether no branch is known to go the other way.
fn possible(candidate: &Candidate, sources: &Sources) -> bool {
    candidate.paths.iter().enumerate().all(|(thread, path)| {
        let start = candidate.starts[thread];
        path.constraints.iter().all(|constraint| {
            let left = word(candidate, sources, &constraint.left, start);
            let right = word(candidate, sources, &constraint.right, start);
            match (left, right) {
                (Ok(Some(left)), Ok(Some(right))) => constraint.comparison.holds(left, right),
                (Err(ThinAir), _) | (_, Err(ThinAir)) => false,
                _ => true,
            }
        })
    })
}

/// The final value of `value` in a thread with this first event.
///
/// # Panics
/// Panics if a read that it depends on has no source or depends on itself. Neither happens in a
/// choice that [`choices`] visits.
pub(super) fn known(candidate: &Candidate, sources: &Sources, value: &Value, start: usize) -> i32 {
    match word(candidate, sources, value, start) {
        Ok(Some(word)) => word,
        _ => unreachable!("all reads have sources, and no value depends on itself"),
    }
}

/// The value of a write. See [`known`].
pub(super) fn known_write(candidate: &Candidate, sources: &Sources, write: usize) -> i32 {
    match candidate.written(write) {
        None => candidate.test.locations[write].initial,
        Some((value, start)) => known(candidate, sources, value, start),
    }
}

/// The value, or `None` if it depends on a read without a source.
fn word(
    candidate: &Candidate,
    sources: &Sources,
    value: &Value,
    start: usize,
) -> Result<Option<i32>, ThinAir> {
    deeper(candidate, sources, value, start, 0)
}

fn deeper(
    candidate: &Candidate,
    sources: &Sources,
    value: &Value,
    start: usize,
    depth: usize,
) -> Result<Option<i32>, ThinAir> {
    if depth > candidate.events.len() {
        return Err(ThinAir);
    }
    match value {
        Value::Constant(constant) => Ok(Some(*constant)),
        Value::Function(function, left, right) => {
            let left = deeper(candidate, sources, left, start, depth)?;
            let right = deeper(candidate, sources, right, start, depth)?;
            Ok(left.zip(right).map(|(left, right)| function.apply(left, right)))
        }
        Value::Read(read) => match sources[start + read] {
            None => Ok(None),
            Some(write) => match candidate.written(write) {
                None => Ok(Some(candidate.test.locations[write].initial)),
                Some((value, start)) => deeper(candidate, sources, value, start, depth + 1),
            },
        },
    }
}

/// Whether reads-from and dependencies have no cycle.
fn acyclic(candidate: &Candidate, sources: &Sources) -> bool {
    let mut order = Relation::empty(candidate.events.len());
    for (read, source) in sources.iter().enumerate() {
        if let Some(source) = source {
            order.add(*source, read);
        }
    }
    for (thread, path) in candidate.paths.iter().enumerate() {
        let start = candidate.starts[thread];
        for write in candidate.of(Kind::Write) {
            if candidate.events[write].thread != Some(thread) {
                continue;
            }
            if let Some(read) = candidate.events[write].partner {
                order.add(read, write);
            }
            let mut depend = |read: usize| order.add(start + read, write);
            if let Some((value, _)) = candidate.written(write) {
                value.reads(&mut depend);
            }
            let before = |after: usize| start + after <= write;
            for constraint in path.constraints.iter().filter(|branch| before(branch.after)) {
                constraint.left.reads(&mut depend);
                constraint.right.reads(&mut depend);
            }
        }
    }
    order.close();
    order.irreflexive()
}

//! Meetings of threads at barriers.
//!
//! A barrier is identified by its CTA, its number and its count. With a count, a phase ends each
//! time that this many threads have arrived. Without one, a phase ends when each thread of the CTA
//! whose code names the barrier waits at it or has ended.

use std::collections::{BTreeMap, BTreeSet};

use super::event::Candidate;
use super::reads_from::{Sources, known};
use crate::instruction::{Instruction, Operand};
use crate::program::{Action, End, written};
use crate::test::Thread;

/// Device, CTA, number, count.
type Barrier = (u32, u32, i32, Option<i32>);

/// An arrival at a barrier.
struct Call {
    event: usize,
    barrier: Barrier,
    wait: bool,
}

/// Progress of the threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Progress {
    /// Number of calls that each thread has made.
    made: Vec<usize>,
    /// The barrier at which each thread waits.
    waiting: Vec<Option<Barrier>>,
    /// The threads and events that have arrived in the current phase.
    arrived: BTreeMap<Barrier, Vec<(usize, usize)>>,
    /// The phases that have ended.
    phases: BTreeSet<Vec<usize>>,
}

/// A phase is the set of events that ended it, in ascending order.
pub(super) type Phases = BTreeSet<Vec<usize>>;

/// All ways in which the threads can meet such that each one ends as in its path.
pub(super) fn meetings(candidate: &Candidate, sources: &Sources) -> BTreeSet<Phases> {
    let calls: Vec<Vec<Call>> =
        (0..candidate.paths.len()).map(|thread| calls(candidate, sources, thread)).collect();
    let threads = calls.len();
    let first =
        Progress { made: vec![0; threads], waiting: vec![None; threads], ..Progress::default() };
    let mut seen = BTreeSet::from([first.clone()]);
    let mut open = vec![first];
    let mut found = BTreeSet::new();
    while let Some(progress) = open.pop() {
        let mut moved = false;
        for thread in 0..threads {
            let Some(call) = calls[thread].get(progress.made[thread]) else { continue };
            if progress.waiting[thread].is_some() {
                continue;
            }
            moved = true;
            let mut next = progress.clone();
            next.made[thread] += 1;
            next.waiting[thread] = call.wait.then_some(call.barrier);
            next.arrived.entry(call.barrier).or_default().push((thread, call.event));
            next.end_phases(candidate, &calls);
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
        let as_said = (0..threads).all(|thread| {
            progress.made[thread] == calls[thread].len()
                && progress.waiting[thread].is_some()
                    == (candidate.paths[thread].end == End::Blocked)
        });
        if !moved && as_said {
            found.insert(progress.phases);
        }
    }
    found
}

fn calls(candidate: &Candidate, sources: &Sources, thread: usize) -> Vec<Call> {
    let start = candidate.starts[thread];
    let place = &candidate.test.threads[thread];
    let steps = candidate.paths[thread].steps.iter().enumerate();
    let of_step = |(step, action): (usize, &Action)| match action {
        Action::Barrier { wait, id, count } => {
            let id = known(candidate, sources, id, start);
            let count = count.as_ref().map(|count| known(candidate, sources, count, start));
            let barrier = (place.gpu, place.cta, id, count);
            Some(Call { event: start + step, barrier, wait: *wait })
        }
        _ => None,
    };
    steps.filter_map(|(at, step)| of_step((at, &step.action))).collect()
}

impl Progress {
    /// Ends the phases that are complete.
    fn end_phases(&mut self, candidate: &Candidate, calls: &[Vec<Call>]) {
        let complete: Vec<Barrier> = self
            .arrived
            .iter()
            .filter(|(barrier, arrived)| self.complete(candidate, calls, **barrier, arrived))
            .map(|(barrier, _)| *barrier)
            .collect();
        for barrier in complete {
            let arrived = self.arrived.remove(&barrier).unwrap_or_default();
            for (thread, _) in &arrived {
                if self.waiting[*thread] == Some(barrier) {
                    self.waiting[*thread] = None;
                }
            }
            let mut events: Vec<usize> = arrived.into_iter().map(|(_, event)| event).collect();
            events.sort_unstable();
            self.phases.insert(events);
        }
    }

    fn complete(
        &self,
        candidate: &Candidate,
        calls: &[Vec<Call>],
        barrier: Barrier,
        arrived: &[(usize, usize)],
    ) -> bool {
        let (gpu, cta, id, count) = barrier;
        if let Some(count) = count {
            return usize::try_from(count) == Ok(arrived.len());
        }
        candidate.test.threads.iter().enumerate().all(|(number, thread)| {
            let ended = candidate.paths[number].end == End::Finished
                && self.made[number] == calls[number].len()
                && self.waiting[number].is_none();
            (thread.gpu, thread.cta) != (gpu, cta)
                || self.waiting[number] == Some(barrier)
                || ended
                || !names(thread, id)
        })
    }
}

/// Whether the code of a thread has a barrier without a count that may have this number.
fn names(thread: &Thread, id: i32) -> bool {
    thread.statements.iter().any(|statement| match statement.instruction {
        Instruction::Barrier { id: Operand::Constant(number), count: None, .. } => number == id,
        Instruction::Barrier { id: Operand::Register(register), count: None, .. } => {
            let changes = |other: &Instruction| written(other) == Some(register);
            thread.statements.iter().any(|other| changes(&other.instruction))
                || thread.registers.get(&register).copied().unwrap_or(0) == id
        }
        _ => false,
    })
}

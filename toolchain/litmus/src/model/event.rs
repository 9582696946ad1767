//! The events of one candidate execution, their program order and their moral strength.

use super::relation::{Budget, MOST_EVENTS, Relation};
use crate::error::TooLarge;
use crate::instruction::{FenceOrder, Location, Scope};
use crate::program::{Action, Path, Value};
use crate::test::{Test, Thread};

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Fence,
    Barrier,
}

/// An event: an initial write, or a step of a thread. An atomic is a read and a write.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// The thread, or `None` for an initial write.
    pub(super) thread: Option<usize>,
    pub(super) kind: Kind,
    /// The location of a read or write.
    pub(super) location: Option<Location>,
    /// The scope of a strong operation or a fence.
    pub(super) strong: Option<Scope>,
    /// Whether it is an acquire operation, or a fence that ends acquire patterns.
    pub(super) acquires: bool,
    /// Whether it is a release operation, or a fence that begins release patterns.
    pub(super) releases: bool,
    /// Whether it is a `fence.sc`.
    pub(super) sequential: bool,
    /// Whether it is the read of a `red`, which acquires nothing.
    pub(super) reduction: bool,
    /// The other half of an atomic.
    pub(super) partner: Option<usize>,
    /// The round of an endless spin, or 0.
    pub(super) round: u8,
    /// The event of the first round of a spin that this one repeats.
    pub(super) repeats: Option<usize>,
}

/// A path for each thread, as events. The values of reads are still open.
pub(super) struct Candidate<'a> {
    pub(super) test: &'a Test,
    pub(super) paths: &'a [&'a Path],
    pub(super) budget: &'a Budget,
    /// First the initial writes, in the order of the locations, then the events of each thread.
    pub(super) events: Vec<Event>,
    /// The first event of each thread.
    pub(super) starts: Vec<usize>,
    /// Program order.
    pub(super) program: Relation,
    /// Program order between operations on the same location.
    pub(super) program_location: Relation,
    /// Pairs of morally strong operations, in both directions.
    pub(super) strong: Relation,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(
        test: &'a Test,
        paths: &'a [&'a Path],
        budget: &'a Budget,
    ) -> Result<Self, TooLarge> {
        let mut events: Vec<Event> = (0..test.locations.len()).map(initial).collect();
        let mut starts = Vec::new();
        for (thread, path) in paths.iter().enumerate() {
            let start = events.len();
            starts.push(start);
            for step in &path.steps {
                let mut event = of_step(thread, &step.action);
                event.round = step.round;
                event.repeats = step.repeats.map(|step| start + step);
                if matches!(step.action, Action::Write { atomic: true, .. }) {
                    let read = events.len() - 1;
                    event.partner = Some(read);
                    events[read].partner = Some(read + 1);
                }
                events.push(event);
            }
        }
        if events.len() > MOST_EVENTS {
            return Err(TooLarge::Events { events: events.len(), limit: MOST_EVENTS });
        }
        let mut program = Relation::empty(events.len());
        let mut program_location = program.clone();
        let mut strong = program.clone();
        for (a, first) in events.iter().enumerate() {
            for (b, second) in events.iter().enumerate() {
                let same = first.thread.is_some() && first.thread == second.thread;
                let overlap = first.location.is_some() && first.location == second.location;
                if same && a < b {
                    program.add(a, b);
                    if overlap {
                        program_location.add(a, b);
                    }
                }
                if a != b && morally_strong(test, first, second) {
                    strong.add(a, b);
                }
            }
        }
        Ok(Self { test, paths, budget, events, starts, program, program_location, strong })
    }

    /// The events of a kind.
    pub(super) fn of(&self, kind: Kind) -> impl Iterator<Item = usize> {
        self.events.iter().enumerate().filter(move |(_, event)| event.kind == kind).map(|(e, _)| e)
    }

    /// The value of a write, with the first event of its thread. `None` for an initial write.
    pub(super) fn written(&self, write: usize) -> Option<(&'a Value, usize)> {
        let thread = self.events[write].thread?;
        let start = self.starts[thread];
        match &self.paths[thread].steps[write - start].action {
            Action::Write { value, .. } => Some((value, start)),
            _ => None,
        }
    }
}

/// The write before all threads start. It is not strong.
fn initial(location: usize) -> Event {
    Event {
        thread: None,
        kind: Kind::Write,
        location: Some(Location(location)),
        strong: None,
        acquires: false,
        releases: false,
        sequential: false,
        reduction: false,
        partner: None,
        round: 0,
        repeats: None,
    }
}

fn of_step(thread: usize, action: &Action) -> Event {
    let none = Event { thread: Some(thread), location: None, ..initial(0) };
    match action {
        Action::Read { from, access, reduction } => Event {
            kind: Kind::Read,
            location: Some(*from),
            strong: access.strong(),
            acquires: access.acquires() && !reduction,
            reduction: *reduction,
            ..none
        },
        Action::Write { to, access, .. } => Event {
            kind: Kind::Write,
            location: Some(*to),
            strong: access.strong(),
            releases: access.releases(),
            ..none
        },
        Action::Fence { order, scope } => Event {
            kind: Kind::Fence,
            strong: Some(*scope),
            acquires: *order != FenceOrder::Release,
            releases: *order != FenceOrder::Acquire,
            sequential: *order == FenceOrder::Sc,
            ..none
        },
        Action::Barrier { .. } => Event { kind: Kind::Barrier, ..none },
    }
}

/// Two operations are morally strong if one thread does both, or both are strong and the scope of
/// each includes the thread of the other. Two memory operations must also overlap completely.
fn morally_strong(test: &Test, a: &Event, b: &Event) -> bool {
    let (Some(first), Some(second)) = (a.thread, b.thread) else { return false };
    let overlap = match (a.location, b.location) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    let included = match (a.strong, b.strong) {
        (Some(one), Some(other)) => {
            let (first, second) = (&test.threads[first], &test.threads[second]);
            includes(one, first, second) && includes(other, first, second)
        }
        _ => false,
    };
    overlap && (first == second || included)
}

/// Whether a scope of one thread includes the other.
fn includes(scope: Scope, a: &Thread, b: &Thread) -> bool {
    match scope {
        Scope::Cta => (a.gpu, a.cta) == (b.gpu, b.cta),
        Scope::Gpu => a.gpu == b.gpu,
        Scope::Sys => true,
    }
}

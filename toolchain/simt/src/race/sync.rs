//! Synchronisation of threads by locations, fences and barriers.

use super::State;
use super::cell::{CELL_BYTES, Event};
use super::clock::{Clock, Stamp};
use super::links::Seen;
use super::reach::{Level, Shape};
use super::report::Flaw;
use super::shadow::Span;
use super::thread::{Fence, Location, Thread};
use super::value::{Head, Value, add_head};
use crate::access::{Order, Scope};
use crate::place::Place;
use std::rc::Rc;

impl State {
    /// A read learns what was released to its location, as far as it acquires. Returns how many
    /// writes it observes.
    pub(super) fn acquire(&mut self, new: &Event, span: Span) -> u32 {
        let Some(reach) = new.access.reach().filter(|_| new.access.reads()) else {
            return 0;
        };
        let location = (span.region, span.offset);
        let reader = &mut self.threads[new.thread as usize];
        if new.access.order.acquires() {
            reader.acquire_from(location, reach);
        }
        let cell = self.shadow.cell(span.region, span.offset / CELL_BYTES);
        let here = |value: &&Value| value.write.is_of(new.start, new.bytes);
        match cell.values.iter().find(here) {
            Some(value) => learn(reader, &self.shape, new, location, value),
            None => 0,
        }
    }

    /// A read of an old value learns what was released to that value.
    pub(super) fn acquire_old(&mut self, new: &Event, span: Span, value: Option<&Value>) -> u32 {
        let location = (span.region, span.offset);
        let reader = &mut self.threads[new.thread as usize];
        if let Some(reach) = new.access.reach()
            && new.access.order.acquires()
        {
            reader.acquire_from(location, reach);
        }
        if let Some(value) = value
            && new.access.reach().is_some()
        {
            learn(reader, &self.shape, new, location, value);
        }
        // The observed writes are not the last ones.
        0
    }

    /// A write leaves what it releases for readers to acquire. Returns that, if memory is weak.
    pub(super) fn release(&mut self, new: &Event, span: Span) -> Option<Value> {
        let (first, mask) = span.cells().next().expect("an access has bytes");
        let new = new.of_cell(mask);
        let values = &mut self.shadow.cell(span.region, first).values;
        let here = |value: &Value| value.write.is_of(new.start, new.bytes);
        if new.access.reach().is_none() {
            values.retain(|value| value.write.mask & mask == 0);
            return None;
        }
        values.retain(|value| value.write.mask & mask == 0 || here(value));
        let at = values.iter().position(here).unwrap_or_else(|| {
            values.push(Value::of(new));
            values.len() - 1
        });
        let mut value = values.swap_remove(at);
        let continues = new.access.reads() && value.write.morally_strong(&new, &self.shape);
        if !continues {
            value.restart();
        }
        value.write = new;
        self.add_released(span, &mut value);
        let writer = &mut self.threads[new.thread as usize];
        leave(writer, &new, &mut value, self.shape.widest, self.reports);
        let left = self.weak.is_some().then(|| value.clone());
        self.shadow.cell(span.region, first).values.push(value);
        left
    }

    /// Like `release`, for a write that is not the last one of its location.
    pub(super) fn release_early(&mut self, new: &Event, span: Span) -> Option<Value> {
        let (_, mask) = span.cells().next().expect("an access has bytes");
        let new = new.of_cell(mask);
        new.access.reach()?;
        let mut value = Value::of(new);
        self.add_released(span, &mut value);
        let writer = &mut self.threads[new.thread as usize];
        leave(writer, &new, &mut value, self.shape.widest, self.reports);
        Some(value)
    }

    /// A fence (PTX ISA, "membar / fence"). `fence.sc` acquires and releases like any other, and
    /// has an [order](super::sequential).
    pub(super) fn fence(&mut self, number: u32, scope: Scope, order: Order, place: Place) {
        if order.acquires() {
            self.threads[number as usize].acquire(scope, place);
        }
        if order == Order::SeqCst {
            self.order_fence(number, Level::of(scope));
        }
        self.settle(number);
        if order.releases() {
            self.threads[number as usize].release(scope, place);
        }
    }

    /// Afterwards each of these threads knows what all of them knew.
    pub(super) fn meet(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        let mut all = Clock::default();
        let mut last = Clock::default();
        for thread in threads.clone() {
            // Most threads of a block share the clock of their last barrier.
            let clock = &self.threads[thread as usize].now.clock;
            if !clock.is(&last) {
                all.join(clock);
                last = clock.clone();
            }
        }
        for thread in threads.clone() {
            all.raise(thread, self.threads[thread as usize].now.epoch);
        }
        for thread in threads {
            let now = &mut self.threads[thread as usize].now;
            now.epoch += 1;
            now.clock = all.clone();
        }
    }

    /// A releasing arrival passes on what its thread knows. A relaxed one passes on what the
    /// thread's last fence at cluster scope or wider released (PTX ISA, `barrier.cluster`).
    pub(super) fn cluster_arrive(&mut self, thread: u32, order: Order) {
        let arriving = &mut self.threads[thread as usize];
        let stamps: Vec<_> = if order.releases() {
            vec![arriving.now.pass_on()]
        } else {
            let fences = arriving.fences[Level::Cluster as usize..].iter().flatten();
            fences.map(|fence| fence.stamp.clone()).collect()
        };
        let cluster = self.cluster(thread);
        stamps.iter().for_each(|stamp| cluster.arriving.absorb(stamp));
    }
}

/// Lets a strong read of `value` learn what was released to it, as far as it acquires. Returns how
/// many writes it observes.
fn learn(
    reader: &mut Thread,
    shape: &Shape,
    new: &Event,
    location: Location,
    value: &Value,
) -> u32 {
    let Some(reach) = new.access.reach().filter(|_| value.write.morally_strong(new, shape)) else {
        return 0;
    };
    let acquires = new.access.order.acquires();
    let new_to = |now: &Stamp, head: &Head| !now.knows(head.stamp.thread, head.stamp.epoch);
    let takes_all = acquires && reach >= shape.widest;
    if takes_all
        && value
            .heads
            .iter()
            .any(|head| head.reach >= Some(shape.widest) && new_to(&reader.now, head))
    {
        reader.now.clock.join(&value.everywhere);
    }
    for head in &value.heads {
        let writer = head.stamp.thread;
        if !new_to(&reader.now, head) {
            continue;
        }
        let apart = shape.between(writer, new.thread);
        let release = head.flaw(apart);
        let acquire = match acquires {
            true if apart <= reach => None,
            true => Some(Flaw::Scope { scope: new.access.scope, fence: None }),
            false => Some(Flaw::Absent),
        };
        if release.is_none() && acquire.is_none() {
            reader.now.clock.absorb(&head.stamp);
            continue;
        }
        if release.is_none() {
            reader.saw(location, apart, &head.stamp);
        }
        reader.links.note(Seen { head: head.clone(), read: *new, apart, release, acquire });
    }
    value.run
}

/// Stores in the location's value everything that the thread has released there, and the rest only
/// for reports.
fn leave(writer: &mut Thread, new: &Event, value: &mut Value, widest: Level, reports: bool) {
    let head = |stamp, reach, fence| Rc::new(Head { stamp, reach, fence, write: *new });
    let of_fence = |Fence { stamp, scope, place }: &Fence| {
        head(stamp.clone(), Some(Level::of(*scope)), Some((*scope, *place)))
    };
    let mut patterns: Vec<_> = writer.fences.iter().flatten().map(of_fence).collect();
    value.run += 1;
    if new.access.order.releases() {
        add_head(&mut value.released, head(writer.pass_on(), new.access.reach(), None));
    } else {
        // For everything after the last fence. What comes after the write is in the next epoch.
        let stamp = writer.now.pass_on();
        if reports {
            patterns.push(head(stamp, None, None));
        }
    }
    // An earlier release may reach further than this one.
    let mine = |head: &&Rc<Head>| head.stamp.thread == new.thread;
    patterns.extend(value.released.iter().filter(mine).cloned());
    for pattern in patterns {
        value.pass_on(pattern, widest);
    }
}

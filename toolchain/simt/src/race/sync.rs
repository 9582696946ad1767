//! What orders threads: locations, fences, barriers.

use super::State;
use super::cell::{CELL_BYTES, Event};
use super::clock::{Clock, Stamp};
use super::links::Seen;
use super::reach::Level;
use super::report::Flaw;
use super::shadow::Span;
use super::value::{Head, Value, add_head};
use crate::access::{Order, Scope};
use crate::dim::Place;

impl State {
    /// A read learns what was released to it, as far as it acquires. Returns how many writes it
    /// observes.
    pub(super) fn acquire(&mut self, new: &Event, span: Span) -> u32 {
        let Some(reach) = new.access.reach().filter(|_| new.access.reads()) else {
            return 0;
        };
        let location = (span.region, span.offset);
        let reader = &mut self.threads[new.thread as usize];
        let acquires = new.access.order.acquires();
        if acquires {
            reader.acquire_from(location, reach);
        }
        let cell = self.shadow.cell(span.region, span.offset / CELL_BYTES);
        let here = |value: &&Value| value.write.is_of(new.start, new.bytes);
        let Some(value) = cell.values.iter().find(here) else {
            return 0;
        };
        if !value.write.morally_strong(new, &self.shape) {
            return 0;
        }
        let new_to = |now: &Stamp, head: &Head| !now.knows(head.stamp.thread, head.stamp.epoch);
        let takes_all = acquires && reach == Level::Device;
        if takes_all
            && value
                .heads
                .iter()
                .any(|head| head.reach == Some(Level::Device) && new_to(&reader.now, head))
        {
            reader.now.clock.join(&value.everywhere);
        }
        for head in &value.heads {
            let writer = head.stamp.thread;
            if !new_to(&reader.now, head) {
                continue;
            }
            let apart = self.shape.between(writer, new.thread);
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

    /// A write leaves what it releases for readers to acquire.
    pub(super) fn release(&mut self, new: &Event, span: Span) {
        if !new.access.writes() {
            return;
        }
        let (first, mask) = span.cells().next().expect("an access has bytes");
        let new = new.of_cell(mask);
        let values = &mut self.shadow.cell(span.region, first).values;
        let here = |value: &Value| value.write.is_of(new.start, new.bytes);
        let Some(reach) = new.access.reach() else {
            values.retain(|value| value.write.mask & mask == 0);
            return;
        };
        values.retain(|value| value.write.mask & mask == 0 || here(value));
        let writer = &mut self.threads[new.thread as usize];
        let head = |stamp, reach| Head { stamp, reach, fence: None, write: new };
        let fences = writer.fences.iter().flatten();
        let mut patterns: Vec<Head> = fences
            .map(|fence| Head {
                fence: Some((fence.scope, fence.place)),
                ..head(fence.stamp.clone(), Some(Level::of(fence.scope)))
            })
            .collect();
        let releases = new.access.order.releases();
        let own = releases.then(|| head(writer.pass_on(), Some(reach)));
        let at = values.iter().position(here).unwrap_or_else(|| {
            values.push(Value::of(new));
            values.len() - 1
        });
        let value = &mut values[at];
        let continues = new.access.reads() && value.write.morally_strong(&new, &self.shape);
        if !continues {
            value.restart();
        }
        value.run += 1;
        value.write = new;
        match own {
            Some(own) => {
                add_head(&mut value.released, own.clone());
                patterns.push(own);
            }
            None => {
                let mine = |head: &&Head| head.stamp.thread == new.thread;
                patterns.extend(value.released.iter().filter(mine).cloned());
            }
        }
        if !releases {
            // For what came after the last fence. What comes after the write is in the next epoch.
            patterns.push(head(writer.now.pass_on(), None));
        }
        for pattern in patterns {
            value.pass_on(pattern);
        }
    }

    /// A fence (PTX ISA, "membar / fence"). `fence.sc` acquires and releases like any other. The
    /// order of two fences that meet in no pattern is ignored: it is chance in this run, and may be
    /// opposite in another.
    pub(super) fn fence(&mut self, thread: u32, scope: Scope, order: Order, place: Place) {
        let thread = &mut self.threads[thread as usize];
        if order.acquires() {
            thread.acquire(scope, place);
        }
        if order.releases() {
            thread.release(scope, place);
        }
    }

    /// Afterwards each of these threads knows what all of them knew.
    pub(super) fn meet(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        let mut all = Clock::default();
        let mut last = Clock::default();
        for thread in threads.clone() {
            // Most threads of a block share the numbers of their last barrier.
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

//! Four bytes of memory, and the accesses to them that may still be part of a race.

use super::Act;
use super::clock::Stamp;
use super::reach::Shape;
use super::value::Value;
use crate::access::{Access, Space};
use crate::place::Place;

/// Up to this number of weak reads, a cell does not drop any.
const FEW_READS: usize = 192;

/// Bytes of a cell.
pub(super) const CELL_BYTES: usize = 4;

/// An access as recorded in a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) thread: u32,
    pub(super) epoch: u32,
    pub(super) place: Place,
    pub(super) access: Access,
    /// The low bits of its start address, and its width. Two accesses that overlap do so completely
    /// if both are equal.
    pub(super) start: u8,
    pub(super) bytes: u8,
    /// A bit for each byte of the cell that no later access has covered.
    pub(super) mask: u8,
    /// The number of the protocol that it is part of; 0 for none.
    pub(super) protocol: u8,
    /// For a write its number, for a read the number of the last write before it.
    turn: u32,
    /// The first of the writes up to `turn` that come before it in observation order; `u32::MAX` if
    /// there is none.
    since: u32,
}

impl Event {
    /// An access by a thread at stamp `now`, starting at `offset` of its region.
    pub(super) fn new(now: &Stamp, act: Act, offset: usize, bytes: usize) -> Self {
        Self {
            thread: now.thread,
            epoch: now.epoch,
            place: act.place,
            access: act.access,
            start: offset as u8,
            bytes: bytes as u8,
            mask: 0,
            protocol: act.protocol,
            turn: 0,
            since: u32::MAX,
        }
    }

    /// The access as recorded in a cell; `mask` has the bytes of the cell that it touches.
    pub(super) fn of_cell(self, mask: u8) -> Self {
        Self { mask, ..self }
    }

    /// Whether the two access the same location: if they overlap, they do so completely.
    pub(super) fn is_of(&self, start: u8, bytes: u8) -> bool {
        (self.start, self.bytes) == (start, bytes)
    }

    /// Whether both are strong, each has a scope that includes the other, and they overlap
    /// completely if at all (PTX ISA, "Morally Strong Operations").
    pub(super) fn morally_strong(&self, other: &Self, shape: &Shape) -> bool {
        let (Some(mine), Some(theirs)) = (self.access.reach(), other.access.reach()) else {
            return false;
        };
        self.is_of(other.start, other.bytes)
            && shape.between(self.thread, other.thread) <= mine.min(theirs)
    }

    /// Whether everything that races with `old` also races with this access, which does not race
    /// with it. Neither of the two is a weak read.
    // A weak write follows all accesses that it does not race with. A strong access replaces only
    // those of its own thread.
    fn covers(&self, old: &Self) -> bool {
        let (new, old_access) = (self.access, old.access);
        new.reach().is_none()
            || self.thread == old.thread
                && old_access.reach() == new.reach()
                && old.is_of(self.start, self.bytes)
                && new.reads() >= old_access.reads()
                && new.writes() >= old_access.writes()
    }

    fn is_weak_read(&self) -> bool {
        !self.access.writes() && self.access.reach().is_none()
    }

    /// The sort key of weak reads.
    fn key(&self) -> (u32, u8) {
        (self.thread, self.mask)
    }
}

/// Four bytes and the accesses to them.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// Weak reads. Only the last read of the same bytes by a thread matters; the others are dropped
    /// when there are many.
    reads: Vec<Event>,
    /// Number of weak reads above which some are dropped.
    most_reads: usize,
    /// All other accesses.
    others: Vec<Event>,
    /// Writes so far.
    turn: u32,
    /// Values left by strong writes that start in this cell, by location.
    pub(super) values: Vec<Value>,
}

impl Cell {
    /// An earlier access that races with `new`, by a thread at stamp `now` (PTX ISA, "Data-Races").
    pub(super) fn race(&self, new: &Event, now: &Stamp, shape: &Shape) -> Option<Event> {
        let is_write = new.access.writes();
        // Of many accesses to one word nearly all stop here, so this part is compiled into the loops.
        let conflicts = |old: &&Event| {
            old.mask & new.mask != 0
                && (is_write || old.access.writes())
                && !now.knows(old.thread, old.epoch)
        };
        let races = |old: &&Event| {
            !old.morally_strong(new, shape)
                && !self.observed(old, |thread, epoch| now.knows(thread, epoch))
        };
        let other = self.others.iter().filter(conflicts).find(races);
        let reads =
            || self.reads.iter().filter(conflicts).filter(races).min_by_key(|old| old.key());
        other.or_else(|| is_write.then(reads).flatten()).copied()
    }

    /// Whether this write was observed by a strong read that happened before, according to
    /// `is_before` for the read's epoch. If so, the write happened before too, but not the accesses
    /// before the write (PTX ISA, "Causality Order", 2).
    fn observed(&self, write: &Event, is_before: impl Fn(u32, u32) -> bool) -> bool {
        let observes = |read: &Event| {
            (read.since..=read.turn).contains(&write.turn)
                && read.access.reads()
                && is_before(read.thread, read.epoch)
        };
        write.access.writes() && write.access.reach().is_some() && self.others.iter().any(observes)
    }

    /// An earlier ordinary access that conflicts with `new`, an access of a bulk copy at stamp
    /// `now`, and that happened before it, but without a proxy fence in between.
    pub(super) fn unfenced(&self, new: &Event, now: &Stamp, shape: &Shape) -> Option<Event> {
        let space = new.access.space;
        let knows = |thread, epoch| now.knows(thread, epoch);
        let fenced = |thread, epoch| now.clock.fenced(space, thread) >= epoch;
        let is_unfenced = |old: &Event| {
            old.mask & new.mask != 0
                && (old.access.writes() || new.access.writes())
                && !shape.is_bulk(old.thread)
                && (knows(old.thread, old.epoch) || self.observed(old, knows))
                && !fenced(old.thread, old.epoch)
                && !self.observed(old, fenced)
        };
        let reads = new.access.writes().then_some(&self.reads);
        let old = self.others.iter().chain(reads.into_iter().flatten());
        old.copied().find(is_unfenced)
    }

    /// A write to the bytes of `new` by its own grid, or by one whose end did not come before.
    pub(super) fn write_of_grid(&self, new: &Event, now: &Stamp, shape: &Shape) -> Option<Event> {
        let is_write = |old: &Event| {
            old.mask & new.mask != 0
                && old.access.writes()
                && (shape.grid(old.thread) == shape.grid(new.thread)
                    || now.clock.fenced(Space::Global, old.thread) < old.epoch)
        };
        self.others.iter().copied().find(is_write)
    }

    /// Records an access that does not race with earlier ones. It observes the last `observed`
    /// writes.
    pub(super) fn record(&mut self, mut new: Event, observed: u32) {
        new.since = match observed {
            0 => u32::MAX,
            writes => self.turn + 1 - writes,
        };
        if new.access.writes() {
            self.turn += 1;
        }
        new.turn = self.turn;
        if new.is_weak_read() {
            self.reads.push(new);
            if self.reads.len() > self.most_reads {
                self.keep_last_reads();
            }
            return;
        }
        let weak = new.access.reach().is_none();
        // A strong access covers those of its own thread alone: see `covers`.
        let mut is_covered = false;
        for old in &mut self.others {
            if (weak || old.thread == new.thread) && new.covers(old) {
                old.mask &= !new.mask;
                is_covered |= old.mask == 0;
            }
        }
        if is_covered {
            self.others.retain(|old| old.mask != 0);
        }
        self.others.push(new);
        if weak {
            self.reads.retain_mut(|old| {
                old.mask &= !new.mask;
                old.mask != 0
            });
        }
    }

    /// Drops weak reads that are followed by another read of the same bytes by the same thread.
    fn keep_last_reads(&mut self) {
        self.reads.sort_by_key(Event::key);
        self.reads.dedup_by(|next, last| {
            let again = next.key() == last.key();
            if again {
                *last = *next;
            }
            again
        });
        self.most_reads = FEW_READS.max(2 * self.reads.len());
    }
}

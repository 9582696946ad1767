//! Weak memory: the history of each location, and which old values a read may still return.
//!
//! A read may return any value that the model does not hide from it. A write hides older ones in
//! the coherence order of its location from all reads that it happened before, and from all that
//! come after a strong read of it (PTX ISA, "Causality Order" and the axiom of causality). A write
//! can be placed anywhere in that order, but not before a write that it knows of. Both choices are
//! random.
//!
//! The bytes in memory are always those of the location's last write. An older value is put there
//! for the duration of a read.

use super::State;
use super::cell::Event;
use super::clock::Stamp;
use super::locations::Locations;
use super::sequential::Passed;
use super::shadow::Span;
use super::thread::Location;
use super::value::{Head, Value, add_head};
use crate::access::AccessKind;
use crate::replay::Recorder;
use crate::schedule::SplitMix;
use crate::search::Guide;
use crate::world::mix;
use std::collections::HashMap;
use std::rc::Rc;

/// Maximum number of values remembered per location.
const MOST: usize = 8;

/// One in this many eligible reads returns an old value; and one in this many writes is placed
/// before others.
const STALE: u64 = 2;
const EARLY: u64 = 4;

/// Up to this number of readers, a version does not drop any.
const FEW_READERS: usize = 192;

/// The histories of locations since their first write in this launch.
#[derive(Debug)]
pub(super) struct Weak {
    random: SplitMix,
    /// Decides instead of the random numbers, if present.
    guide: Option<Rc<Guide>>,
    recorder: Option<Rc<Recorder>>,
    /// A hash of all choices.
    decided: u64,
    pub(super) locations: Locations,
    /// Whether a weak read of an old value is repeated as long as possible, as if from a register.
    sticks: bool,
    /// The version that a thread's weak reads of a location stick to.
    stuck: HashMap<(u32, u64, usize), u64>,
    /// A write whose value is not known yet.
    pending: Option<Pending>,
    versions: u64,
}

/// Chooses the values of reads and the positions of writes: a guide, a script, or the seed.
#[derive(Debug)]
pub(crate) struct Draws {
    pub(crate) seed: u64,
    pub(crate) guide: Option<Rc<Guide>>,
    pub(crate) recorder: Option<Rc<Recorder>>,
}

#[derive(Debug)]
struct Pending {
    location: (u64, usize),
    version: u64,
}

/// The values of one location, in coherence order.
#[derive(Debug)]
pub(super) struct History {
    pub(super) bytes: usize,
    pub(super) versions: Vec<Version>,
    /// What threads have released by writes to it, as in [`Value::released`], because the last
    /// value may come from another write, or be weak.
    released: Vec<Rc<Head>>,
}

impl History {
    /// The empty history of a location of `bytes` bytes.
    pub(super) fn of(bytes: usize) -> Self {
        Self { bytes, versions: Vec::new(), released: Vec::new() }
    }
}

/// An old value that a read returns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Old {
    pub(crate) bits: u128,
    /// Whether the thread's next reads return it too, as long as they may.
    pub(crate) is_stuck: bool,
}

/// A value of a location.
#[derive(Debug)]
pub(super) struct Version {
    number: u64,
    bits: u128,
    /// The write; `None` for the value before the first one.
    write: Option<Event>,
    /// The value that an acquiring read of it learns from, if the write is strong.
    value: Option<Value>,
    /// The threads that have read it, and those that have observed it by a strong read.
    readers: Readers,
    observers: Readers,
    /// What it passes on to `fence.sc`.
    pub(super) passed: Passed,
}

/// Threads, with their epochs. Only the first epoch of a thread matters, because a clock that
/// includes a later one includes it too; the others are dropped when there are many.
#[derive(Debug, Default)]
struct Readers {
    list: Vec<(u32, u32)>,
    most: usize,
}

impl Readers {
    fn add(&mut self, thread: u32, epoch: u32) {
        self.list.push((thread, epoch));
        if self.list.len() > self.most {
            self.list.sort_unstable();
            self.list.dedup_by_key(|&mut (thread, _)| thread);
            self.most = FEW_READERS.max(2 * self.list.len());
        }
    }

    /// Whether one of them happened before this stamp.
    fn any_before(&self, now: &Stamp) -> bool {
        self.list.iter().any(|&(thread, epoch)| now.knows(thread, epoch))
    }
}

impl Version {
    /// Whether it hides older versions from an access at this stamp.
    fn hides_older(&self, now: &Stamp) -> bool {
        self.write.is_none_or(|write| now.knows(write.thread, write.epoch))
            || self.observers.any_before(now)
    }

    /// Whether a write at this stamp must come after it, because it knows the write or a read of
    /// it.
    fn is_before(&self, now: &Stamp) -> bool {
        self.hides_older(now) || self.readers.any_before(now)
    }

    /// The threads and epochs of its write and of the reads that observed it.
    pub(super) fn followers(&self) -> impl Iterator<Item = (u32, u32)> {
        let write = self.write.map(|write| (write.thread, write.epoch));
        write.into_iter().chain(self.observers.list.iter().copied())
    }

    /// Whether it was made from the version before it, so that no write can come between them.
    fn is_update(&self) -> bool {
        self.write.is_some_and(|write| write.access.kind == AccessKind::Atomic)
    }
}

impl Weak {
    pub(super) fn new(Draws { seed, guide, recorder }: Draws) -> Self {
        let mut random = SplitMix(seed ^ 0x5EA1_07EA_5EED);
        Self {
            sticks: random.below(2) == 0 && guide.is_none(),
            random,
            guide,
            recorder,
            decided: 0,
            locations: Locations::default(),
            stuck: HashMap::new(),
            pending: None,
            versions: 0,
        }
    }

    /// The version that a read sees: its index, and whether it is the last.
    fn choose(
        &mut self,
        new: &Event,
        now: &Stamp,
        location: (u64, usize),
    ) -> Option<(usize, bool)> {
        let history = self.locations.get(location)?;
        let last = history.versions.len() - 1;
        let hides = |version: &Version| version.hides_older(now);
        let oldest = history.versions.iter().rposition(hides).unwrap_or(0);
        if new.access.writes() || oldest == last {
            return Some((last, true));
        }
        let sticks = self.sticks && new.access.reach().is_none();
        let key = (new.thread, location.0, location.1);
        if sticks && let Some(number) = self.stuck.get(&key) {
            let is_it = |version: &Version| version.number == *number;
            let at = history.versions.iter().position(is_it).filter(|&at| at >= oldest);
            if let Some(at) = at {
                return Some((at, at == last));
            }
        }
        let older = last - oldest;
        let back = self.draw(new.thread, older + 1, |random| match random.below(STALE) {
            0 => older - random.below(older as u64) as usize,
            _ => 0,
        });
        if back == 0 {
            return Some((last, true));
        }
        let at = last - back;
        if sticks {
            let history = self.locations.get(location)?;
            self.stuck.insert(key, history.versions[at].number);
        }
        Some((at, false))
    }

    /// The position of a write in the order of its location.
    fn place(&mut self, now: &Stamp, location: (u64, usize), is_update: bool) -> usize {
        let Some(history) = self.locations.get(location) else { return 0 };
        let end = history.versions.len();
        if is_update {
            return end;
        }
        let known = |version: &Version| version.is_before(now);
        let first = history.versions.iter().rposition(known).map_or(0, |at| at + 1);
        let free = |&at: &usize| !history.versions[at].is_update();
        let places: Vec<usize> = (first..end).filter(free).collect();
        let chosen = self.draw(now.thread, places.len() + 1, |random| match places.len() as u64 {
            0 => 0,
            _ if random.below(EARLY) > 0 => 0,
            places => 1 + random.below(places) as usize,
        });
        if chosen == 0 { end } else { places[chosen - 1] }
    }

    /// The number of the next version.
    fn number(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }

    /// Begins the history of a location, unless it has one. `before` are the bits in memory, if
    /// they were written.
    fn begin_history(&mut self, location: Location, bytes: usize, before: Option<u128>) {
        if self.locations.get(location).is_none() {
            let before = before.map(|bits| Version::of(self.number(), bits, None));
            let versions = before.into_iter().collect();
            self.locations.insert(location, History { versions, ..History::of(bytes) });
        }
    }

    /// Chooses one of `count` alternatives for a thread: 0 is the last value, or the last position.
    fn draw(
        &mut self,
        thread: u32,
        count: usize,
        draw: impl FnOnce(&mut SplitMix) -> usize,
    ) -> usize {
        let random = &mut self.random;
        let chosen = match (&self.guide, &self.recorder) {
            (Some(guide), _) => guide.choose(count),
            (None, Some(recorder)) => recorder.choose(thread, count, || draw(random)),
            (None, None) => draw(random),
        };
        self.decided = mix(self.decided, chosen as u64);
        chosen
    }

    /// A hash of all choices.
    pub(super) fn decided(&self) -> u64 {
        self.decided
    }
}

impl State {
    /// A read by a thread: the value that it sees instead of the one in memory, and the value that
    /// it acquires from.
    ///
    /// `before` are the bits in memory, if they were written.
    pub(super) fn look(
        &mut self,
        new: &Event,
        span: Span,
        before: Option<u128>,
    ) -> Option<(Old, Option<Value>)> {
        let may_order = self.may_order(new);
        let weak = self.weak.as_mut()?;
        if self.shape.is_copy(new.thread) {
            return None;
        }
        weak.locations.forget_overlaps(span, false);
        let location = (span.region, span.offset);
        let now = &self.threads[new.thread as usize].now;
        // A later write has to find what this read passes on.
        if may_order && !now.clock.fences.is_empty() && before.is_some() {
            weak.begin_history(location, span.bytes, before);
        }
        let (at, is_last) = weak.choose(new, now, location)?;
        let version = &mut weak.locations.get_mut(location)?.versions[at];
        let observes = version.write.is_some_and(|write| write.morally_strong(new, &self.shape));
        let readers = if observes { &mut version.observers } else { &mut version.readers };
        readers.add(new.thread, new.epoch);
        let is_stuck = weak.sticks && new.access.reach().is_none();
        let old = (!is_last).then(|| (Old { bits: version.bits, is_stuck }, version.value.clone()));
        if may_order {
            self.communicate_read(new.thread, location, at, observes);
        }
        old
    }

    /// A write by a thread, before its bits are known. `before` are the bits in memory, if they
    /// were written. Returns whether it is not the location's last.
    pub(super) fn begin_write(&mut self, new: &Event, span: Span, before: Option<u128>) -> bool {
        let may_order = self.may_order(new);
        let Some(weak) = &mut self.weak else { return false };
        let is_copy = self.shape.is_copy(new.thread);
        weak.locations.forget_overlaps(span, is_copy);
        if is_copy {
            return false;
        }
        let location = (span.region, span.offset);
        let now = &self.threads[new.thread as usize].now;
        let place = weak.place(now, location, new.access.kind == AccessKind::Atomic);
        weak.begin_history(location, span.bytes, before);
        let version = weak.number();
        let Some(history) = weak.locations.get_mut(location) else { return false };
        let place = if place == 0 { history.versions.len() } else { place };
        let is_early = place < history.versions.len();
        history.versions.insert(place, Version::of(version, 0, Some(*new)));
        weak.pending = Some(Pending { location, version });
        if may_order {
            self.communicate_write(new.thread, location, place);
        }
        is_early
    }

    /// Adds to `value` what threads have released at its location and `value` does not yet have.
    pub(super) fn add_released(&self, span: Span, value: &mut Value) {
        let Some(weak) = &self.weak else { return };
        let history = weak.locations.get((span.region, span.offset));
        for head in history.iter().flat_map(|history| &history.released) {
            add_head(&mut value.released, head.clone());
        }
    }

    /// Stores what the pending write leaves for readers to acquire.
    pub(super) fn leave(&mut self, value: Option<Value>) {
        let Some(weak) = &mut self.weak else { return };
        let location = weak.pending.as_ref().map(|pending| pending.location);
        let history = location.and_then(|location| weak.locations.get_mut(location));
        if let (Some(history), Some(value)) = (history, &value) {
            history.released.clone_from(&value.released);
        }
        if let Some(version) = weak.pending_version() {
            version.value = value;
        }
    }
}

impl Weak {
    fn pending_version(&mut self) -> Option<&mut Version> {
        let Pending { location, version } = self.pending.as_ref()?;
        let versions = &mut self.locations.get_mut(*location)?.versions;
        versions.iter_mut().find(|it| it.number == *version)
    }

    /// The pending write has left these bits in memory. Returns the bits of the location's last
    /// write, if that is a different one.
    pub(super) fn end_write(&mut self, bits: u128) -> Option<u128> {
        self.pending_version()?.bits = bits;
        let Pending { location, version } = self.pending.take()?;
        let versions = &mut self.locations.get_mut(location)?.versions;
        if versions.len() > MOST {
            versions.remove(0);
        }
        let last = versions.last()?;
        (last.number != version).then_some(last.bits)
    }
}

impl Version {
    fn of(number: u64, bits: u128, write: Option<Event>) -> Self {
        Self {
            number,
            bits,
            write,
            value: None,
            readers: Readers::default(),
            observers: Readers::default(),
            passed: Passed::default(),
        }
    }
}

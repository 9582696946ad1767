//! Weak memory: what a location has held, and which of it a read may still return.
//!
//! A read may return any value that the model does not hide from it. A write hides what is older in
//! the order of its location (coherence) from all reads that it happened before, and from all that
//! come after a strong read of it (PTX ISA, "Causality Order" and the axiom of causality). A write
//! takes any place in that order that is not before something that it knows. Both are drawn.
//!
//! The bytes in memory are always those of the location's last write. An older value is put there
//! while a read happens.

use super::State;
use super::cell::Event;
use super::clock::Stamp;
use super::locations::Locations;
use super::reach::Level;
use super::shadow::Span;
use super::value::{Head, Value, add_head};
use crate::access::AccessKind;
use crate::replay::Recorder;
use crate::schedule::SplitMix;
use crate::search::Guide;
use crate::world::mix;
use std::collections::HashMap;
use std::rc::Rc;

/// The most values of a location that are remembered.
const MOST: usize = 8;

/// One in so many reads, of those that may, returns an old value; and one in so many writes takes an
/// earlier place.
const STALE: u64 = 2;
const EARLY: u64 = 4;

/// A version forgets no readers while it has so few.
const FEW_READERS: usize = 192;

/// What locations have held, since their first write in this launch.
#[derive(Debug)]
pub(super) struct Weak {
    random: SplitMix,
    /// What decides in place of the random numbers, if anything does.
    guide: Option<Rc<Guide>>,
    recorder: Option<Rc<Recorder>>,
    /// A hash of what was drawn.
    decided: u64,
    locations: Locations,
    /// Whether a weak read of an old value is repeated as long as it may be, as from a register.
    sticks: bool,
    /// The version that a thread's weak reads of a location stick to.
    stuck: HashMap<(u32, u64, usize), u64>,
    /// A write whose value is not known yet.
    pending: Option<Pending>,
    versions: u64,
    /// For each thread and reach its last `fence.sc`.
    fences: Vec<(u32, Level, Stamp)>,
}

/// What draws the values of reads and the places of writes: a guide, a script, or the seed.
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

/// The values of one location, in the order of coherence.
#[derive(Debug)]
pub(super) struct History {
    pub(super) bytes: usize,
    versions: Vec<Version>,
    /// What threads have released by writes to it, as in [`Value::released`]: the last value may be
    /// that of another write, or weak.
    released: Vec<Head>,
}

impl History {
    /// A location of so many bytes that has held nothing yet.
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
struct Version {
    number: u64,
    bits: u128,
    /// The write; none for what was there before.
    write: Option<Event>,
    /// What an acquiring read of it learns, if the write is strong.
    value: Option<Value>,
    /// Who has read it, and who by a strong read that observes it.
    readers: Readers,
    observers: Readers,
}

/// Threads, at their epochs. Of the epochs of one thread the first counts, because what knows a later one knows
/// that; the others go when there are many.
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
    /// Whether it hides what is older from an access at this stamp.
    fn hides_older(&self, now: &Stamp) -> bool {
        self.write.is_none_or(|write| now.knows(write.thread, write.epoch))
            || self.observers.any_before(now)
    }

    /// Whether a write at this stamp comes after it: it knows the write or a read of it.
    fn is_before(&self, now: &Stamp) -> bool {
        self.hides_older(now) || self.readers.any_before(now)
    }

    /// Whether it was made from the version before it, so that nothing comes between them.
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
            fences: Vec::new(),
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

    /// The place of a write in the order of its location.
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

    /// One of `count` alternatives for a thread: 0 is the last value, or the last place.
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

    /// A hash of what was drawn.
    pub(super) fn decided(&self) -> u64 {
        self.decided
    }
}

impl State {
    /// A read by a thread: what it sees instead of what is in memory, and what it acquires from.
    pub(super) fn look(&mut self, new: &Event, span: Span) -> Option<(Old, Option<Value>)> {
        let weak = self.weak.as_mut()?;
        if self.shape.is_copy(new.thread) {
            return None;
        }
        weak.locations.forget_overlaps(span, false);
        let location = (span.region, span.offset);
        let now = &self.threads[new.thread as usize].now;
        let (at, is_last) = weak.choose(new, now, location)?;
        let version = &mut weak.locations.get_mut(location)?.versions[at];
        let observes = version.write.is_some_and(|write| write.morally_strong(new, &self.shape));
        let readers = if observes { &mut version.observers } else { &mut version.readers };
        readers.add(new.thread, new.epoch);
        let is_stuck = weak.sticks && new.access.reach().is_none();
        (!is_last).then(|| (Old { bits: version.bits, is_stuck }, version.value.clone()))
    }

    /// A write by a thread, before its bits are known. `before` are those in memory, if they were written.
    /// Returns whether it is not the location's last.
    pub(super) fn begin_write(&mut self, new: &Event, span: Span, before: Option<u128>) -> bool {
        let Some(weak) = &mut self.weak else { return false };
        let is_copy = self.shape.is_copy(new.thread);
        weak.locations.forget_overlaps(span, is_copy);
        if is_copy {
            return false;
        }
        let location = (span.region, span.offset);
        let now = &self.threads[new.thread as usize].now;
        let place = weak.place(now, location, new.access.kind == AccessKind::Atomic);
        let first = weak.versions;
        weak.versions += 2;
        if weak.locations.get(location).is_none() {
            let before = before.into_iter().map(|bits| Version::of(first, bits, None));
            let history = History { versions: before.collect(), ..History::of(span.bytes) };
            weak.locations.insert(location, history);
        }
        let Some(history) = weak.locations.get_mut(location) else { return false };
        let place = if place == 0 { history.versions.len() } else { place };
        let is_early = place < history.versions.len();
        history.versions.insert(place, Version::of(first + 1, 0, Some(*new)));
        weak.pending = Some(Pending { location, version: first + 1 });
        is_early
    }

    /// What threads have released at a location that `value` does not know of.
    pub(super) fn add_released(&self, span: Span, value: &mut Value) {
        let Some(weak) = &self.weak else { return };
        let history = weak.locations.get((span.region, span.offset));
        for head in history.iter().flat_map(|history| &history.released) {
            add_head(&mut value.released, head.clone());
        }
    }

    /// What the write that began leaves for readers to acquire.
    pub(super) fn leave(&mut self, value: Option<Value>) {
        let Some(weak) = &mut self.weak else { return };
        if let Some(version) = weak.pending_version() {
            version.value.clone_from(&value);
        }
        let location = weak.pending.as_ref().map(|pending| pending.location);
        let history = location.and_then(|location| weak.locations.get_mut(location));
        if let (Some(history), Some(value)) = (history, value) {
            history.released = value.released;
        }
    }

    /// Orders a `fence.sc` after all that are morally strong to it and came before it in this run: the
    /// Fence-SC order.
    pub(super) fn follow_fences(&mut self, thread: u32, reach: Level) {
        let Some(weak) = &self.weak else { return };
        for (other, its, stamp) in &weak.fences {
            if self.shape.between(thread, *other) <= reach.min(*its) {
                self.threads[thread as usize].now.clock.absorb(stamp);
            }
        }
    }

    /// The `fence.sc` is there for later ones.
    pub(super) fn add_fence(&mut self, thread: u32, reach: Level) {
        let Some(weak) = &mut self.weak else { return };
        let stamp = self.threads[thread as usize].now.pass_on();
        weak.fences.retain(|(other, its, _)| (*other, *its) != (thread, reach));
        weak.fences.push((thread, reach, stamp));
    }
}

impl Weak {
    fn pending_version(&mut self) -> Option<&mut Version> {
        let Pending { location, version } = self.pending.as_ref()?;
        let versions = &mut self.locations.get_mut(*location)?.versions;
        versions.iter_mut().find(|it| it.number == *version)
    }

    /// The write that began has left these bits in memory. Returns those of the location's last write, if that
    /// is another one.
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
        }
    }
}

//! Reads that saw another thread's write but did not learn what came before it. They only explain
//! races; they do not decide whether there is one.

use super::cell::Event;
use super::clock::Stamp;
use super::reach::Level;
use super::report::Flaw;
use super::value::Head;
use crate::access::Scope;
use crate::place::Place;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// A read that saw a write, and what is missing between them.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) head: Rc<Head>,
    pub(super) read: Event,
    /// How far a release and an acquire must reach.
    pub(super) apart: Level,
    pub(super) release: Option<Flaw>,
    pub(super) acquire: Option<Flaw>,
}

impl Seen {
    /// Whether `old` would happen before `new`, by a thread at stamp `now`, if nothing were missing
    /// in this link.
    pub(super) fn would_order(&self, old: &Event, now: &Stamp) -> bool {
        self.head.stamp.follows(old.thread, old.epoch)
            && now.knows(self.read.thread, self.read.epoch)
    }

    /// The link with the lowest rank is chosen: first by how much is missing, then by whether the
    /// release is sound, because then only the acquire can be at fault, then by any difference, so
    /// that every run chooses the same.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        let weight = |flaw| match flaw {
            None => 0,
            Some(Flaw::Scope { .. }) => 1,
            Some(Flaw::Absent) => 2,
        };
        let missing = weight(self.release) + weight(self.acquire);
        (missing, self.release.is_some(), self.read.thread, self.key())
    }

    fn key(&self) -> Key {
        (self.head.stamp.thread, self.head.reach)
    }
}

/// The writer, and how far its release reached.
type Key = (u32, Option<Level>);

/// When all threads update one word, each update looks up a link to each other thread. The standard
/// hasher is slow for such small keys.
type ByKey = HashMap<Key, Seen, BuildHasherDefault<KeyHasher>>;

/// Hashes keys, which are small numbers, by multiplication with an odd number.
#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = self.0.wrapping_add(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        // The map uses the highest and the lowest bits. The product has its best bits at the top.
        self.0.rotate_left(26)
    }
}

/// For one reader, the last link to each other thread.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Links whose read is not acquired far enough to include the writer.
    open: ByKey,
    /// Links whose read is acquired far enough to include the writer.
    acquired: ByKey,
    /// Links that a fence of the reader has closed. They explain races of other threads that
    /// learned of the read but not of the fence.
    closed: ByKey,
    /// Links within a protocol, which leaves them open on purpose.
    of_protocols: ByKey,
}

impl Links {
    /// Of several reads of one write the first is kept, because it comes before most accesses.
    pub(super) fn note(&mut self, seen: Seen) {
        let [writer, reader] = [seen.head.write.protocol, seen.read.protocol];
        let links = match seen.acquire {
            _ if writer != 0 && writer == reader => &mut self.of_protocols,
            // The missing part is inside a protocol, where the kernel cannot fix it.
            Some(_) if reader != 0 => return,
            _ if writer != 0 && seen.release.is_some() => return,
            Some(_) => &mut self.open,
            None => &mut self.acquired,
        };
        match links.entry(seen.key()) {
            Entry::Occupied(first) if first.get().head.stamp.epoch == seen.head.stamp.epoch => {}
            Entry::Occupied(mut other) => _ = other.insert(seen),
            Entry::Vacant(place) => _ = place.insert(seen),
        }
    }

    /// The reader's fence at `place` acquires what it has read, as far as `reach`.
    pub(super) fn fence(&mut self, reach: Level, scope: Scope, place: Place) {
        for (key, seen) in self.open.extract_if(|_, seen| seen.apart <= reach) {
            if seen.release.is_some() {
                let acquire = None;
                self.acquired.insert(key, Seen { acquire, ..seen });
            } else {
                self.closed.insert(key, seen);
            }
        }
        for seen in self.open.values_mut() {
            let fence = Some(place);
            seen.acquire = Some(Flaw::Scope { scope, fence });
        }
    }

    /// Links that the kernel can fix.
    pub(super) fn own(&self) -> impl Iterator<Item = &Seen> {
        self.open.values().chain(self.acquired.values()).chain(self.closed.values())
    }

    /// Links within a protocol.
    pub(super) fn of_protocols(&self) -> impl Iterator<Item = &Seen> {
        self.of_protocols.values()
    }
}

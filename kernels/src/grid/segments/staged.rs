//! A tile of the path in shared memory.

use super::path::{Part, Path, THREADS, steps};
use crate::block::ThreadPosition;
use crate::op::{Carried, for_each_word};
use core::ops::Range;
use cuda_std::memory::{Pack, Scalar};
use cuda_std::prelude::*;

/// Packs that a thread loads at once: as many as a tile without ends has, even if it does not begin
/// with a whole pack.
const PACKS: usize = 8;

/// Ends, or single elements, that a thread loads at once.
const LOADS: usize = 4;

/// Elements that are loaded before a tile and after it, to load whole packs.
const AROUND: usize = 16 / size_of::<u16>();

shared_array! {
    /// The tile, if elements have at most 4 bytes.
    fn gridsync_segments_of_words() -> [u32; (THREADS * steps::<u32>()) as usize + AROUND];
    /// The tile, if elements have 8 bytes.
    fn gridsync_segments_of_pairs() -> [u64; (THREADS * steps::<u64>()) as usize + AROUND];
}

/// The elements of a tile, and where its segments end.
///
/// The elements are at the start of the memory, as far into a pack of 16 bytes as in the array, and
/// the ends at its end, from the last to the first: together they have a place for each step.
#[derive(Clone, Copy)]
pub(super) struct Staged<T> {
    elements: Shared<T>,
    ends: Shared<u32>,
    part: Part,
}

impl<T: Scalar> Staged<T> {
    /// Loads the tile. Called by all threads of the block. A block barrier must follow.
    #[device]
    pub(super) fn load(input: Global<T>, path: Path, part: Part, at: ThreadPosition) -> Self {
        let (elements, ends) = if size_of::<T>() > 4 {
            let memory = gridsync_segments_of_pairs();
            (memory.cast(), memory.cast())
        } else {
            let memory = gridsync_segments_of_words();
            (memory.cast(), memory)
        };
        let lead = (part.element + T::PACK - input.unaligned_head()) % T::PACK;
        let staged = Self { elements: elements.part(lead, elements.len() - lead), ends, part };
        let end = |place| (path.start(part.segment + place + 1) - part.element) as u32;
        let packs = (lead as u32 + part.elements).div_ceil(T::PACK as u32);
        let is_inside = part.element >= lead
            && part.element - lead + packs as usize * T::PACK <= input.len()
            && part.elements > 0;
        if is_inside {
            let place = |i: usize| at.thread + i as u32 * THREADS;
            let first_of = |pack: u32| (pack * T::PACK as u32) as usize;
            let around = input.part(part.element - lead, first_of(packs));
            // One end is in flight together with the packs: most tiles have no more for each thread.
            let first = at.thread.min(part.segments.max(1) - 1) as usize;
            let first_end = end(first);
            let loaded: [T::Pack<T>; PACKS] = Pack::from_fn(|i| {
                // Without such a pack the last one: a branch around a load would delay the next load.
                around.read_pack(first_of(place(i).min(packs - 1)), CacheHint::Streaming)
            });
            loaded.for_each(|i, pack| {
                if place(i) < packs {
                    elements.write_pack(first_of(place(i)), pack, CacheHint::Default);
                }
            });
            if at.thread < part.segments {
                ends.write(staged.place_of_end(first), first_end);
            }
        } else {
            // At the ends of the array a pack may extend past them.
            let element = |place| input.read(part.element + place);
            copy(0..part.elements, at, element, |place, x| staged.elements.write(place, x));
        }
        let from = if is_inside { THREADS } else { 0 };
        copy(from..part.segments, at, end, |place, end| {
            ends.write(staged.place_of_end(place), end);
        });
        staged
    }

    /// Words of the place of an end: those of an element.
    const PLACE: usize = if size_of::<T>() > 4 { 2 } else { 1 };

    /// Whether a result fits in the place of an end.
    pub(super) const fn holds<A: Carried>() -> bool {
        A::WORDS <= Self::PLACE
    }

    /// Where the end of the segment with local number `segment` is stored.
    #[inline(always)]
    fn place_of_end(self, segment: usize) -> usize {
        self.ends.len() - (segment + 1) * Self::PLACE
    }

    /// Keeps the result of a segment of the tile, in the place of its end. No thread reads the end
    /// later.
    #[device]
    pub(super) fn keep<A: Carried>(self, segment: u32, value: A) {
        let place = self.place_of_end(segment as usize);
        for_each_word(value, |i, word| self.ends.write(place + i, word));
    }

    /// Writes the kept results of the tile to `results`, where adjacent threads write adjacent
    /// words. Called by all threads of the block. It contains a block barrier.
    #[device]
    pub(super) fn write_kept<A: Carried>(self, results: Global<u32>, at: ThreadPosition) {
        thread::sync_threads();
        let words = A::WORDS as u32;
        let (first, all) = (self.part.segment * A::WORDS, self.part.segments * words);
        let mut word = at.thread;
        while word < all {
            let place = self.place_of_end((word / words) as usize) + (word % words) as usize;
            results.write(first + word as usize, self.ends.read(place));
            word += THREADS;
        }
    }

    /// Element `place` of the tile.
    #[device]
    pub(super) fn element(self, place: u32) -> T {
        self.elements.read(place as usize)
    }

    /// The element of the tile before which `segment` of the tile ends.
    #[device]
    pub(super) fn end(self, segment: u32) -> u32 {
        self.ends.read(self.place_of_end(segment as usize))
    }

    /// The same, or a number that no element has if fewer segments end in the tile.
    #[device]
    pub(super) fn end_or_none(self, segment: u32) -> u32 {
        if segment < self.part.segments { self.end(segment) } else { u32::MAX }
    }

    /// How many segments of the tile end before its step `step`.
    #[device]
    pub(super) fn ends_before(self, step: u32) -> u32 {
        let (mut from, mut to) =
            (step.saturating_sub(self.part.elements), step.min(self.part.segments));
        while from < to {
            let middle = (from + to) / 2;
            if middle + self.end(middle) < step {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }
}

/// Stores the values `range`, where adjacent threads load adjacent values.
#[device]
fn copy<T: Scalar>(
    range: Range<u32>,
    at: ThreadPosition,
    load: impl Fn(usize) -> T,
    store: impl Fn(usize, T),
) {
    let Range { start, end: count } = range;
    let mut first = start + at.thread;
    while first < count {
        let place = |i: usize| first + i as u32 * THREADS;
        let loaded: [T; LOADS] =
            Pack::from_fn(
                |i| {
                    if place(i) < count { load(place(i) as usize) } else { T::default() }
                },
            );
        loaded.for_each(|i, value| {
            if place(i) < count {
                store(place(i) as usize, value);
            }
        });
        first += LOADS as u32 * THREADS;
    }
}

//! A tile of the path in shared memory.

use super::path::{Part, Path, THREADS, steps};
use crate::block::ThreadPosition;
use crate::op::{Carried, for_each_word};
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
        let copy_ends = || {
            copy(part.segments, at, end, |place, end| ends.write(staged.place_of_end(place), end));
        };

        let packs = (lead + part.elements as usize).div_ceil(T::PACK);
        let is_inside = part.element >= lead
            && part.element - lead + packs * T::PACK <= input.len()
            && part.elements > 0;
        if is_inside {
            let place = |i: usize| at.thread as usize + i * THREADS as usize;
            let around = input.part(part.element - lead, packs * T::PACK);
            let loaded: [T::Pack<T>; PACKS] = Pack::from_fn(|i| {
                // Without such a pack the last one: a branch around a load would delay the next load.
                around.read_pack(place(i).min(packs - 1) * T::PACK, CacheHint::Streaming)
            });
            // Their loads are in flight together with the packs.
            copy_ends();
            loaded.for_each(|i, pack| {
                if place(i) < packs {
                    elements.write_pack(place(i) * T::PACK, pack, CacheHint::Default);
                }
            });
        } else {
            // At the ends of the array a pack may extend past them.
            let element = |place| input.read(part.element + place);
            copy(part.elements, at, element, |place, x| staged.elements.write(place, x));
            copy_ends();
        }
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

/// Stores `count` values, where adjacent threads load adjacent values.
#[device]
fn copy<T: Scalar>(
    count: u32,
    at: ThreadPosition,
    load: impl Fn(usize) -> T,
    store: impl Fn(usize, T),
) {
    let mut first = at.thread;
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

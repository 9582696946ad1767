//! A tile of the path in shared memory.

use super::path::{Part, Path, THREADS, steps};
use crate::block::ThreadPosition;
use cuda_std::memory::{Pack, Scalar};
use cuda_std::prelude::*;

/// Loads that a thread has in flight.
const LOADS: usize = 8;

shared_array! {
    /// The tile, if elements have at most 4 bytes.
    fn gridsync_segments_of_words() -> [u32; (THREADS * steps::<u32>()) as usize];
    /// The tile, if elements have 8 bytes.
    fn gridsync_segments_of_pairs() -> [u64; (THREADS * steps::<u64>()) as usize];
}

/// The elements of a tile, and where its segments end.
///
/// The elements are at the start of the memory, and the ends at its end, from the last to the
/// first: together they have a place for each step.
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
        let staged = Self { elements, ends, part };
        let element = |place| input.read(part.element + place);
        copy(part.elements, at, element, |place, x| elements.write(place, x));
        let end = |place| (path.start(part.segment + place + 1) - part.element) as u32;
        copy(part.segments, at, end, |place, end| ends.write(staged.place_of_end(place), end));
        staged
    }

    /// Where the end of the segment with local number `segment` is stored.
    #[inline(always)]
    fn place_of_end(self, segment: usize) -> usize {
        self.ends.len() - 1 - segment
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

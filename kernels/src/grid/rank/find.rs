//! The filter, and the copy of what it has found.

use super::bracket::{Bracket, Span};
use super::chunk::Chunk;
use crate::block::{self, ThreadPosition};
use crate::grid::overlap::begin;
use crate::grid::sort::Order;
use crate::op::Sum;
use crate::warp;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_vote_any};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Warps of a block: each filters one chunk of the array.
pub const WARPS: u32 = THREADS / WARP_SIZE;

/// Numbers that [`filter`] leaves: the keys before the bracket, those in it, whether all of these
/// have one number, and whether a key has the last number.
pub const FOUND: usize = 4;

/// Indices of these numbers.
const BEFORE: usize = 0;
const INSIDE: usize = 1;
const IS_ONE: usize = 2;
const HAS_LAST: usize = 3;

/// An array, in chunks of as many rows, and the keys that a filter finds in each chunk.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Chunks<W> {
    /// The array.
    pub input: Global<W>,
    /// Rows of a chunk.
    pub rows: u32,
    /// Places for the keys of a chunk. If it has more, they are only counted.
    pub room: u32,
    /// How many keys each chunk has.
    pub counts: Global<u32>,
    /// The keys, in the order of the array, from place `room` times the chunk.
    pub keys: Global<W>,
    /// Their indices in the chunk.
    pub offsets: Global<u32>,
}

// SAFETY: `repr(C)` of views and numbers, which are the same on both sides.
unsafe impl<W: Scalar> KernelArg for Chunks<W> {}

/// Finds the keys of an array in `bracket`, a part of the sorted `sample`, and counts those before.
///
/// Called by every thread of a grid of blocks of [`THREADS`] along x, with a warp for each chunk. The
/// views of `chunks` have an element for each chunk, or for each of its places. The numbers of
/// `found`, [`FOUND`], were zeroed before. The blocks need not be co-resident. Later work on the
/// stream sees the results.
#[device(protocol = "the selection by rank")]
pub fn filter<O: Order>(
    order: O,
    chunks: Chunks<O::Word>,
    (sample, bracket): (Global<O::Word>, Bracket),
    found: Global<u64>,
) {
    begin();
    let at = ThreadPosition::here();
    let number = thread::block_idx_x() * WARPS + at.warp;
    let chunk = Chunk::new(chunks.input, number, chunks.rows, at.lane);
    let span = Span::of(order, sample, bracket);
    let room = number as usize * chunks.room as usize;
    let write = |rank: u32, key, offset| {
        if rank < chunks.room {
            chunks.keys.write(room + rank as usize, key);
            chunks.offsets.write(room + rank as usize, offset);
        }
    };
    let last = (bracket.looks_for_last != 0).then(|| Span::of_last(order));
    let in_chunk = chunk.filter(order, span, last, write);
    let below = warp::reduce(Sum::<u32>::new(), in_chunk.below);
    let before =
        if order.is_descending() { chunk.len() as u32 - below - in_chunk.inside } else { below };
    let has_last = warp_vote_any(FULL_MASK, in_chunk.has_last);
    if at.lane == 0 {
        chunks.counts.write(number as usize, in_chunk.inside);
        // Relaxed, as are the sums below: read after the launch.
        if has_last {
            found.store(HAS_LAST, 1, Ordering::Relaxed, Scope::Device);
        }
    }
    // Both in one number: a block has fewer than 2^32 keys, and none is in both.
    let both = u64::from(before) << 32 | u64::from(in_chunk.inside);
    let both = block::reduce(Sum::<u64>::new(), if at.lane == 0 { both } else { 0 });
    let (before, inside) = (both >> 32, both & u64::from(u32::MAX));
    if at.thread == 0 {
        found.fetch_add(BEFORE, before, Ordering::Relaxed, Scope::Device);
        found.fetch_add(INSIDE, inside, Ordering::Relaxed, Scope::Device);
        if thread::block_idx_x() == 0 {
            found.write(IS_ONE, span.is_one.into());
        }
    }
}

/// Some of the keys that a filter has found, without gaps.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Candidates<W> {
    /// The number of keys before the first of these.
    pub first: u64,
    /// The keys, in the order of the array.
    pub keys: Global<W>,
    /// Their indices in the array.
    pub positions: Global<u64>,
}

// SAFETY: `repr(C)` of views and a number, which are the same on both sides.
unsafe impl<W: Scalar> KernelArg for Candidates<W> {}

/// Writes keys that [`filter`] has found to all of `candidates`. Reads chunks again that had not
/// enough room.
///
/// Called like [`filter`], after it, with the same arguments.
#[device(protocol = "the selection by rank")]
pub fn collect<O: Order>(
    order: O,
    chunks: Chunks<O::Word>,
    (sample, bracket): (Global<O::Word>, Bracket),
    candidates: Candidates<O::Word>,
) {
    begin();
    let at = ThreadPosition::here();
    let first = thread::block_idx_x() * WARPS;
    let mut before = 0;
    let mut number = at.thread;
    while number < first {
        before += u64::from(chunks.counts.read(number as usize));
        number += THREADS;
    }
    let mut before = block::scan_exclusive(Sum::<u64>::new(), before).all;
    for warp in 0..WARPS {
        let number = first + warp;
        let count = chunks.counts.read(number as usize);
        if candidates.has(before, count) {
            let chunk = Chunk::new(chunks.input, number, chunks.rows, at.lane);
            if count > chunks.room {
                let span = Span::of(order, sample, bracket);
                read_again(order, chunk.part(at.warp, WARPS), span, before, candidates);
            } else if warp == at.warp {
                let room = number as usize * chunks.room as usize;
                let mut rank = at.lane;
                while rank < count {
                    let place = room + rank as usize;
                    let index = chunk.start + chunks.offsets.read(place) as usize;
                    candidates.write(before + u64::from(rank), chunks.keys.read(place), index);
                    rank += WARP_SIZE;
                }
            }
        }
        before += u64::from(count);
    }
}

/// Writes the keys in `span` from the warp's part of a chunk, after the `before` keys of the chunks
/// before it. Called by all threads of the block.
#[device]
fn read_again<O: Order>(
    order: O,
    part: Chunk<O::Word>,
    span: Span<O::Word>,
    before: u64,
    candidates: Candidates<O::Word>,
) {
    let found = part.filter(order, span, None, |_, _, _| {});
    let of_warp = if lane_id() == 0 { found.inside } else { 0 };
    // The block may still be reading an earlier scan.
    thread::sync_threads();
    let earlier = block::scan_exclusive(Sum::<u32>::new(), of_warp).before;
    let before = before + u64::from(warp::of_lane(earlier, 0));
    part.filter(order, span, None, |rank, key, offset| {
        candidates.write(before + u64::from(rank), key, part.start + offset as usize);
    });
}

impl<W: Scalar> Candidates<W> {
    /// Whether some of the `count` keys after the first `before` are written.
    #[inline(always)]
    fn has(self, before: u64, count: u32) -> bool {
        let end = self.first + self.keys.len() as u64;
        before + u64::from(count) > self.first && before < end
    }

    /// Writes key `rank`, if it is one of these.
    #[inline(always)]
    fn write(self, rank: u64, key: W, index: usize) {
        let place = rank.wrapping_sub(self.first) as usize;
        if place < self.keys.len() {
            self.keys.write(place, key);
            self.positions.write(place, index as u64);
        }
    }
}

//! The sort of rows that are not longer than a warp: each thread sorts whole rows.

use super::each_key::each_key;
use super::network::{self, Values};
use super::numbered::Numbered;
use super::order::{Order, Word};
use super::payload::Payload;
use super::rows::{Rows, WINDOW};
use super::tile::MOST_EACH;
use crate::block::ThreadPosition;
use crate::block::ranks::here;
use crate::grid::overlap;
use cuda_std::memory::dynamic_shared;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_any};

/// Threads of a block.
pub const SHORT_ROW_THREADS: u32 = 128;

/// Keys that each thread loads and writes. The loads are in flight together.
const EACH: usize = 16;

/// The same in a block of segments, at most.
const LONGEST_EACH: usize = EACH + 1;

/// Keys of a block.
const PLACES: usize = SHORT_ROW_THREADS as usize * EACH;

/// The most keys of a row.
pub const SHORT_ROW_MOST: usize = network::MOST;

/// [Windows](WINDOW) of segments of a block.
pub const SHORT_WINDOWS: usize = PLACES / WINDOW;

/// Places of a block. The last of its segments may end after its windows.
const MOST_PLACES: u32 = PLACES as u32 + SHORT_ROW_THREADS;

/// No key is written here.
const UNSORTED: u32 = u32::MAX;

/// Rows of a block, if rows have `len` keys, which is 1 to 32.
#[must_use]
pub const fn short_rows_of_block(len: u32) -> u32 {
    PLACES as u32 / len
}

/// Bytes of dynamic shared memory of a block, for keys of `word` bytes, and whether something moves
/// with them.
#[must_use]
pub const fn short_row_shared_bytes(word: usize, are_moved: bool) -> u32 {
    let targets = if are_moved { TARGETS * 4 } else { 0 };
    (targets + padded(MOST_PLACES, word as u32) as usize * word) as u32
}

/// Words of the targets of a block: an even number.
const TARGETS: usize = (padded(MOST_PLACES, 4) as usize).next_multiple_of(2);

/// The index in shared memory of the element at a place, of `size` bytes. One bank is left out after
/// each 128 bytes, so that threads can access rows of any length without conflicts.
#[inline(always)]
const fn padded(place: u32, size: u32) -> u32 {
    let left_out = if size < 4 { 4 / size } else { 1 };
    place + place / (128 / size) * left_out
}

/// Writes the keys of each row in order. Equal keys keep their order. Rows have at most 32 keys, and
/// at least one. Segments that are longer are left out.
///
/// Called by every thread of a grid of [`SHORT_ROW_THREADS`] along x, one block for each
/// [`short_rows_of_block`], or for each 2048 keys of segments, with [`short_row_shared_bytes`] of
/// dynamic shared memory. The arrays are those of
/// [`sort_in_one_block`](super::sort_in_one_block()); `rows.each` is not used.
#[device(protocol = "the sort")]
pub fn sort_short_rows<O: Order, P: Payload>(
    order: O,
    keys: [Global<O::Word>; 2],
    payloads: [Global<P::Word>; 2],
    rows: Rows,
) {
    let at = ThreadPosition::here();
    let thread = at.thread as usize;
    let shared = dynamic_shared::<u32>();
    let size = size_of::<O::Word>();
    let targets = shared.part(0, if P::IS_HELD { TARGETS } else { 0 });
    let words = padded(MOST_PLACES, size as u32) as usize * size / 4;
    let held = shared.part(targets.len(), words).cast::<O::Word>();
    overlap::begin();

    let Some(of_block) = BlockRows::new(rows, thread::block_idx_x() as usize) else { return };
    let (first, len) = (of_block.first, of_block.len);
    let input = keys[0].part(first, len);
    let place = |i: usize| i * SHORT_ROW_THREADS as usize + thread;
    // As `padded` of it.
    let slot = |i: usize, size: usize| {
        let (first, step) =
            (padded(at.thread, size as u32), padded(SHORT_ROW_THREADS, size as u32));
        (first + i as u32 * step) as usize
    };
    let mut loaded = [O::Word::default(); MOST_EACH];
    if len == PLACES {
        each_key!(EACH I { loaded[I] = input.read(place(I)); });
    } else {
        let most = len as u32 - 1;
        // No branches: loads would wait for each other.
        each_key!(EACH I { loaded[I] = input.read((place(I) as u32).min(most) as usize); });
    }
    each_key!(EACH I { held.write(slot(I, size), loaded[I]); });
    if rows.are_segments() {
        if P::IS_HELD {
            each_key!(LONGEST_EACH I { targets.write(slot(I, 4), UNSORTED); });
        }
        if place(EACH) < len {
            held.write(slot(EACH, size), input.read(place(EACH)));
        }
    }
    thread::sync_threads();

    // The warp goes on together, by the network for the longest of its rows.
    let mut first_of_warp = at.warp * WARP_SIZE;
    while first_of_warp < of_block.count {
        let (first, len, to) = of_block.row(rows, first_of_warp + at.lane);
        let row = Row { order, held, targets, first, len, to, kept: rows.kept };
        let is_any_above = |most: u32| warp_vote_any(FULL_MASK, len > most);
        if is_any_above(16) {
            row.sort::<P, 32>();
        } else if is_any_above(8) {
            row.sort::<P, 16>();
        } else if is_any_above(4) {
            row.sort::<P, 8>();
        } else {
            row.sort::<P, 4>();
        }
        first_of_warp += SHORT_ROW_THREADS;
    }
    thread::sync_threads();

    let (first_kept, kept) = (of_block.first_kept, of_block.kept);
    let is_written = |i: usize| (i < EACH || rows.are_segments()) && place(i) < kept;
    if !P::IS_HELD {
        // Keys of long segments are written as they are. These are sorted later.
        let output = keys[1].part(first_kept, kept);
        each_key!(LONGEST_EACH I {
            if is_written(I) {
                output.write(place(I), held.read(slot(I, size)));
            }
        });
        return;
    }
    let mut from = [UNSORTED; MOST_EACH];
    each_key!(LONGEST_EACH I { if is_written(I) { from[I] = targets.read(slot(I, 4)); } });
    if !keys[1].is_empty() {
        let output = keys[1].part(first_kept, kept);
        each_key!(LONGEST_EACH I {
            if from[I] != UNSORTED {
                let from = padded(from[I] & 0xffff, size as u32) as usize;
                output.write(place(I), held.read(from));
            }
        });
    }
    // All are read before any is written: they may be in the same array.
    let mut moved = [P::Word::default(); MOST_EACH];
    each_key!(LONGEST_EACH I {
        if from[I] != UNSORTED {
            moved[I] = if rows.are_indices != 0 {
                P::of_index((from[I] >> 16) as usize)
            } else {
                payloads[0].read(first + (from[I] & 0xffff) as usize)
            };
        }
    });
    thread::sync_threads();
    let output = payloads[1].part(first_kept, kept);
    each_key!(LONGEST_EACH I { if from[I] != UNSORTED { output.write(place(I), moved[I]); } });
}

/// The rows of a block.
#[derive(Clone, Copy)]
struct BlockRows {
    /// The first segment, and the rows.
    segment: u32,
    count: u32,
    /// The index of the first key, and the keys.
    first: usize,
    len: usize,
    /// The index of the first key that is written, and those that are written.
    first_kept: usize,
    kept: usize,
}

impl BlockRows {
    /// Those of block `block`, if it has any.
    #[inline(always)]
    fn new(rows: Rows, block: usize) -> Option<Self> {
        if rows.are_segments() {
            let window = block * SHORT_WINDOWS;
            let (segment, end) = rows.segments.of_windows(window, SHORT_WINDOWS);
            if segment == end {
                return None;
            }
            let [first, end_key] = [segment, end].map(|at| rows.segments.offsets.read(at as usize));
            // If the last segment is not short, its keys only have to be left out.
            let most = window * WINDOW + PLACES + SHORT_ROW_MOST - 1;
            let (first, len) = (first as usize, (end_key as usize).min(most) - first as usize);
            let count = end - segment;
            Some(Self { segment, count, first, len, first_kept: first, kept: len })
        } else {
            let each = short_rows_of_block(rows.len) as usize;
            let first = block * each;
            let count = (rows.count as usize - first).min(each);
            let [row_len, kept] = [rows.len as usize, rows.kept as usize];
            Some(Self {
                segment: 0,
                count: count as u32,
                first: first * row_len,
                len: count * row_len,
                first_kept: first * kept,
                kept: count * kept,
            })
        }
    }

    /// The place of the first key of row `row`, the number of keys to sort, and the place of the
    /// first that is written.
    #[inline(always)]
    fn row(self, rows: Rows, row: u32) -> (u32, u32, u32) {
        if row >= self.count {
            return (0, 0, 0);
        }
        if rows.are_segments() {
            let (first, len) = rows.segments.keys(self.segment + row);
            if len > SHORT_ROW_MOST {
                return (0, 0, 0);
            }
            let place = (first - self.first) as u32;
            (place, len as u32, place)
        } else {
            (row * rows.len, rows.len, row * rows.kept)
        }
    }
}

/// A row that a thread sorts.
struct Row<O: Order> {
    order: O,
    /// The keys of the block, padded.
    held: Shared<O::Word>,
    /// The place of the key that comes to a place, padded, and above it its index in the row.
    targets: Shared<u32>,
    /// The places of the first key, and of the first that is written.
    first: u32,
    to: u32,
    /// Keys of the row, and how many of them are written.
    len: u32,
    kept: u32,
}

impl<O: Order> Row<O> {
    /// Sorts up to `N` keys. Called by all lanes of the warp.
    #[inline(always)]
    fn sort<P: Payload, const N: usize>(self) {
        let mut keys = [O::Word::default(); MOST_EACH];
        each_key!(N I {
            // Its place is computed first, so that only the load depends on the condition. With
            // branches loads would wait for each other.
            let slot = self.slot(I);
            keys[I] = if (I as u32) < self.len { self.held.read(slot) } else { O::Word::default() };
        });
        each_key!(N I { keys[I] = keys[I].here(); });
        if P::IS_HELD {
            let sorted = self.with_indices::<N>(&keys);
            let written = self.len.min(self.kept);
            each_key!(N I {
                let from = here(sorted[I].index() * 0x1_0001 + self.first);
                let to = here(padded(self.to + I as u32, 4));
                if (I as u32) < written {
                    self.targets.write(to as usize, from);
                }
            });
            return;
        }
        let mut are_special = false;
        each_key!(N I { are_special |= self.order.is_special(keys[I]); });
        if O::HAS_SPECIAL && warp_vote_any(FULL_MASK, are_special) {
            let sorted = self.with_indices::<N>(&keys);
            each_key!(N I {
                let slot = self.slot(sorted[I].index() as usize);
                keys[I] = if (I as u32) < self.len { self.held.read(slot) } else { O::Word::default() };
            });
            each_key!(N I { keys[I] = keys[I].here(); });
        } else {
            each_key!(N I {
                keys[I] = if (I as u32) < self.len { self.order.exact(keys[I]) } else { O::Word::ONES };
            });
            network::sort::<_, N>(&mut keys, |a, b| [a.min(b), a.max(b)]);
            each_key!(N I { keys[I] = self.order.of_exact(keys[I]).here(); });
        }
        each_key!(N I {
            let slot = self.slot(I);
            if (I as u32) < self.len {
                self.held.write(slot, keys[I]);
            }
        });
    }

    /// The keys in order, with their indices in the row.
    #[inline(always)]
    fn with_indices<const N: usize>(
        &self,
        keys: &Values<O::Word>,
    ) -> Values<<O::Word as Word>::Numbered> {
        let mut values = [Default::default(); MOST_EACH];
        each_key!(N I {
            let number = self.order.number(keys[I]).here();
            let number = if (I as u32) < self.len { number } else { O::Word::ONES };
            values[I] = Numbered::new(number, I as u32);
        });
        network::sort::<_, N>(&mut values, Numbered::in_order);
        values
    }

    /// Where key `i` of the row is.
    #[inline(always)]
    fn slot(&self, i: usize) -> usize {
        here(padded(self.first + i as u32, size_of::<O::Word>() as u32)) as usize
    }
}

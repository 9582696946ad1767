//! The sort of arrays that fit into one block each: all passes in one launch, in shared memory.

use super::each_key::each_key;
use super::layout::{EqualRows, Layout};
use super::order::{Order, Word};
use super::payload::Payload;
use super::rows::Rows;
use super::tile::MOST_EACH;
use crate::block::ThreadPosition;
use crate::block::ranks::{COUNTERS, Counters, DIGITS, count_tile, here};
use crate::grid::overlap;
use cuda_std::memory::dynamic_shared;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

/// Keys per thread.
pub(super) const EACH: usize = 16;

/// Threads of the block for `len` keys of `word` bytes, or `None` if they are too many. `is_90` says
/// that the kernel's image is for compute capability 9.0.
#[must_use]
pub const fn one_block_threads(len: usize, word: usize, is_90: bool) -> Option<u32> {
    let threads = len.div_ceil(COUNTERS * EACH) * COUNTERS;
    if threads <= one_block_most_threads(word, is_90) as usize {
        Some(threads as u32)
    } else {
        None
    }
}

/// The most threads of such a block.
#[must_use]
pub const fn one_block_most_threads(word: usize, is_90: bool) -> u32 {
    // Elsewhere the block has to fit in 48 KiB. µs on an H200, 2026-11-26, one block and several, u32:
    // 15 and 22 with 2^13, 21 and 22 with 3 · 2^12, 27 and 23 with 2^14; u64: 31 and 45 with 2^13,
    // where wide keys need all registers.
    if !is_90 {
        256
    } else if word == 8 {
        512
    } else {
        768
    }
}

/// Bytes of dynamic shared memory of a block of so many threads, for keys of `word` bytes, which
/// sorts rows or listed segments, or segments `in_windows`.
#[must_use]
pub const fn one_block_shared_bytes(threads: u32, word: usize, in_windows: bool) -> u32 {
    let warps = threads as usize / WARP_SIZE as usize;
    let of_place = word + size_of::<u16>() + if in_windows { size_of::<u8>() } else { 0 };
    (warps * COUNTERS * 4 + threads as usize * EACH * of_place) as u32
}

/// Writes the keys of each row in order. Equal keys keep their order.
///
/// Called by every thread of a grid along x of blocks of [`one_block_threads`] for the keys of a
/// block, with [`one_block_shared_bytes`] of dynamic shared memory, one block for each
/// `rows.each` rows. A row has at least one key, and at least two if `rows.each` is not 1. Of each
/// pair of arrays the first is read, `rows.len` elements for each row, and the second written,
/// `rows.kept` for each; they may be the same if all are kept. That of the keys may be empty, if they
/// are not wanted, and those of payloads if these are indices or if there are none.
///
/// Of segments, there is a block for each one that is listed.
#[device(protocol = "the sort")]
pub fn sort_in_one_block<O: Order, P: Payload>(
    order: O,
    keys: [Global<O::Word>; 2],
    payloads: [Global<P::Word>; 2],
    rows: Rows,
) {
    overlap::begin();
    sort_block::<_, P>(order, keys, payloads, rows.are_indices != 0, EqualRows::of_block(rows));
}

/// Dynamic shared memory of a block.
pub(super) struct Parts<W> {
    /// Counters of each warp.
    counters: Shared<u32>,
    /// For each place the key, and the place where that was in the input.
    sorted: Shared<W>,
    places: Shared<u16>,
    /// For each place of the input the number of its segment, or empty.
    pub(super) numbers: Shared<u8>,
}

impl<W: Scalar> Parts<W> {
    #[inline(always)]
    pub(super) fn here() -> Self {
        let threads = thread::block_dim_x() as usize;
        let (counts, tile) = (threads / WARP_SIZE as usize * COUNTERS, threads * EACH);
        let shared = dynamic_shared::<u32>();
        let words = size_of::<W>() * tile / 4;
        let end = counts + words + tile / 2;
        let numbers = if shared.len() > end { tile / 4 } else { 0 };
        Self {
            counters: shared.part(0, counts),
            sorted: shared.part(counts, words).cast(),
            places: shared.part(counts + words, tile / 2).cast(),
            numbers: shared.part(end, numbers).cast(),
        }
    }
}

/// Sorts the rows of a block.
#[device]
pub(super) fn sort_block<O: Order, P: Payload>(
    order: O,
    keys: [Global<O::Word>; 2],
    payloads: [Global<P::Word>; 2],
    are_indices: bool,
    layout: impl Layout,
) {
    let at = ThreadPosition::here();
    let threads = thread::block_dim_x() as usize;
    let warps = threads / WARP_SIZE as usize;
    let Parts { counters, sorted, places, .. } = Parts::<O::Word>::here();
    let mine = at.warp as usize * COUNTERS;
    let (first, len) = layout.keys();
    let has_places = P::IS_HELD || layout.are_several();

    // Lanes hold adjacent keys, and the rows of a warp follow each other, so ranks are in order.
    let (input, output) = (keys[0].part(first, len), keys[1]);
    let start = at.warp as usize * (EACH * WARP_SIZE as usize) + at.lane as usize;
    let mut held = [O::Word::default(); MOST_EACH];
    // The place of each key in the input, and above it its rank.
    let mut from = [0; MOST_EACH];
    each_key!(EACH I {
        let place = start + I * WARP_SIZE as usize;
        // Padding has the last number. It comes after all keys, so they do not move.
        held[I] = if place < len { input.read(place) } else { order.last() };
        from[I] = place as u32;
    });
    macro_rules! pass {
        ($is_first:expr, $flipped:expr, |$key:ident, $from:ident| $digit:expr) => {
            let digit_of = |$key: O::Word, $from: u32| $digit;
            if !$is_first {
                each_key!(EACH I { held[I] = sorted.read(start + I * WARP_SIZE as usize); });
                if has_places {
                    each_key!(EACH I {
                        from[I] = places.read(start + I * WARP_SIZE as usize).into();
                    });
                }
            }
            counters.write_pack(mine + at.lane as usize * 4, [0; 4], CacheHint::Default);
            sync_warp(FULL_MASK);
            let of_warp = Counters::new(counters.cast::<u16>().part(2 * mine, DIGITS), at.lane);
            each_key!(EACH I {
                let rank = of_warp.rank(digit_of(held[I], from[I]) as u32);
                from[I] = here((from[I] & 0xffff) + (rank << 16));
            });
            thread::sync_threads();
            count_tile(counters, warps, $flipped, at, |_, _| {});
            thread::sync_threads();
            each_key!(EACH I {
                let digit = digit_of(held[I], from[I]);
                let before = counters.cast::<u16>().read(2 * mine + digit);
                from[I] += u32::from(before) << 16;
                sorted.write((from[I] >> 16) as usize, held[I]);
            });
            if has_places {
                each_key!(EACH I { places.write((from[I] >> 16) as usize, from[I] as u16); });
            }
            thread::sync_threads();
        };
    }
    for pass in 0..O::Word::DIGITS {
        let flipped = order.flipped().digit(pass) as usize;
        pass!(pass == 0, flipped, |key, _from| order.bits(key).digit(pass) as usize);
    }
    if layout.are_several() {
        // The row is the last digit. Here nothing else has to be kept in registers.
        layout.prepare(at);
        pass!(false, 0, |_key, from| layout.row(from & 0xffff) as usize);
    }
    let each_thread = |i: usize| i * threads + at.thread as usize;
    if !output.is_empty() {
        each_key!(EACH I {
            if let Some(to) = layout.target(each_thread(I), places) {
                output.write(to, sorted.read(each_thread(I)));
            }
        });
    }
    if P::IS_HELD {
        // All are read before any is written: they may be in the same array.
        let [input, output] = payloads;
        let mut moved = [P::Word::default(); MOST_EACH];
        each_key!(EACH I {
            if layout.target(each_thread(I), places).is_some() {
                let from = u32::from(places.read(each_thread(I)));
                moved[I] = if are_indices {
                    P::of_index(layout.index(from) as usize)
                } else {
                    input.read(first + from as usize)
                };
            }
        });
        thread::sync_threads();
        each_key!(EACH I {
            if let Some(to) = layout.target(each_thread(I), places) {
                output.write(to, moved[I]);
            }
        });
    }
}

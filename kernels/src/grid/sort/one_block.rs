//! The sort of an array that fits into one block: all passes in one launch, in shared memory.

use super::order::{Order, Word};
use super::pass::{count_tile, each_key};
use super::payload::Payload;
use super::rank::{COUNTERS, Counters, DIGITS, here};
use super::tile::MOST_EACH;
use crate::block::ThreadPosition;
use crate::grid::overlap;
use cuda_std::memory::dynamic_shared;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

/// Keys per thread.
const EACH: usize = 16;

/// Threads of the block for `len` keys of `word` bytes, or `None` if they are too many. `is_90` says
/// that the kernel's image is for compute capability 9.0.
#[must_use]
pub const fn one_block_threads(len: usize, word: usize, is_90: bool) -> Option<u32> {
    // Elsewhere the block has to fit in 48 KiB. µs on an H200, 2026-11-26, one block and several, u32:
    // 15 and 22 with 2^13, 21 and 22 with 3 · 2^12, 27 and 23 with 2^14; u64: 31 and 45 with 2^13,
    // where wide keys need all registers.
    let most = if !is_90 {
        256
    } else if word == 8 {
        512
    } else {
        768
    };
    let threads = len.div_ceil(COUNTERS * EACH) * COUNTERS;
    if threads <= most { Some(threads as u32) } else { None }
}

/// Bytes of dynamic shared memory of a block of so many threads, for keys of `word` bytes.
#[must_use]
pub const fn one_block_shared_bytes(threads: u32, word: usize) -> u32 {
    let warps = threads as usize / WARP_SIZE as usize;
    (warps * COUNTERS * 4 + threads as usize * EACH * (word + 2)) as u32
}

/// Writes the keys of an array in order. Equal keys keep their order.
///
/// Called by every thread of one block of [`one_block_threads`], with [`one_block_shared_bytes`] of
/// dynamic shared memory. Of each pair of arrays the first is read and the second written; they may
/// be the same. If `are_indices` is not 0, the payload of the input is the index of the key.
#[device(protocol = "the sort")]
pub fn sort_in_one_block<O: Order, P: Payload>(
    order: O,
    keys: [Global<O::Word>; 2],
    payloads: [Global<P::Word>; 2],
    are_indices: u32,
) {
    let at = ThreadPosition::here();
    let threads = thread::block_dim_x() as usize;
    let (warps, tile) = (threads / WARP_SIZE as usize, threads * EACH);
    let shared = dynamic_shared::<u32>();
    let counters = shared.part(0, warps * COUNTERS);
    let words = size_of::<O::Word>() * tile / 4;
    let sorted = shared.part(warps * COUNTERS, words).cast::<O::Word>();
    let places = shared.part(warps * COUNTERS + words, tile / 2).cast::<u16>();
    let mine = at.warp as usize * COUNTERS;
    overlap::begin();

    // Lanes hold adjacent keys, and the rows of a warp follow each other, so ranks are in order.
    let [input, output] = keys;
    let start = at.warp as usize * (EACH * WARP_SIZE as usize) + at.lane as usize;
    let mut held = [O::Word::default(); MOST_EACH];
    // The place of each key in the input, and above it its rank.
    let mut from = [0; MOST_EACH];
    each_key!(EACH I {
        let place = start + I * WARP_SIZE as usize;
        // Padding has the last number. It comes after all keys, so they do not move.
        held[I] = if place < input.len() { input.read(place) } else { order.last() };
        from[I] = place as u32;
    });
    for pass in 0..O::Word::DIGITS {
        let digit_of = |key: O::Word| order.bits(key).digit(pass) as usize;
        if pass > 0 {
            each_key!(EACH I {
                held[I] = sorted.read(start + I * WARP_SIZE as usize);
                if P::IS_HELD {
                    from[I] = places.read(start + I * WARP_SIZE as usize).into();
                }
            });
        }
        counters.write_pack(mine + at.lane as usize * 4, [0; 4], CacheHint::Default);
        sync_warp(FULL_MASK);
        let of_warp = Counters::new(counters.cast::<u16>().part(2 * mine, DIGITS), at.lane);
        each_key!(EACH I {
            let rank = of_warp.rank(digit_of(held[I]) as u32);
            from[I] = here((from[I] & 0xffff) + (rank << 16));
        });
        thread::sync_threads();
        count_tile(counters, warps, order.flipped().digit(pass) as usize, at, |_, _| {});
        thread::sync_threads();
        each_key!(EACH I {
            let before = counters.cast::<u16>().read(2 * mine + digit_of(held[I]));
            let place = (u32::from(before) + (from[I] >> 16)) as usize;
            sorted.write(place, held[I]);
            if P::IS_HELD {
                places.write(place, from[I] as u16);
            }
        });
        thread::sync_threads();
    }
    let each_thread = |i: usize| i * threads + at.thread as usize;
    each_key!(EACH I {
        if each_thread(I) < output.len() {
            output.write(each_thread(I), sorted.read(each_thread(I)));
        }
    });
    if P::IS_HELD {
        // All are read before any is written: they may be in the same array.
        let [input, output] = payloads;
        let mut moved = [P::Word::default(); MOST_EACH];
        each_key!(EACH I {
            if each_thread(I) < output.len() {
                let from = usize::from(places.read(each_thread(I)));
                moved[I] = if are_indices != 0 { P::of_index(from) } else { input.read(from) };
            }
        });
        thread::sync_threads();
        each_key!(EACH I {
            if each_thread(I) < output.len() {
                output.write(each_thread(I), moved[I]);
            }
        });
    }
}

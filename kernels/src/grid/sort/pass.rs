//! One pass of the sort: the keys of an array in the order of one digit, stably.

use super::look_back::{MOST, Rows};
use super::order::{Order, Word};
use super::payload::Payload;
use super::rank::{Counters, DIGITS, here};
use super::state::{Arrays, State};
use crate::block::ThreadPosition;
use crate::grid::overlap;
use crate::op::Sum;
use crate::warp;
use cuda_std::memory::dynamic_shared;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Threads of a block: one per digit.
pub const THREADS: u32 = DIGITS as u32;

/// Warps of a block.
const WARPS: usize = (THREADS / WARP_SIZE) as usize;

/// The most keys per thread. With 40 keys of 4 bytes a thread has 80 registers, so three blocks fit
/// on a multiprocessor. µs of a pass of 2^28 u32 on an H200, 2026-11-26: 904 with 40 keys and three
/// blocks, 935 with 36, 997 with 32; with two blocks 961 with 48, 927 with 56, 938 with 64.
const MOST_EACH: usize = 40;

/// Keys per thread, if the larger of key and payload has `widest` bytes.
const fn each(widest: usize) -> usize {
    if widest > 4 { MOST_EACH / 2 } else { MOST_EACH }
}

/// Keys of a block, for keys of `word` bytes with a payload of `payload` bytes (0 if there is none).
#[must_use]
pub const fn tile(word: usize, payload: usize) -> usize {
    THREADS as usize * each(if word > payload { word } else { payload })
}

/// Tiles of a portion, at most, if a tile has `tile` keys.
#[must_use]
pub const fn most_tiles(tile: usize) -> u32 {
    (MOST / tile) as u32
}

/// Words of the counters of a warp: two counters in each.
const COUNTERS: usize = DIGITS / 2;

/// Bytes of dynamic shared memory of a block, for keys of `word` bytes with a payload of `payload`
/// bytes (0 if there is none).
#[must_use]
pub const fn shared_bytes(word: usize, payload: usize) -> u32 {
    let widest = if word > payload { word } else { payload };
    (WARPS * COUNTERS * 4 + tile(word, payload) * widest) as u32
}

shared_array! {
    /// The number of the tile.
    fn gridsync_sort_tile() -> [u32; 1];
}

shared_array! {
    /// For each digit: the number of keys of the tile.
    fn gridsync_sort_counts() -> [u32; DIGITS];
}

shared_array! {
    /// For each digit: the index in the sorted tile of its first key.
    fn gridsync_sort_starts() -> [u32; DIGITS];
}

shared_array! {
    /// For each digit: what is added to the index of a key in the sorted tile to get its index in
    /// the output.
    fn gridsync_sort_bases() -> [u64; DIGITS];
}

shared_array! {
    /// The numbers of keys of the first four warps' digits.
    fn gridsync_sort_warps() -> [u32; WARPS / 2];
}

/// Repeats a block for each of `each` keys of a thread. Unrolled, so that keys and ranks stay in
/// registers.
macro_rules! each_key {
    ($each:ident $i:ident $body:block) => {
        each_key!(@ $each $i $body
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
            20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39)
    };
    (@ $each:ident $i:ident $body:block $($n:literal)*) => {
        $({ const $i: usize = $n; if $i < $each $body })*
    };
}

/// How an array is sorted.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Portions {
    /// The number of portions.
    pub count: u32,
    /// Tiles of each but the last, at most [`most_tiles`].
    pub tiles: u32,
    /// Whether the payload of the input is the index of the key.
    pub are_indices: u32,
}

// SAFETY: `repr(C)` of three numbers.
unsafe impl cuda_std::launch::KernelArg for Portions {}

/// Writes the keys of an array in the order of digit `pass` of their numbers, as planned by
/// [`count`](super::count()). Keys with the same digit keep their order.
///
/// Called by every thread of a grid of [`THREADS`] along x, one block for each [`tile`] of keys,
/// with [`shared_bytes`] of dynamic shared memory. `rows` have 256 words for each tile, twice. The
/// blocks need not be co-resident.
#[device(protocol = "the sort")]
pub fn scatter<O: Order, P: Payload>(
    order: O,
    pass: u32,
    keys: Arrays<O::Word>,
    payloads: Arrays<P::Word>,
    state: State,
    rows: Global<u32>,
    portions: Portions,
) {
    let each = const { each(widest::<O, P>()) };
    let tile_len = THREADS as usize * each;
    let at = ThreadPosition::here();
    let own = at.thread as usize;
    let shared = dynamic_shared::<u32>();
    let counters = shared.part(0, WARPS * COUNTERS);
    let words = shared.part(WARPS * COUNTERS, tile_len * widest::<O, P>() / 4);
    let sorted = words.cast::<O::Word>().part(0, tile_len);
    let digit_of = |key: O::Word| order.number(key).digit(pass) as usize;

    let mine = at.warp as usize * COUNTERS;
    counters.write_pack(mine + at.lane as usize * 4, [0; 4], CacheHint::Default);
    overlap::begin();
    let plan = state.pass(pass);
    if !plan.runs() {
        return;
    }
    if at.thread == 0 {
        gridsync_sort_tile().write(0, state.tile(pass));
    }
    thread::sync_threads();
    let tile = gridsync_sort_tile().read(0);
    let [now, next] = [plan.half(), 1 - plan.half()]
        .map(|half| Rows(rows.part(half * (rows.len() / 2), rows.len() / 2)));
    next.clear(tile, own);

    // Lanes hold adjacent keys, and the rows of a warp follow each other, so ranks are in order.
    let input = keys.array(plan.from());
    let first = tile as usize * tile_len;
    let len = (input.len() - first).min(tile_len);
    let start = at.warp as usize * (each * WARP_SIZE as usize) + at.lane as usize;
    let mut held = [O::Word::default(); MOST_EACH];
    each_key!(each I {
        let place = start + I * WARP_SIZE as usize;
        // Padding has the last number. It comes after all keys, so they do not move.
        held[I] = if place < len { input.read(first + place) } else { order.last() };
    });

    let of_warp = Counters::new(counters.cast::<u16>().part(2 * mine, DIGITS), at.lane);
    let mut ranks = [0; MOST_EACH / 2];
    each_key!(each I {
        let rank = of_warp.rank(digit_of(held[I]) as u32);
        // Two to a register.
        ranks[I / 2] = if I % 2 == 0 { rank } else { here(ranks[I / 2] + (rank << 16)) };
    });
    each_key!(each I { held[I] = held[I].here(); });
    thread::sync_threads();

    count_tile(counters, tile, now, at);
    thread::sync_threads();

    each_key!(each I {
        let rank = if I % 2 == 0 { ranks[I / 2] & 0xffff } else { ranks[I / 2] >> 16 };
        let before = counters.cast::<u16>().read(2 * mine + digit_of(held[I]));
        let place = u32::from(before) + rank;
        sorted.write(place as usize, held[I]);
        if P::IS_HELD {
            let before = u32::from(before) << (16 * (I % 2));
            ranks[I / 2] = here(ranks[I / 2] + before);
        }
    });
    let (portion, earlier) = (tile / portions.tiles, tile % portions.tiles);
    let count = gridsync_sort_counts().read(own);
    let before = now.before(tile, earlier, own, count);
    let all = portions.count as usize;
    let base = state.carried(all, pass, portion as usize, own) + u64::from(before);
    if earlier == portions.tiles - 1 {
        state.carry_on(all, pass, portion as usize + 1, own, base + u64::from(count));
    }
    gridsync_sort_bases().write(own, base.wrapping_sub(gridsync_sort_starts().read(own).into()));
    thread::sync_threads();

    let output = keys.array(plan.to());
    let destination = |digit: usize, place: usize| {
        gridsync_sort_bases().read(digit).wrapping_add(place as u64) as usize
    };
    let mut digits = [0; MOST_EACH / 4];
    each_key!(each I {
        let place = I * THREADS as usize + own;
        if place < len {
            let key = sorted.read(place);
            let digit = digit_of(key);
            if P::IS_HELD {
                digits[I / 4] |= (digit as u32) << (8 * (I % 4));
            }
            output.write(destination(digit, place), key);
        }
    });
    if P::IS_HELD {
        let (from, to) = (payloads.array(plan.from()), payloads.array(plan.to()));
        let are_indices = plan.is_first() && portions.are_indices != 0;
        let mut held = [P::Word::default(); MOST_EACH];
        each_key!(each I {
            let place = start + I * WARP_SIZE as usize;
            if place < len {
                held[I] = if are_indices {
                    P::of_index(first + place)
                } else {
                    from.read(first + place)
                };
            }
        });
        let sorted = words.cast::<P::Word>().part(0, tile_len);
        thread::sync_threads();
        each_key!(each I {
            let place = if I % 2 == 0 { ranks[I / 2] & 0xffff } else { ranks[I / 2] >> 16 };
            sorted.write(place as usize, held[I]);
        });
        thread::sync_threads();
        each_key!(each I {
            let place = I * THREADS as usize + own;
            if place < len {
                let digit = digits[I / 4] >> (8 * (I % 4)) & 0xff;
                to.write(destination(digit as usize, place), sorted.read(place));
            }
        });
    }
}

/// Bytes of the larger of a key and its payload.
const fn widest<O: Order, P: Payload>() -> usize {
    let (word, payload) = (size_of::<O::Word>(), size_of::<P::Word>());
    if P::IS_HELD && payload > word { payload } else { word }
}

/// Turns the counters of each warp into the index in the sorted tile of its first key with each
/// digit, and sends the counts of the tile. Called by all threads; contains a block barrier.
#[device]
fn count_tile(counters: Shared<u32>, tile: u32, rows: Rows, at: ThreadPosition) {
    let pair = at.thread as usize;
    let (mut counts, mut up_to) = (0, 0);
    if pair < COUNTERS {
        // Both digits of a word at once: no count reaches 2^16.
        for warp in 0..WARPS {
            let word = warp * COUNTERS + pair;
            let count = counters.read(word);
            counters.write(word, counts);
            counts += count;
        }
        let [low, high] = [counts & 0xffff, counts >> 16];
        rows.send(tile, 2 * pair, low);
        rows.send(tile, 2 * pair + 1, high);
        gridsync_sort_counts().write(2 * pair, low);
        gridsync_sort_counts().write(2 * pair + 1, high);
        up_to = warp::scan(Sum::<u32>::new(), low + high);
        if at.lane == WARP_SIZE - 1 {
            gridsync_sort_warps().write(at.warp as usize, up_to);
        }
    }
    thread::sync_threads();
    if pair < COUNTERS {
        let [low, high] = [counts & 0xffff, counts >> 16];
        let mut start = up_to - low - high;
        for warp in 0..WARPS / 2 - 1 {
            if warp < at.warp as usize {
                start += gridsync_sort_warps().read(warp);
            }
        }
        gridsync_sort_starts().write(2 * pair, start);
        gridsync_sort_starts().write(2 * pair + 1, start + low);
        let both = start | (start + low) << 16;
        for warp in 0..WARPS {
            let word = warp * COUNTERS + pair;
            counters.write(word, counters.read(word) + both);
        }
    }
}

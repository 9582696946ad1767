//! One pass of the sort: the keys of an array in the order of one digit, stably.

use super::look_back::Rows;
use super::order::{Order, Word};
use super::rank::{Counters, DIGITS, here};
use crate::block::ThreadPosition;
use crate::op::Sum;
use crate::warp;
use cuda_std::memory::dynamic_shared;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Threads of a block: one per digit.
pub const THREADS: u32 = DIGITS as u32;

/// Warps of a block.
const WARPS: usize = (THREADS / WARP_SIZE) as usize;

/// Keys per thread. With 40 keys of 4 bytes a thread has 80 registers, so three blocks fit on a
/// multiprocessor. µs of a pass of 2^28 u32 on an H200, 2026-11-26: 904 with 40 keys and three
/// blocks, 935 with 36, 997 with 32; with two blocks 961 with 48, 927 with 56, 938 with 64.
const EACH: usize = 40;

/// Keys of a block.
pub const TILE: usize = THREADS as usize * EACH;

/// Words of the counters of a warp: two counters in each.
const COUNTERS: usize = DIGITS / 2;

/// Bytes of shared memory of a block, for keys of `word` bytes.
#[must_use]
pub const fn shared_bytes(word: usize) -> u32 {
    (WARPS * COUNTERS * 4 + TILE * word) as u32
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

/// Repeats a block for each key of a thread. Unrolled, so that keys and ranks stay in registers.
macro_rules! each_key {
    ($i:ident $body:block) => {
        each_key!(@ $i $body
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
            20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39)
    };
    (@ $i:ident $body:block $($n:literal)*) => { $({ const $i: usize = $n; $body })* };
}

/// Writes the keys of `input` to `output` in the order of digit `digit` of their numbers. Keys with
/// the same digit keep their order.
///
/// Called by every thread of a grid of [`THREADS`] along x, one block for each [`TILE`] keys, with
/// [`shared_bytes`] of dynamic shared memory. `starts` has for each value of the digit the number
/// of keys with a smaller one. `rows` are zero. The blocks need not be co-resident.
#[device(protocol = "the sort")]
pub fn scatter<O: Order>(
    order: O,
    digit: u32,
    input: Global<O::Word>,
    output: Global<O::Word>,
    starts: Global<u64>,
    rows: Rows,
) {
    let at = ThreadPosition::here();
    let shared = dynamic_shared::<u32>();
    let counters = shared.part(0, WARPS * COUNTERS);
    let sorted = shared.part(WARPS * COUNTERS, TILE * size_of::<O::Word>() / 4).cast::<O::Word>();
    let digit_of = |key: O::Word| order.number(key).digit(digit) as usize;

    if at.thread == 0 {
        gridsync_sort_tile().write(0, rows.draw());
    }
    let mine = at.warp as usize * COUNTERS;
    counters.write_pack(mine + at.lane as usize * 4, [0; 4], CacheHint::Default);
    thread::sync_threads();
    let tile = gridsync_sort_tile().read(0);

    // Lanes hold adjacent keys, and the rows of a warp follow each other, so ranks are in order.
    let first = tile as usize * TILE;
    let len = (input.len() - first).min(TILE);
    let start = at.warp as usize * (EACH * WARP_SIZE as usize) + at.lane as usize;
    let mut keys = [O::Word::default(); EACH];
    each_key!(I {
        let place = start + I * WARP_SIZE as usize;
        // Padding has the last number. It comes after all keys, so they do not move.
        keys[I] = if place < len { input.read(first + place) } else { order.last() };
    });

    let of_warp = Counters::new(counters.cast::<u16>().part(2 * mine, DIGITS), at.lane);
    let mut ranks = [0; EACH / 2];
    each_key!(I {
        let rank = of_warp.rank(digit_of(keys[I]) as u32);
        // Two to a register.
        ranks[I / 2] = if I % 2 == 0 { rank } else { here(ranks[I / 2] + (rank << 16)) };
    });
    each_key!(I { keys[I] = keys[I].here(); });
    thread::sync_threads();

    count_tile(counters, tile, rows, at);
    thread::sync_threads();

    each_key!(I {
        let digit = digit_of(keys[I]);
        let rank = if I % 2 == 0 { ranks[I / 2] & 0xffff } else { ranks[I / 2] >> 16 };
        let before = counters.cast::<u16>().read(2 * mine + digit);
        sorted.write(usize::from(before) + rank as usize, keys[I]);
    });
    let own = at.thread as usize;
    let before = rows.before(tile, own, gridsync_sort_counts().read(own));
    let base = starts.read(own) + u64::from(before);
    gridsync_sort_bases().write(own, base.wrapping_sub(gridsync_sort_starts().read(own).into()));
    thread::sync_threads();

    each_key!(I {
        let place = I * THREADS as usize + own;
        if place < len {
            let key = sorted.read(place);
            let base = gridsync_sort_bases().read(digit_of(key));
            output.write(base.wrapping_add(place as u64) as usize, key);
        }
    });
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

//! One pass of the sort: the keys of an array in the order of one digit, stably.

use super::count::counted;
use super::each_key::each_key;
use super::look_back::TileRows;
use super::order::{Order, Word};
use super::payload::Payload;
use super::state::{Arrays, Plan, State};
use super::tile::{MOST_EACH, Shape, THREADS, Tiles, WARPS};
use crate::block::ThreadPosition;
use crate::block::ranks::{COUNTERS, Counters, DIGITS, count_tile, gridsync_sort_starts, here};
use crate::grid::overlap;
use cuda_std::memory::dynamic_shared;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

shared_array! {
    /// The number of the tile, the plan, the portion, the tiles of this before the tile, and the keys
    /// of the tile. They are read again where they are used, which costs fewer registers.
    fn gridsync_sort_tile() -> [u32; 5];
}

shared_array! {
    /// The index of the first key of the tile.
    fn gridsync_sort_first() -> [u64; 1];
}

shared_array! {
    /// For each digit: the number of keys of the tile.
    fn gridsync_sort_counts() -> [u32; DIGITS];
}

shared_array! {
    /// For each digit: the address in the output that key 0 of the sorted tile would have, if it
    /// had this digit.
    fn gridsync_sort_bases() -> [u64; DIGITS];
}

/// Like `each_key`, once for a whole tile, where every key is there, and once for others. With a
/// branch for each key, its loads would wait for each other.
macro_rules! each_whole_or {
    ($is_whole:ident $each:ident $i:ident, $is_there:ident $body:block) => {
        if $is_whole {
            each_key!($each $i { const $is_there: bool = true; $body });
        } else {
            each_key!($each $i { const $is_there: bool = false; $body });
        }
    };
}

/// Like `each_key`, but the first block for [`PART`] keys, and then the second for these.
macro_rules! in_parts {
    ($each:ident $held:ident: $ty:ty, $i:ident $j:ident $first:block $second:block) => {
        in_parts!(@ $each $held $ty, $i $j $first $second 0 1 2 3)
    };
    (@ $each:ident $held:ident $ty:ty, $i:ident $j:ident $first:block $second:block $($n:literal)*) => {$({
        let mut $held = [<$ty>::default(); PART];
        in_part!($i $j $n { if $i < $each $first });
        in_part!($i $j $n { if $i < $each $second });
    })*};
}

/// Repeats a block for each key of part `n`.
macro_rules! in_part {
    ($i:ident $j:ident $n:literal $body:block) => {
        in_part!(@ $i $j $n $body 0 1 2 3 4 5 6 7 8 9)
    };
    (@ $i:ident $j:ident $n:literal $body:block $($k:literal)*) => {$({
        const $j: usize = $k;
        const $i: usize = PART * $n + $k;
        $body
    })*};
}

/// Payloads that a thread holds at once.
const PART: usize = MOST_EACH / 4;

/// How an array is sorted.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Portions {
    /// The number of portions.
    pub count: u32,
    /// Tiles of each but the last, at most [`Shape::most_tiles`].
    pub tiles: u32,
    /// Keys of each but the last: as many as its tiles have, or those of a row.
    pub len: u64,
    /// Bit 0: the payload of the input is the index of the key. Bit 1: portions are rows, which are
    /// sorted separately, and indices are those in the row.
    pub flags: u32,
    /// If rows have different lengths, the [words](tile_words) of each tile; else empty.
    pub table: Global<u64>,
    /// As [`Task::count`](super::Task::count).
    pub counted: Global<u64>,
}

// SAFETY: `repr(C)` of numbers and a view.
unsafe impl cuda_std::launch::KernelArg for Portions {}

/// Words of a tile in [`Portions::table`].
const TILE_WORDS: usize = 3;

/// The words of a tile: the index of its first key; the number of its keys, and above it the number of
/// its portion; and the tiles of this before it.
#[must_use]
pub const fn tile_words(first: u64, len: u32, portion: u32, earlier: u32) -> [u64; TILE_WORDS] {
    [first, len as u64 | (portion as u64) << 32, earlier as u64]
}

impl Portions {
    const ARE_INDICES: u32 = 1;
    const ARE_ROWS: u32 = 2;

    /// Whether they are rows.
    #[inline(always)]
    fn are_rows(self) -> bool {
        self.flags & Self::ARE_ROWS != 0
    }

    /// Stores what a tile sorts, of an array of `all` keys. Full tiles have `tile_len`. Called by one
    /// thread.
    #[inline(always)]
    fn find(self, tile: u32, tile_len: usize, all: usize) {
        let (portion, earlier, first, len);
        if self.table.is_empty() {
            portion = if self.count == 1 { 0 } else { tile / self.tiles };
            earlier = tile - portion * self.tiles;
            let start = portion as usize * self.len as usize;
            let end = (start + self.len as usize).min(all);
            first = start + earlier as usize * tile_len;
            len = end.saturating_sub(first).min(tile_len) as u32;
        } else {
            let word = |at: usize| self.table.read(tile as usize * TILE_WORDS + at);
            let both = word(1);
            (portion, earlier) = ((both >> 32) as u32, word(2) as u32);
            (first, len) = (word(0) as usize, both as u32);
        }
        gridsync_sort_tile().write(2, portion);
        gridsync_sort_tile().write(3, earlier);
        gridsync_sort_tile().write(4, len);
        gridsync_sort_first().write(0, first as u64);
    }
}

/// Writes the keys of an array in the order of digit `pass` of their numbers, as planned by
/// [`count`](super::count()). Keys with the same digit keep their order.
///
/// Called by every thread of a grid of [`THREADS`] along x, one block for each tile of keys, of
/// [`Shape::tile`], with [`Shape::shared_bytes`] of dynamic shared memory. `rows` have 256 words for
/// each tile, twice. The blocks need not be co-resident.
#[device(protocol = "the sort")]
pub fn scatter<O: Order, P: Payload, T: Tiles>(
    order: O,
    pass: u32,
    keys: Arrays<O::Word>,
    payloads: Arrays<P::Word>,
    state: State,
    rows: Global<u32>,
    portions: Portions,
) {
    let each = const {
        let (word, payload) = (size_of::<O::Word>(), payload_size::<P>());
        let is_90 = cfg!(compute_ge_90);
        Shape { word, payload, is_small: T::ARE_SMALL, is_90 }.each()
    };
    let tile_len = THREADS as usize * each;
    let at = ThreadPosition::here();
    let own = at.thread as usize;
    let shared = dynamic_shared::<u32>();
    let counters = shared.part(0, WARPS * COUNTERS);
    let words = shared.part(WARPS * COUNTERS, tile_len * widest::<O, P>() / 4);
    let sorted = words.cast::<O::Word>().part(0, tile_len);
    // The bits of the order that are inverted only determine how the digits are ordered.
    let digit_of = |key: O::Word| order.bits(key).digit(pass) as usize;

    let mine = at.warp as usize * COUNTERS;
    counters.write_pack(mine + at.lane as usize * 4, [0; 4], CacheHint::Default);
    overlap::begin();
    if at.thread == 0 {
        let all = counted(keys.input.len(), portions.counted);
        // All are in flight together. A number that is drawn in a pass that does not run is
        // reset with the others.
        let (tile, plan) = (state.tile(pass), state.pass(pass));
        gridsync_sort_tile().write(0, tile);
        gridsync_sort_tile().write(1, plan.0);
        portions.find(tile, tile_len, all);
    }
    thread::sync_threads();
    let (tile, plan) = this_tile();
    if !plan.runs() {
        return;
    }
    half_of(rows, 1 - plan.half()).clear(tile, own);

    // Lanes hold adjacent keys, and the rows of a warp follow each other, so ranks are in order.
    let (first, len) = these_keys();
    if len == 0 {
        // The keys have been counted, and no later tile has any.
        return;
    }
    let input = keys.array(plan.from()).part(first, len);
    let start = at.warp as usize * (each * WARP_SIZE as usize) + at.lane as usize;
    let mut held = [O::Word::default(); MOST_EACH];
    if len == tile_len {
        each_key!(each I { held[I] = input.read(start + I * WARP_SIZE as usize); });
    } else {
        each_key!(each I {
            let place = start + I * WARP_SIZE as usize;
            // Padding has the last number. It comes after all keys, so they do not move.
            held[I] = if place < len { input.read(place) } else { order.last() };
        });
    }

    let of_warp = Counters::new(counters.cast::<u16>().part(2 * mine, DIGITS), at.lane);
    let mut ranks = [0; MOST_EACH / 2];
    each_key!(each I {
        let rank = of_warp.rank(digit_of(held[I]) as u32);
        // Two to a register.
        ranks[I / 2] = if I.is_multiple_of(2) { rank } else { here(ranks[I / 2] + (rank << 16)) };
    });
    each_key!(each I { held[I] = held[I].here(); });
    thread::sync_threads();

    let flipped = order.flipped().digit(pass) as usize;
    count_tile(counters, WARPS, flipped, at, |digit, count| {
        let (tile, plan) = this_tile();
        half_of(rows, plan.half()).send(tile, digit, count);
        gridsync_sort_counts().write(digit, count);
    });
    thread::sync_threads();

    let (portion, _) = this_portion();
    let all = portions.count as usize;
    let carry = state.carry_so_far(all, pass, portion as usize, own);
    each_key!(each I {
        let rank = if I.is_multiple_of(2) { ranks[I / 2] & 0xffff } else { ranks[I / 2] >> 16 };
        let before = counters.cast::<u16>().read(2 * mine + digit_of(held[I]));
        let place = u32::from(before) + rank;
        sorted.write(place as usize, held[I]);
        if P::IS_HELD {
            let before = u32::from(before) << (16 * (I % 2));
            ranks[I / 2] = here(ranks[I / 2] + before);
        }
    });
    let ((tile, plan), (portion, earlier)) = (this_tile(), this_portion());
    let count = gridsync_sort_counts().read(own);
    let before = half_of(rows, plan.half()).before(tile, earlier, own, count);
    let base = state.carried(all, pass, portion as usize, own, carry) + u64::from(before);
    if earlier + 1 == portions.tiles && !portions.are_rows() {
        state.carry_on(all, pass, portion as usize + 1, own, base + u64::from(count));
    }
    // Where key 0 of the sorted tile would be.
    let base = base.wrapping_sub(gridsync_sort_starts().read(own).into());
    let output = keys.array(plan.to());
    let address = |output: u64, size: usize| output.wrapping_add(base.wrapping_mul(size as u64));
    gridsync_sort_bases().write(own, address(output.address(), size_of::<O::Word>()));
    let (_, len) = these_keys();
    thread::sync_threads();

    let own = again(own);
    let mut digits = [0; MOST_EACH / 4];
    let is_whole = len == tile_len;
    each_whole_or!(is_whole each I, IS_THERE {
        let place = I * THREADS as usize + own;
        let key = sorted.read(place);
        let digit = digit_of(key);
        if P::IS_HELD {
            // Four to a register.
            digits[I / 4] = here(digits[I / 4] | (digit as u32) << (8 * (I % 4)));
        }
        if IS_THERE || place < len {
            // SAFETY: the output has room for all keys, and this is one of them.
            unsafe { write_from_base(digit, place, tile_len, key) };
        }
    });
    if P::IS_HELD {
        let ((_, earlier), (first, _)) = (this_portion(), these_keys());
        let first_index = if portions.are_rows() { earlier as usize * tile_len } else { first };
        let (from, to) = (payloads.array(plan.from()), payloads.array(plan.to()));
        let are_indices = plan.is_first() && portions.flags & Portions::ARE_INDICES != 0;
        // Computed again: kept from above, they and all indices made of them would be spilled.
        let [start, own, len] = [start, own, len].map(again);
        let load = |place: usize, is_there: bool| {
            if is_there || place < len {
                if are_indices {
                    P::of_index(first_index + place)
                } else {
                    from.read(first + place)
                }
            } else {
                P::Word::default()
            }
        };
        let sorted = words.cast::<P::Word>().part(0, tile_len);
        thread::sync_threads();
        gridsync_sort_bases()
            .write(at.thread as usize, address(to.address(), size_of::<P::Word>()));
        // In parts: all at once would need more registers than there are.
        let place =
            |rank: u32, i: usize| if i.is_multiple_of(2) { rank & 0xffff } else { rank >> 16 };
        if is_whole {
            in_parts!(each held: P::Word, I J {
                held[J] = load(start + I * WARP_SIZE as usize, true);
            } {
                sorted.write(place(ranks[I / 2], I) as usize, held[J]);
            });
        } else {
            in_parts!(each held: P::Word, I J {
                held[J] = load(start + I * WARP_SIZE as usize, false);
            } {
                sorted.write(place(ranks[I / 2], I) as usize, held[J]);
            });
        }
        let [own, len] = [own, len].map(again);
        thread::sync_threads();
        each_whole_or!(is_whole each I, IS_THERE {
            let place = I * THREADS as usize + own;
            if IS_THERE || place < len {
                let digit = digits[I / 4] >> (8 * (I % 4)) & 0xff;
                // SAFETY: as above.
                unsafe { write_from_base(digit as usize, place, tile_len, sorted.read(place)) };
            }
        });
    }
}

/// An index within a tile, computed again.
#[inline(always)]
fn again(index: usize) -> usize {
    here(index as u32) as usize
}

/// Writes a value of the sorted tile, which has `tile_len`, to the output. One multiplication makes
/// the address.
///
/// # Safety
///
/// The output has an element there, and nothing else accesses it.
#[inline(always)]
unsafe fn write_from_base<T: Scalar>(digit: usize, place: usize, tile_len: usize, value: T) {
    // SAFETY: the caller's promise.
    let output = unsafe { Global::from_address(gridsync_sort_bases().read(digit), tile_len) };
    output.write(place, value);
}

/// The number of the tile, and what the pass does.
#[inline(always)]
fn this_tile() -> (u32, Plan) {
    (gridsync_sort_tile().read(0), Plan(gridsync_sort_tile().read(1)))
}

/// The portion of the tile, and the tiles of this before it.
#[inline(always)]
fn this_portion() -> (u32, u32) {
    (gridsync_sort_tile().read(2), gridsync_sort_tile().read(3))
}

/// The index of the first key of the tile, and the number of its keys.
#[inline(always)]
fn these_keys() -> (usize, usize) {
    (gridsync_sort_first().read(0) as usize, gridsync_sort_tile().read(4) as usize)
}

/// One of the halves of the rows.
#[inline(always)]
fn half_of(rows: Global<u32>, half: usize) -> TileRows {
    TileRows(rows.part(half * (rows.len() / 2), rows.len() / 2))
}

/// Bytes of the larger of a key and its payload.
const fn widest<O: Order, P: Payload>() -> usize {
    let (word, payload) = (size_of::<O::Word>(), payload_size::<P>());
    if payload > word { payload } else { word }
}

/// Bytes of the payload of a key.
const fn payload_size<P: Payload>() -> usize {
    if P::IS_HELD { size_of::<P::Word>() } else { 0 }
}

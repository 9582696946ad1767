//! The sort of rows that are not longer than a warp: a lane has one key of each of several rows.

use super::one_block::Rows;
use super::order::{Order, Word};
use super::payload::Payload;
use crate::block::ThreadPosition;
use crate::grid::overlap;
use crate::warp;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

/// Threads of a block.
pub const SHORT_ROW_THREADS: u32 = 256;

/// Keys of a lane. Their loads are in flight together. µs of 2^26 u32 in rows of 16 on an H200,
/// 2026-11-27: 368 with 4.
const EACH: usize = 8;

/// Rows of a block, if rows have `len` keys, which is 1 to 32.
#[must_use]
pub const fn short_rows_of_block(len: u32) -> u32 {
    SHORT_ROW_THREADS / WARP_SIZE * EACH as u32 * (WARP_SIZE / len)
}

/// Writes the keys of each row in order. Equal keys keep their order. Rows have at most 32 keys, and
/// at least one.
///
/// Called by every thread of a grid of [`SHORT_ROW_THREADS`] along x, one block for each
/// [`short_rows_of_block`]. The arrays are those of
/// [`sort_in_one_block`](super::sort_in_one_block()); `rows.each` is not used.
#[device(protocol = "the sort")]
pub fn sort_short_rows<O: Order, P: Payload>(
    order: O,
    keys: [Global<O::Word>; 2],
    payloads: [Global<P::Word>; 2],
    rows: Rows,
) {
    overlap::begin();
    let at = ThreadPosition::here();
    // Adjacent rows are in adjacent lanes, so that loads and stores are coalesced.
    let together = WARP_SIZE / rows.len;
    let (row, index) = (at.lane / rows.len, at.lane % rows.len);
    let first_row = u64::from(thread::block_idx_x()) * u64::from(short_rows_of_block(rows.len))
        + u64::from(at.warp * together * EACH as u32);
    if first_row >= rows.count {
        return;
    }
    // From here on in the rows of the warp, so that places have 32 bits.
    let count = (rows.count - first_row).min((together * EACH as u32).into()) as u32;
    let of_warp =
        |row_len: u32| (first_row as usize * row_len as usize, (count * row_len) as usize);
    let ((first, len), (first_kept, kept)) = (of_warp(rows.len), of_warp(rows.kept));
    // Rows of this lane; lanes that are left over have none.
    let mine = if row < together { (count + together - 1 - row) / together } else { 0 };
    let is_there = |i: usize| (i as u32) < mine;
    let place = |i: usize| (i as u32 * together * rows.len + at.lane) as usize;

    let input = keys[0].part(first, len);
    let held: [O::Word; EACH] =
        Pack::from_fn(|i| if is_there(i) { input.read(place(i)) } else { O::Word::default() });
    let moved: [P::Word; EACH] = Pack::from_fn(|i| {
        if !P::IS_HELD {
            P::Word::default()
        } else if rows.are_indices != 0 {
            P::of_index(index as usize)
        } else if is_there(i) {
            payloads[0].part(first, len).read(place(i))
        } else {
            P::Word::default()
        }
    });
    let first_lane = if row < together { at.lane - index } else { 0 };
    let numbers: [<O::Word as Word>::Lane; EACH] = Pack::from_fn(|i| order.number(held[i]).into());
    let ranks = warp::ranks(numbers, first_lane, rows.len);
    // All lanes have read: the output may be the input.
    sync_warp(FULL_MASK);
    let write = |each: &dyn Fn(usize, usize)| {
        ranks.for_each(|i, rank| {
            if is_there(i) && rank < rows.kept {
                each(i, ((i as u32 * together + row) * rows.kept + rank) as usize);
            }
        });
    };
    if !keys[1].is_empty() {
        let output = keys[1].part(first_kept, kept);
        write(&|i, to| output.write(to, held[i]));
    }
    if P::IS_HELD {
        let output = payloads[1].part(first_kept, kept);
        write(&|i, to| output.write(to, moved[i]));
    }
}

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

/// Keys of a lane. Their loads are in flight together.
const EACH: usize = 4;

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
        + u64::from(at.warp) * u64::from(together) * EACH as u64;
    // Lanes that are left over have no row.
    let row_of = |i: usize| {
        let number = first_row + (i as u64) * u64::from(together) + u64::from(row);
        (row < together && number < rows.count).then_some(number as usize)
    };

    let held: [O::Word; EACH] = Pack::from_fn(|i| {
        row_of(i).map_or(O::Word::default(), |row| {
            keys[0].read(row * rows.len as usize + index as usize)
        })
    });
    let moved: [P::Word; EACH] = Pack::from_fn(|i| {
        if !P::IS_HELD {
            P::Word::default()
        } else if rows.are_indices != 0 {
            P::of_index(index as usize)
        } else {
            row_of(i).map_or(P::Word::default(), |row| {
                payloads[0].read(row * rows.len as usize + index as usize)
            })
        }
    });
    let first_lane = if row < together { at.lane - index } else { 0 };
    let numbers: [<O::Word as Word>::Lane; EACH] = Pack::from_fn(|i| order.number(held[i]).into());
    let ranks = warp::ranks(numbers, first_lane, rows.len);
    // All lanes have read: the output may be the input.
    sync_warp(FULL_MASK);
    ranks.for_each(|i, rank| {
        if let Some(row) = row_of(i).filter(|_| rank < rows.kept) {
            let to = row * rows.kept as usize + rank as usize;
            if !keys[1].is_empty() {
                keys[1].write(to, held[i]);
            }
            if P::IS_HELD {
                payloads[1].write(to, moved[i]);
            }
        }
    });
}

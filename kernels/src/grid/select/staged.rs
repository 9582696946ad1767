//! The kept elements of a tile on their way to the output, adjacent in shared memory.

use super::held::{ROWS, flag, most_rows};
use crate::block::ThreadPosition;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Bytes of the largest tile.
const TILE: usize = 32 << 10;

/// Bytes of all banks of shared memory together.
const BANKS: usize = 128;

shared_array! {
    /// A tile, with a gap after each 128 bytes.
    fn gridsync_select_staged() -> [u64; TILE / 8 + TILE / BANKS];
}

/// The slot of value `number`. Gaps of one value keep lanes that are a pack apart out of each
/// other's banks.
#[inline(always)]
fn slot<T: Scalar>(number: u32) -> usize {
    let gap = (BANKS / size_of::<T>()) as u32;
    (number + number / gap) as usize
}

/// Puts the values of elements with a bit in `flags` next to each other, each row starting at its
/// rank. Called by every thread for its own. A block barrier must follow.
#[device]
pub(super) fn put<T: Scalar, V: Scalar>(
    flags: u32,
    ranks: [u32; ROWS],
    value: impl Fn(usize, usize) -> V,
) {
    // A warp that keeps nothing returns, which matters if few elements are kept.
    if flags == 0 {
        return;
    }
    let staged = gridsync_select_staged().cast::<V>();
    ranks.for_each(|row, mut rank| {
        [(); 8].for_each(|place, ()| {
            let is_there = row < most_rows::<T>() && place < T::PACK;
            if is_there && flags & flag::<T>(row, place) != 0 {
                staged.write(slot::<V>(rank), value(row, place));
                rank += 1;
            }
        });
    });
}

/// Writes the values, starting with number `from`, to all of `output`. Called by all threads of the
/// block.
///
/// In units of 16 bytes, except before the first multiple of 16 bytes and after the last one.
#[device]
pub(super) fn take<T: Scalar>(from: u32, output: Global<T>, at: ThreadPosition) {
    let staged = gridsync_select_staged().cast::<T>();
    let value = |number| staged.read(slot::<T>(from + number));
    let (len, width) = (output.len() as u32, T::PACK as u32);
    let head = output.unaligned_head() as u32;
    let packs = (len - head) / width;
    let tail = head + packs * width;
    if at.thread < head {
        output.write(at.thread as usize, value(at.thread));
    }
    let mut pack = at.thread;
    while pack < packs {
        let first = head + pack * width;
        let values = Pack::from_fn(|place| value(first + place as u32));
        output.write_pack(first as usize, values, CacheHint::Streaming);
        pack += at.threads;
    }
    if at.thread < len - tail {
        let last = tail + at.thread;
        output.write(last as usize, value(last));
    }
}

/// Writes positions in the tile to all of `output` as positions in the array. The tile begins at
/// element `first`. Called by all threads of the block.
#[device]
pub(super) fn take_positions(first: usize, output: Global<u64>, at: ThreadPosition) {
    let staged = gridsync_select_staged().cast::<u32>();
    let mut number = at.thread;
    while number < output.len() as u32 {
        let position = staged.read(slot::<u32>(number));
        output.write(number as usize, (first + position as usize) as u64);
        number += at.threads;
    }
}

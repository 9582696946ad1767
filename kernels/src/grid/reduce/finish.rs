//! Results of rows as elements, from accumulators.

use crate::block::ThreadPosition;
use crate::grid::overlap::begin;
use crate::op::{Carried, Operation, Stored, from_each_word};
use cuda_std::prelude::*;

/// Writes the result of each row to `output`: that of `columns` elements which `op` has combined to
/// the accumulator in `words`. A reduction of [long](super::reduce_long_rows) or
/// [short](super::reduce_short_rows) rows has written these.
///
/// Called by every thread of a grid along x, at least one per row. `words` has the words of an
/// accumulator per element of `output`, and does not overlap it. Needs no barrier, shared memory or
/// co-residency. The launch may [overlap](cuda_std::dependent) the kernel before it.
#[device]
pub fn finish_rows<O: Operation<Output: Stored<R>>, R: Scalar>(
    op: O,
    words: Global<u32>,
    columns: u64,
    output: Global<R>,
) {
    begin();
    let at = ThreadPosition::here();
    let row = thread::block_idx_x() as usize * at.threads as usize + at.thread as usize;
    if row < output.len() {
        let words = words.part(row * O::Accumulator::WORDS, O::Accumulator::WORDS);
        let all = from_each_word(|i| words.read(i));
        output.write(row, op.finish_of(all, columns).stored());
    }
}

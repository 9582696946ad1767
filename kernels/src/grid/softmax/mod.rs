//! Softmax of each row of a matrix: e to the power of each element, divided by the sum of these.
//!
//! The greatest element is subtracted from each before e is raised to it, so nothing overflows. The
//! sum of exponentials is f64, along the tree of a [reduction](mod@super::reduce) of the row, so
//! a row has the same bits at any position, in any matrix.
//!
//! * A row of at most one run is **short**. A warp handles a batch of rows, as in a reduction of
//!   [short rows](super::reduce::reduce_short_rows), and keeps them in registers.
//! * A row of at most [`WARPS`](Softmax::WARPS) runs, 128 KiB or 64 KiB for elements of 2 bytes, is **middle**. It has a block,
//!   with a warp per run, which keeps it in registers.
//! * For a **long** row, [`LogSumExp`](crate::op::LogSumExp) finds the greatest element and the
//!   sum in a launch of [`reduce_long_rows`](super::reduce::reduce_long_rows), and a second launch
//!   reads the elements again.
//!
//! Rows in registers are read once and written once. Their greatest element is known before the
//! first exponential, so there is one exponential per element. `LogSumExp` has three or more per
//! element if rows are short: one for each combination of two accumulators, which is more than
//! memory leaves time for. A sum relative to the final greatest element also has smaller errors.
//!
//! A product with the reciprocal of the sum replaces the division: it is in the type of the
//! exponentials, f32 or f64, and then rounded to the type of the elements.

mod element;
mod run;

pub use element::Softmax;

use super::overlap::begin;
use super::reduce::{Batch, RUN_ROWS as ROWS, Shape};
use crate::block::ThreadPosition;
use crate::op::{Carried, Exponentials, from_each_word};
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;
use run::{Run, Values};

/// Log2 of the packs of a group: one per lane.
const LOG_GROUP: u32 = WARP_SIZE.ilog2();

/// The most elements of a middle row.
#[must_use]
pub const fn most_of_middle<T: Softmax>() -> usize {
    T::WARPS as usize * Shape::run::<T>()
}

/// Writes the softmax of each of `rows` short rows of `columns` elements of `input` to `output`.
///
/// Called by every thread of a grid along x, of whole warps, at least one per batch. `batch` is
/// [`Batch::of`] the columns, of which there is at least one. Both views have rows × columns
/// elements and do not overlap, and `input` is not written while the kernel runs. Needs no barrier,
/// shared memory or co-residency. The launch may [overlap](cuda_std::dependent) the kernel before
/// it.
#[device]
pub fn softmax_short_rows<T: Softmax>(
    input: Global<T>,
    output: Global<T>,
    rows: usize,
    columns: u32,
    batch: Batch,
) {
    begin();
    // The same for the whole grid. With the number of groups known to the compiler there are far
    // fewer instructions.
    match batch.log_packs {
        8 => batch_of::<T, 8>(input, output, rows, columns, batch),
        7 => batch_of::<T, 4>(input, output, rows, columns, batch),
        6 => batch_of::<T, 2>(input, output, rows, columns, batch),
        _ => batch_of::<T, 1>(input, output, rows, columns, batch),
    }
}

/// [`softmax_short_rows`] of the batch of this warp, of rows of `GROUPS` groups of packs.
#[device]
fn batch_of<T: Softmax, const GROUPS: usize>(
    input: Global<T>,
    output: Global<T>,
    rows: usize,
    columns: u32,
    batch: Batch,
) {
    let at = ThreadPosition::here();
    let number = thread::block_idx_x() as usize * at.warps as usize + at.warp as usize;
    let first = number * batch.rows();
    // The whole warp returns together, because its lanes shuffle below.
    if first >= rows {
        return;
    }
    let run = Run::<GROUPS> {
        start: first * columns as usize,
        rows: batch.rows().min(rows - first) as u32,
        len: columns,
        log_packs: if GROUPS == 1 { batch.log_packs } else { LOG_GROUP },
        lane: at.lane,
    };
    run.soften::<T, false>(input, output, columns as usize);
}

/// Writes the softmax of each middle row of `columns` elements of `input` to `output`.
///
/// Called by every thread of a grid along x with a block per row, of a warp per
/// [run](Shape::run) of a row. Has barriers of the block. Otherwise as for [`softmax_short_rows`].
#[device]
pub fn softmax_middle_rows<T: Softmax>(input: Global<T>, output: Global<T>, columns: u32) {
    begin();
    let at = ThreadPosition::here();
    let start = thread::block_idx_x() as usize * columns as usize;
    if let Some(run) = of_row::<T>(start, columns as usize, at.warp as usize, at.lane) {
        run.soften::<T, true>(input, output, columns as usize);
    }
}

/// Writes the softmax of each of `rows` long rows of `columns` elements of `input` to `output`.
/// `sums` has the words of the accumulator of [`LogSumExp`](crate::op::LogSumExp) of each row.
///
/// Called by every thread of a grid of whole warps. Along x there is a warp for each
/// [run](Shape::run) of a row; y and z together have at least one block per row. Otherwise as for
/// [`softmax_short_rows`].
#[device]
pub fn softmax_long_rows<T: Softmax>(
    input: Global<T>,
    output: Global<T>,
    sums: Global<u32>,
    columns: usize,
) {
    begin();
    let at = ThreadPosition::here();
    let row = thread::block_idx_z() as usize * thread::grid_dim_y() as usize
        + thread::block_idx_y() as usize;
    let words = <Exponentials<T::Wide>>::WORDS;
    let number = thread::block_idx_x() as usize * at.warps as usize + at.warp as usize;
    if row >= sums.len() / words {
        return;
    }
    if let Some(run) = of_row::<T>(row * columns, columns, number, at.lane) {
        let elements: Values<T, T::Wide> = run.load(input, columns);
        let of_row = sums.part(row * words, words);
        let all: Exponentials<T::Wide> = from_each_word(|i| of_row.read(i));
        let factor = T::factor(all.greatest, all.sum);
        run.store(output, columns, |group, at| {
            T::share(T::exponential(elements[group][at], all.greatest), factor)
        });
    }
}

/// Run `number` of the row at element `start`, if it has so many.
#[device]
fn of_row<T: Scalar>(start: usize, columns: usize, number: usize, lane: u32) -> Option<Run<ROWS>> {
    let begin = number * Shape::run::<T>();
    (begin < columns).then(|| Run {
        start: start + begin,
        rows: 1,
        len: (columns - begin).min(Shape::run::<T>()) as u32,
        log_packs: LOG_GROUP,
        lane,
    })
}

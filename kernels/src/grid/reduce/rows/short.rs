//! Short rows: several per warp.

use super::run::{Loaded, SHIFTED_AT_ONCE, is_aligned, walk_run};
use super::shifted::Shifted;
use crate::block::ThreadPosition;
use crate::grid::guarded::read_pack_within;
use crate::grid::overlap::begin;
use crate::grid::reduce::shape::{ROWS, RUN, Shape};
use crate::grid::reduce::strip::Places;
use crate::grid::reduce::write;
use crate::op::{Carried, Operation};
use crate::warp::among_lanes;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// The rows that a warp handles, if rows are short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Log2 of a row's space in a run: its packs, rounded up to a power of two. 0 to 8.
    pub log_packs: u32,
}

impl Batch {
    /// The batches for rows of `columns` elements of `T`; `None` if these are long.
    #[must_use]
    pub fn of<T: Scalar>(columns: usize) -> Option<Self> {
        let packs = columns.div_ceil(T::PACK).max(1).next_power_of_two();
        (columns <= Shape::run::<T>()).then_some(Self { log_packs: packs.ilog2() })
    }

    /// Rows in a batch: 1 to 256.
    #[must_use]
    pub const fn rows(self) -> usize {
        RUN >> self.log_packs
    }
}

/// Reduces each row of `columns` elements of `input` to the words of an accumulator in `result`,
/// row after row, not [finished](Operation::finish). For short rows.
///
/// Called by every thread of a grid along x, of whole warps, at least one per batch. `batch` is
/// [`Batch::of`] the columns. `result` has room for each row, and `input` holds all rows
/// consecutively. The operation commutes. `input` is not written while the kernel runs. Later work
/// on the stream sees the results. Needs no barrier, shared memory or co-residency. The launch may
/// [overlap](cuda_std::dependent) the kernel before it.
#[device]
pub fn reduce_short_rows<O: Operation>(
    op: O,
    input: Global<O::Element>,
    result: Global<u32>,
    columns: u32,
    batch: Batch,
) {
    const {
        assert!(
            O::COMMUTATIVE,
            "the rows of a run are combined place by place: the operation must commute"
        )
    };
    begin();
    let (at, words) = (ThreadPosition::here(), O::Accumulator::WORDS);
    let number = thread::block_idx_x() as usize * at.warps as usize + at.warp as usize;
    let (first, all) = (number * batch.rows(), result.len() / words);
    // The whole warp returns together, because its lanes shuffle below.
    if first >= all {
        return;
    }
    let rows = batch.rows().min(all - first);
    let (start, len) = (first * columns as usize, rows * columns as usize);
    let taken = Taken {
        results: result.part(first * words, rows * words),
        rows: rows as u32,
        columns,
        log_packs: batch.log_packs,
        lane: at.lane,
    };
    if is_aligned(input, columns as usize) && len > 0 {
        let rows = input.part(start, len);
        taken.reduce(op, ROWS, |at| rows.read_pack(at, CacheHint::Streaming));
    } else if let Some(rows) = Shifted::of(input, start, len) {
        taken.reduce(op, SHIFTED_AT_ONCE, |at| rows.read_pack(at));
    } else {
        let rows = input.part(start, len);
        let none = O::Element::default();
        taken.reduce(op, 1, |at| read_pack_within(rows, at, none, |x, _| x));
    }
}

/// The rows that a warp handles, as seen by a lane.
#[derive(Clone, Copy)]
struct Taken {
    /// The words of an accumulator for each row.
    results: Global<u32>,
    rows: u32,
    columns: u32,
    log_packs: u32,
    lane: u32,
}

impl Taken {
    /// Reduces the rows. `load(i)` loads the pack at element `i` of the warp's rows; `at_once`
    /// loads are in flight together. Called by all lanes of the warp.
    #[device]
    fn reduce<O: Operation>(
        self,
        op: O,
        at_once: usize,
        load: impl Fn(usize) -> <O::Element as Scalar>::Pack<O::Element>,
    ) {
        let width = O::Element::PACK as u32;
        let packs = 1 << self.log_packs;
        let lanes = if packs < WARP_SIZE { packs } else { WARP_SIZE };
        let (last_row, last_pack) = (self.rows - 1, (self.columns.max(1) - 1) / width);
        walk_run(
            op,
            at_once,
            self.lane,
            Places::<O>::splat(op.identity()),
            |place| {
                // Without such a row or pack, the last one is loaded and ignored: a branch around a
                // load would delay the next load.
                let row = (place >> self.log_packs).min(last_row);
                let pack = place & (packs - 1);
                let at = row * self.columns + pack.min(last_pack) * width;
                Loaded {
                    pack: load(at as usize),
                    left: self.columns.saturating_sub(pack * width),
                    index: (pack * width).into(),
                }
            },
            |place, places| {
                // Rows end at the end of a group of 32 packs, one per lane.
                let is_row = (place + WARP_SIZE - self.lane) & (packs - 1) == 0;
                if is_row {
                    let of_lane = places.fold(|a, b| op.combine(a, b));
                    let all = among_lanes(of_lane, lanes, |a, b| op.combine(a, b));
                    let row = place >> self.log_packs;
                    if self.lane & (lanes - 1) == 0 && row < self.rows {
                        let words = O::Accumulator::WORDS;
                        write(op, self.results.part(row as usize * words, words), all);
                    }
                }
                is_row
            },
        );
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn a_batch_fills_a_run_with_rows() {
        let rows = |columns| Batch::of::<f32>(columns).map(Batch::rows);
        assert_eq!(rows(0), Some(256));
        assert_eq!(rows(4), Some(256));
        assert_eq!(rows(5), Some(128));
        assert_eq!(rows(16), Some(64));
        assert_eq!(rows(17), Some(32));
        assert_eq!(rows(512), Some(2));
        assert_eq!(rows(513), Some(1));
        assert_eq!(rows(1024), Some(1));
        assert_eq!(rows(1025), None);
        assert_eq!(Batch::of::<u64>(513), None);
    }
}

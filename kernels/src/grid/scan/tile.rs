//! The scan of a tile, in registers.

use super::{ScanOperation, Strip};
use crate::op::Operation;
use crate::warp;
use core::array::from_fn;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// An accumulator for each position in a pack of elements.
pub(super) type Places<O> =
    <<O as Operation>::Element as Scalar>::Pack<<O as Operation>::Accumulator>;

/// A result for each position in a pack of elements.
pub(super) type Results<O> = <<O as Operation>::Element as Scalar>::Pack<<O as Operation>::Output>;

impl Strip {
    /// Loads and lifts this lane's packs. Rows that do not exist are the identity.
    #[device]
    pub(super) fn load<O: ScanOperation, const ROWS: usize>(
        self,
        op: O,
        input: Global<O::Element>,
    ) -> [Places<O>; ROWS]
    where
        [Places<O>; ROWS]: Pack<Places<O>>,
    {
        let is_aligned = input.unaligned_head() == 0;
        let is_there = |row| row < self.rows;
        let none = Pack::splat(op.identity());
        if is_aligned && self.is_whole(input.len()) {
            // Not the read-only path: the output may be the same memory.
            let read = |row| input.read_pack(self.pack(row), CacheHint::Streaming);
            // Data behind a branch, such as a row that may not exist, is loaded after the others
            // are lifted.
            if O::LONG || size_of::<O::Accumulator>() > size_of::<O::Element>() {
                let packs: [_; ROWS] = from_fn(|row| is_there(row).then(|| read(row)));
                warp::keep_loads_together::<O>();
                return Pack::from_fn(|row| match packs[row] {
                    Some(pack) => lift(op, pack, self.pack(row)),
                    None => none,
                });
            }
            return Pack::from_fn(|row| match is_there(row) {
                true => lift(op, read(row), self.pack(row)),
                false => none,
            });
        }
        Pack::from_fn(|row| match is_there(row) {
            true => Pack::from_fn(|place| match self.pack(row) + place {
                at if at < input.len() => op.lift(input.read(at), at as u64),
                _ => op.identity(),
            }),
            false => none,
        })
    }

    /// Writes the results of `held`, where `prefix` is the combined value before the tile.
    #[device]
    pub(super) fn store<O: ScanOperation, const ROWS: usize>(
        self,
        op: O,
        output: Global<O::Output>,
        held: Held<O, ROWS>,
        prefix: O::Accumulator,
    ) where
        [Places<O>; ROWS]: Pack<Places<O>>,
        [O::Accumulator; ROWS]: Pack<O::Accumulator>,
    {
        let by_packs = self.writes_packs::<O>(output);
        held.results(op, prefix, |row, results| {
            self.store_row::<O>(output, row, results, by_packs);
        });
    }

    /// Whether all results of the strip are written by packs.
    #[device]
    pub(super) fn writes_packs<O: ScanOperation>(self, output: Global<O::Output>) -> bool {
        let narrows = size_of::<O::Output>() < size_of::<O::Element>();
        let is_aligned = output.unaligned_head() == 0 && !narrows;
        is_aligned && self.is_whole(output.len())
    }

    /// Writes the results of this lane's pack in `row`, if that row exists.
    #[device]
    pub(super) fn store_row<O: ScanOperation>(
        self,
        output: Global<O::Output>,
        row: usize,
        results: Results<O>,
        by_packs: bool,
    ) {
        if row >= self.rows {
            return;
        }
        let at = self.pack(row);
        if by_packs {
            write_packs::<O>(output, at, results);
        } else {
            results.for_each(|place, result| {
                if at + place < output.len() {
                    output.write(at + place, result);
                }
            });
        }
    }
}

/// A lane's share of a tile: a scanned pack of each row of its warp. Registers exist for `ROWS`
/// rows, but small arrays use fewer.
pub(super) struct Held<O: ScanOperation, const ROWS: usize> {
    /// For each element, the combined value of the pack up to it.
    packs: [Places<O>; ROWS],
    /// The combined value before each pack in the warp.
    before: [O::Accumulator; ROWS],
    /// The combined value before the warp in the tile.
    pub(super) warps: O::Accumulator,
}

impl<O: ScanOperation, const ROWS: usize> Held<O, ROWS>
where
    [Places<O>; ROWS]: Pack<Places<O>>,
    [O::Accumulator; ROWS]: Pack<O::Accumulator>,
{
    /// Scans the packs that the lanes of a warp have loaded of a strip, as if nothing came before
    /// the strip. Also returns the strip's combined value. Called by all lanes of the warp.
    #[device]
    pub(super) fn scan(op: O, loaded: [Places<O>; ROWS]) -> (Self, O::Accumulator) {
        let packs = Self::packs(op, loaded);
        let lanes = warp::scan_each(op, Self::totals(packs));
        let mut rows = op.identity();
        let before = Pack::from_fn(|row| {
            let before = op.combine(rows, warp::before(op, lanes[row]));
            rows = op.combine(rows, warp::total(lanes[row]));
            before
        });
        (Self::of(op, packs, before), rows)
    }

    /// The packs, each scanned separately.
    #[device]
    pub(super) fn packs(op: O, loaded: [Places<O>; ROWS]) -> [Places<O>; ROWS] {
        Pack::from_fn(|row| in_pack(op, loaded[row]))
    }

    /// The combined value of each of these packs.
    #[device]
    pub(super) fn totals(packs: [Places<O>; ROWS]) -> [O::Accumulator; ROWS] {
        Pack::from_fn(|row| packs[row][O::Element::PACK - 1])
    }

    /// These packs, with the combined value before each of them in the warp.
    #[inline(always)]
    pub(super) fn of(op: O, packs: [Places<O>; ROWS], before: [O::Accumulator; ROWS]) -> Self {
        Self { packs, before, warps: op.identity() }
    }

    /// Makes it exclusive: each position of a pack gets the value before it. `first` returns the
    /// index of the first element of a row's pack.
    #[inline(always)]
    pub(super) fn shift(&mut self, op: O, first: impl Fn(usize) -> u64) {
        let packs = self.packs;
        self.packs = Pack::from_fn(|row| {
            Pack::from_fn(|place| {
                let before = match place {
                    0 => op.identity(),
                    _ => packs[row][place - 1],
                };
                op.before(before, first(row) + place as u64)
            })
        });
    }

    /// Returns the results row by row, where `prefix` is the combined value before the tile.
    #[device]
    pub(super) fn results(
        self,
        op: O,
        prefix: O::Accumulator,
        mut take: impl FnMut(usize, Results<O>),
    ) {
        self.packs.for_each(|row, pack| {
            let before = op.combine(self.warps, self.before[row]);
            take(
                row,
                Pack::from_fn(|place| {
                    op.finish(op.combine(prefix, op.combine(before, pack[place])))
                }),
            );
        });
    }
}

/// Lifts a pack that begins at element `first` of the array.
#[inline(always)]
pub(super) fn lift<O: Operation>(
    op: O,
    pack: <O::Element as Scalar>::Pack<O::Element>,
    first: usize,
) -> Places<O> {
    Pack::from_fn(|place| op.lift(pack[place], (first + place) as u64))
}

/// The inclusive scan of a pack, sequentially.
#[inline(always)]
fn in_pack<O: ScanOperation>(op: O, pack: Places<O>) -> Places<O> {
    let mut all = pack[0];
    Pack::from_fn(|place| {
        if place > 0 {
            all = op.combine(all, pack[place]);
        }
        all
    })
}

/// Writes the results of a pack, starting at element `at`: 16 bytes or more, by 16.
#[device]
pub(super) fn write_packs<O: ScanOperation>(
    output: Global<O::Output>,
    at: usize,
    results: Results<O>,
) {
    let (elements, width) = (O::Element::PACK, O::Output::PACK);
    // At most four, when 2 bytes become 8.
    [(); 4].for_each(|number, ()| {
        let from = number * width;
        if from < elements {
            let pack = Pack::from_fn(|i| results[from + i]);
            output.write_pack(at + from, pack, CacheHint::Streaming);
        }
    });
}

//! How a lane combines its packs of a run, independent of how they are loaded.

use crate::grid::reduce::shape::ROWS;
use crate::grid::reduce::strip::Places;
use crate::op::Operation;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Loads that a lane has in flight if each pack is composed of two. Half as many packs, because
/// each needs twice the registers.
pub(super) const SHIFTED_AT_ONCE: usize = ROWS / 2;

/// A pack of a row of the matrix.
#[derive(Clone, Copy)]
pub(super) struct Loaded<T: Scalar> {
    pub(super) pack: T::Pack<T>,
    /// The number of its elements that belong to the row, if not all. The others are ignored.
    pub(super) left: u32,
    /// The index of its first element in the row.
    pub(super) index: u64,
}

/// Combines this lane's packs of a run into `places`, in order. `load(place)` returns the pack at a
/// position in the run; `at_once` loads are in flight together. After each pack, `then(place,
/// places)` gets the accumulators and returns whether to start again from the identity.
#[device]
pub(super) fn walk_run<O: Operation>(
    op: O,
    at_once: usize,
    lane: u32,
    mut places: Places<O>,
    load: impl Fn(u32) -> Loaded<O::Element>,
    then: impl Fn(u32, Places<O>) -> bool,
) -> Places<O> {
    let mut first = 0;
    while first < ROWS {
        let loaded: [_; ROWS] = Pack::from_fn(|row| {
            let place = (first + row) as u32 * WARP_SIZE + lane;
            (place, (row < at_once).then(|| load(place)))
        });
        places = loaded.in_order(places, |places, (place, loaded)| match loaded {
            Some(Loaded { pack, left, index }) => {
                let taken = Places::<O>::from_fn(|at| {
                    let all = places[at];
                    let taken = op.take(all, pack[at], index + at as u64);
                    if (at as u32) < left { taken } else { all }
                });
                let anew = then(place, taken);
                // One by one: a choice between two packs would put both into local memory.
                Places::<O>::from_fn(|at| if anew { op.identity() } else { taken[at] })
            }
            None => places,
        });
        first += at_once;
    }
    places
}

/// Whether all rows of `columns` elements of `input` begin and end at multiples of 16 bytes.
#[inline(always)]
pub(in crate::grid) fn is_aligned<T: Scalar>(input: Global<T>, columns: usize) -> bool {
    input.unaligned_head() == 0 && columns.is_multiple_of(T::PACK)
}

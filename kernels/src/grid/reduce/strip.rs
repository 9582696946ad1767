//! How a warp reduces its strip of a tile: with an accumulator for each position in a lane's pack,
//! or row by row in the order of the elements if the operation does not commute.

use super::shape::{ROWS, RUN};
use crate::block::ThreadPosition;
use crate::op::{Carried, Operation};
use crate::warp;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Combines this warp's strip of `tile`. Called by all lanes of a warp; all get the result.
#[device]
pub(super) fn strip<O: Operation>(
    op: O,
    input: Global<O::Element>,
    runs: u32,
    tile: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    match O::COMMUTATIVE {
        true => strip_of_places(op, input, runs, tile, at),
        false => strip_in_order(op, input, runs, tile, at),
    }
}

/// The accumulators of a lane for a strip, if the operation commutes: one for each position in a
/// pack. These are independent chains, and need no shuffles before the end of the strip.
pub(super) type Places<O> =
    <<O as Operation>::Element as Scalar>::Pack<<O as Operation>::Accumulator>;

const fn words_of_places<O: Operation>() -> usize {
    O::Element::PACK * O::Accumulator::WORDS
}

#[device]
fn strip_of_places<O: Operation>(
    op: O,
    input: Global<O::Element>,
    runs: u32,
    tile: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    let mut places = Places::<O>::splat(op.identity());
    let is_aligned = input.unaligned_head() == 0;
    let mut run = 0;
    while run < runs {
        let number = (tile * runs + run) as usize * at.warps as usize + at.warp as usize;
        let start = number * RUN * O::Element::PACK;
        if start + RUN * O::Element::PACK <= input.len() && is_aligned {
            let run = input.part(start, RUN * O::Element::PACK);
            places = whole_run(op, run, start, at.lane, places);
        } else if start < input.len() {
            let rest = input.part(start, input.len() - start);
            places = run_with_care(op, rest, start, is_aligned, at.lane, places);
        }
        run += 1;
    }
    warp::reduce(op, places.fold(|a, b| op.combine(a, b)))
}

/// Combines this lane's packs of a run that is whole and aligned into `places`. The run begins at
/// element `start` of the array.
#[device]
fn whole_run<O: Operation>(
    op: O,
    run: Global<O::Element>,
    start: usize,
    lane: u32,
    places: Places<O>,
) -> Places<O> {
    // All loads are in flight before the first is used.
    let loaded: [_; ROWS] = Pack::from_fn(|row| {
        let pack = row * WARP_SIZE as usize + lane as usize;
        let first = pack * O::Element::PACK;
        (first, run.read_pack(first, CacheHint::Streaming))
    });
    warp::keep_loads_together::<O>();
    loaded.in_order(places, |places, (first, pack)| {
        Places::<O>::from_fn(|place| {
            op.take(places[place], pack[place], (start + first + place) as u64)
        })
    })
}

/// [`whole_run`] for a run at the start of `rest` that is not whole or not aligned. Elements past
/// the end are ignored.
#[device]
fn run_with_care<O: Operation>(
    op: O,
    rest: Global<O::Element>,
    start: usize,
    is_aligned: bool,
    lane: u32,
    mut places: Places<O>,
) -> Places<O> {
    let width = O::Element::PACK;
    let packs = whole_packs(rest, is_aligned);
    // As many loads together as the accumulators leave registers for.
    let at_once = match words_of_places::<O>() {
        ..=4 => ROWS,
        5..=8 => ROWS / 2,
        _ => ROWS / 4,
    };
    let mut first = 0;
    while first < ROWS && first as u32 * WARP_SIZE < packs {
        // A load past the end is replaced by one before it and its result ignored: a branch around
        // a load would delay the next load.
        let pack = |row| (first + row) as u32 * WARP_SIZE + lane;
        let loaded: [_; ROWS] = Pack::from_fn(|row| {
            let at = pack(row).min(packs - 1) as usize * width;
            let loaded = (row < at_once).then(|| rest.read_pack(at, CacheHint::Streaming));
            (pack(row) < packs, at, loaded)
        });
        warp::keep_loads_together::<O>();
        places = loaded.in_order(places, |places, (is_there, at, loaded)| match loaded {
            Some(loaded) => Places::<O>::from_fn(|place| {
                let all = places[place];
                let taken = op.take(all, loaded[place], (start + at + place) as u64);
                if is_there { taken } else { all }
            }),
            None => places,
        });
        first += at_once;
    }
    // The remaining elements: less than a pack, or all if the packs are not aligned.
    let elements = rest.len().min(RUN * width) as u32;
    let mut pack = lane;
    while pack * (width as u32) < elements {
        if pack >= packs {
            places = Places::<O>::from_fn(|place| match pack * width as u32 + place as u32 {
                at if at < elements => {
                    let index = (start + at as usize) as u64;
                    op.take(places[place], rest.read(at as usize), index)
                }
                _ => places[place],
            });
        }
        pack += WARP_SIZE;
    }
    places
}

/// Combines a strip row by row, each across its lanes, to keep the order of the elements. The
/// shuffles still keep up with memory.
#[device]
fn strip_in_order<O: Operation>(
    op: O,
    input: Global<O::Element>,
    runs: u32,
    tile: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    let mut strip = op.identity();
    let is_aligned = input.unaligned_head() == 0;
    let mut run = 0;
    while run < runs {
        let number = (tile * at.warps + at.warp) as usize * runs as usize + run as usize;
        let start = number * RUN * O::Element::PACK;
        if start < input.len() {
            let rest = input.part(start, input.len() - start);
            strip = run_in_order(op, rest, start, is_aligned, at.lane, strip);
        }
        run += 1;
    }
    strip
}

/// Combines the run at the start of `rest`, which is element `start` of the array, into `strip`.
#[device]
fn run_in_order<O: Operation>(
    op: O,
    rest: Global<O::Element>,
    start: usize,
    is_aligned: bool,
    lane: u32,
    mut strip: O::Accumulator,
) -> O::Accumulator {
    let width = O::Element::PACK;
    let packs = whole_packs(rest, is_aligned);
    let mut first = 0;
    while first < ROWS && first * WARP_SIZE as usize * width < rest.len() {
        // As many loads together as registers allow. For loads past the end see `run_with_care`.
        let loaded: [_; ROWS / 2] = Pack::from_fn(|row| {
            let pack = (first + row) as u32 * WARP_SIZE + lane;
            let at = pack.min(packs.max(1) - 1) as usize * width;
            let loaded = (packs > 0).then(|| rest.read_pack(at, CacheHint::Streaming));
            (pack, loaded)
        });
        strip = loaded.in_order(strip, |strip, (pack, loaded)| {
            let first = pack as usize * width;
            let lifted = |place, element| op.lift(element, (start + first + place) as u64);
            let places = match loaded {
                Some(loaded) if pack < packs => {
                    Places::<O>::from_fn(|place| lifted(place, loaded[place]))
                }
                _ => Places::<O>::from_fn(|place| match first + place {
                    at if at < rest.len() => lifted(place, rest.read(at)),
                    _ => op.identity(),
                }),
            };
            let row = warp::reduce(op, places.fold(|a, b| op.combine(a, b)));
            op.combine(strip, row)
        });
        first += ROWS / 2;
    }
    strip
}

/// The packs of a run at the start of `rest` that one access each can load: the whole packs, if
/// they are aligned.
#[device]
fn whole_packs<T: Scalar>(rest: Global<T>, is_aligned: bool) -> u32 {
    match is_aligned {
        true => (rest.len() / T::PACK).min(RUN) as u32,
        false => 0,
    }
}

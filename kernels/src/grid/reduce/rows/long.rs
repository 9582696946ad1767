//! Long rows: each has the grid that it would have alone.

use super::run::{Loaded, SHIFTED_AT_ONCE, is_aligned, walk_run};
use super::shifted::Shifted;
use crate::block::ThreadPosition;
use crate::grid::guarded::read_pack_within;
use crate::grid::overlap::begin;
use crate::grid::reduce::shape::{RUN, leaves_are_strips};
use crate::grid::reduce::strip::{Places, strip};
use crate::grid::reduce::{Goal, ROW_STATE, reduce_strips};
use crate::grid::workspace::Workspace;
use crate::op::{Carried, Operation};
use crate::warp;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Reduces each row of `columns` elements of `input` to the words of an accumulator in `result`,
/// row after row, not [finished](Operation::finish). For long rows.
///
/// Called by every thread of a grid. Along x it is the [`Shape`](crate::grid::reduce::Shape) of
/// `columns`; y and z together have at least one block per row. Blocks have `warps` warps, or one
/// per run of a row if the shape is one tile. `runs` is that of the shape. `result` has room for
/// each row, and `input` holds all rows consecutively. The operation commutes. The workspace has,
/// for each row, [`ROW_STATE`] words of state and an accumulator's words for each
/// [leaf](crate::grid::reduce::Shape::leaves), or nothing if the shape is one tile. Otherwise the
/// same as for [`reduce`](crate::grid::reduce()).
#[device(protocol = "the reduction")]
pub fn reduce_long_rows<O: Operation>(
    op: O,
    input: Global<O::Element>,
    Workspace { words, state }: Workspace,
    result: Global<u32>,
    columns: usize,
    runs: u32,
) {
    const {
        assert!(
            O::COMMUTATIVE,
            "the rows of a strip are combined place by place: the operation must commute"
        )
    };
    begin();
    let row = thread::block_idx_z() as usize * thread::grid_dim_y() as usize
        + thread::block_idx_y() as usize;
    let each = O::Accumulator::WORDS;
    if row >= result.len() / each {
        return;
    }
    let (tiles, warps) = (thread::grid_dim_x(), ThreadPosition::here().warps);
    let (leaves, state_words) = match (tiles, leaves_are_strips(tiles, warps)) {
        (1, _) => (0, 0),
        (_, true) => ((tiles * warps) as usize, ROW_STATE),
        (_, false) => (tiles as usize, ROW_STATE),
    };
    let of_row = Workspace {
        words: words.part(row * leaves * each, leaves * each),
        state: state.part(row * state_words, state_words),
    };
    let result = result.part(row * each, each);
    reduce_strips(op, of_row, leaves, (result, Goal::All), |tile, at| {
        let start = row * columns;
        match is_aligned(input, columns) {
            true => strip(op, input.part(start, columns), runs, tile, at),
            false => shifted_strip(op, input, start, columns, runs, tile, at),
        }
    });
}

/// Combines this warp's strip of `tile` for the row at element `start` of `input`, not a multiple
/// of 16 bytes. Called by all lanes of a warp; all get the result.
#[device]
fn shifted_strip<O: Operation>(
    op: O,
    input: Global<O::Element>,
    start: usize,
    columns: usize,
    runs: u32,
    tile: u32,
    at: ThreadPosition,
) -> O::Accumulator {
    let width = O::Element::PACK;
    let mut places = Places::<O>::splat(op.identity());
    let mut run = 0;
    while run < runs {
        let number = (tile * runs + run) as usize * at.warps as usize + at.warp as usize;
        let begin = number * RUN * width;
        if begin < columns {
            let len = (columns - begin).min(RUN * width);
            let last = (len as u32 - 1) / width as u32;
            let first_of = |pack: u32| (pack.min(last) * width as u32) as usize;
            let loaded = |place: u32, pack| Loaded {
                pack,
                left: (len as u32).saturating_sub(place * width as u32),
                index: (begin + place as usize * width) as u64,
            };
            let on = |_, _| false;
            let none = O::Element::default();
            places = match Shifted::of(input, start + begin, len) {
                Some(run) => {
                    let load = |place| loaded(place, run.read_pack(first_of(place)));
                    walk_run(op, SHIFTED_AT_ONCE, at.lane, places, load, on)
                }
                None => {
                    let run = input.part(start + begin, len);
                    let load = |place| {
                        loaded(place, read_pack_within(run, first_of(place), none, |x, _| x))
                    };
                    walk_run(op, 1, at.lane, places, load, on)
                }
            };
        }
        run += 1;
    }
    warp::reduce(op, places.fold(|a, b| op.combine(a, b)))
}

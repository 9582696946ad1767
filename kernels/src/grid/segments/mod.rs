//! Reduces the segments of an array by the whole grid in one launch: segments of any lengths, also
//! empty ones and one of everything, each to one value.
//!
//! The elements and the ends of the segments are merged to a **path**: the end of segment s comes
//! after the elements of segments 0 to s. The path is divided into tiles of the same length, one
//! per block, and a tile into runs of the same length, one per thread (Merrill and Garland,
//! "Merge-based Parallel Sparse Matrix-Vector Multiplication", 2016). So all threads have the same
//! work, whatever the lengths.
//!
//! A thread takes the elements of its run one by one, and at an end it has the result of a segment,
//! unless the segment began before its run. The values of unfinished segments go from thread to
//! thread and from tile to tile by a scan of [`Tails`], with the words of the
//! [scan](mod@super::scan). `README.md` next to this file has the protocol and the order in which
//! everything is combined.
//!
//! Reads every element and every start once, and writes one value per segment.

mod marks;
mod path;
mod run;
mod scatter;
mod staged;
mod tails;

pub use marks::{MARKED, mark_runs, mark_starts};
pub use path::{THREADS, depth, places, steps, tiles};
pub use scatter::{Scattered, scatter};
pub use tails::Tails;

use super::overlap::begin;
use super::tiles::{self, MOST_GROUP, Tiles};
use super::workspace::Workspace;
use crate::block::{Prefix, ThreadPosition};
use crate::op::{Carried, Operation, for_each_word};
use cuda_std::prelude::*;
use path::{Part, Path};
use run::Run;
use staged::Staged;

/// Words of the state of a workspace.
pub const STATE: usize = tiles::STATE;

/// Reduces each segment of `input` by `op`. Segment s begins at element `starts[s]` and ends where
/// the next one begins, or with the array.
///
/// Called by every thread of a grid along x of [`tiles`] blocks of [`THREADS`] threads. `starts`
/// has at least one element, the first is 0, none is less than the one before, and the last is at
/// most the input's length. `result` has the words of an accumulator for each segment: the identity
/// for an empty one. [`lift`](Operation::lift) gets the index of an element in its segment.
///
/// No views overlap. Nothing else accesses the result, or writes `input` and `starts`, while the
/// kernel runs. The workspace has [`STATE`] words of state, and the words of a
/// [`Segment`](crate::op::Segment) of accumulators, at most four, for each of the [`places`]. Later
/// work on the stream sees the results. The blocks need not be co-resident. The launch may
/// [overlap](cuda_std::dependent) the kernel before it.
#[device(protocol = "the reduction of segments")]
pub fn reduce_segments<O: Operation>(
    op: O,
    input: Global<O::Element>,
    starts: Global<u64>,
    result: Global<u32>,
    workspace: Workspace,
) {
    begin();
    let at = ThreadPosition::here();
    let tiles = Tiles::draw(workspace, thread::grid_dim_x(), MOST_GROUP, at);
    let path = Path { starts, len: input.len() };
    let part = path.part(tiles.tile, steps::<O::Element>(), at);
    let staged = Staged::<O::Element>::load(input, path, part, at);
    thread::sync_threads();

    let to = Results { staged, part, result };
    let Run { segment, first, last } = Run::of(op, path, to, at);
    let Prefix { mut before, all } = tails::scan(op, last, at);
    if !tiles.is_alone() {
        tiles.send(all, at);
        // A tile in which no segment ends needs nothing of earlier tiles, except for the next group.
        if part.segments > 0 || tiles.ends_a_group() {
            let joined = Tails::new(op);
            let prefix = match tiles.previous(joined.identity()) {
                // What comes before it does not count.
                Some(previous) if previous.starts => previous,
                _ => tiles.prefix(joined, all, joined.identity(), false, at).0,
            };
            before = joined.combine(prefix, before);
        }
        tiles.leave_for_next(workspace.state, at);
    }
    if last.starts {
        to.leave(segment, op.combine(before.value, first));
    }
    if const { Staged::<O::Element>::holds::<O::Accumulator>() } {
        staged.write_kept::<O::Accumulator>(result, at);
    }
}

/// Where the results of a tile go: through shared memory if they fit there.
#[derive(Clone, Copy)]
struct Results<T> {
    staged: Staged<T>,
    part: Part,
    /// The words of the results of all segments.
    result: Global<u32>,
}

impl<T: Scalar> Results<T> {
    /// Leaves the result of `segment` of the tile.
    #[device]
    fn leave<A: Carried>(self, segment: u32, value: A) {
        if const { Staged::<T>::holds::<A>() } {
            self.staged.keep(segment, value);
        } else {
            let first = (self.part.segment + segment as usize) * A::WORDS;
            for_each_word(value, |i, word| self.result.write(first + i, word));
        }
    }
}

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
use crate::block::{Prefix, ThreadPosition, scan_exclusive};
use crate::op::{Carried, Operation, Segment, for_each_word};
use cuda_std::prelude::*;
use path::{Part, Path};
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
/// kernel runs. The workspace has [`STATE`] words of state, and the words of a [`Segment`] of
/// accumulators, at most four, for each of the [`places`]. Later work on the stream sees the
/// results. The blocks need not be co-resident. The launch may [overlap](cuda_std::dependent) the
/// kernel before it.
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
    let Run { segment, first, last } = run(op, staged, path, part, to, at);
    let joined = Tails::new(op);
    let Prefix { before, all } = scan_exclusive(joined, last);
    let before = if tiles.is_alone() {
        before
    } else {
        tiles.send(all, at);
        let (prefix, _) = tiles.prefix(joined, all, joined.identity(), false, at);
        tiles.leave_for_next(workspace.state, at);
        joined.combine(prefix, before)
    };
    if last.starts {
        to.leave(segment, op.combine(before.value, first));
    }
    if const { Staged::<O::Element>::holds::<O::Accumulator>() } {
        staged.write_kept::<O::Accumulator>(result, at);
    }
}

/// The parts of two segments at the ends of a thread's run.
struct Run<A> {
    /// The segment of the tile in which the run begins.
    segment: u32,
    /// Its elements in this run. Meaningless unless it ends here.
    first: A,
    /// The elements after the last end, and whether there is an end.
    last: Segment<A>,
}

/// Combines the elements of this thread's run. Leaves the results of the segments that begin and end
/// in it. Called by all threads of the block. It contains a block barrier.
#[device]
fn run<O: Operation>(
    op: O,
    staged: Staged<O::Element>,
    path: Path,
    part: Part,
    to: Results<O::Element>,
    at: ThreadPosition,
) -> Run<O::Accumulator> {
    let each = steps::<O::Element>();
    let begin = part.steps().min(at.thread * each);
    let steps = each.min(part.steps() - begin);
    let mut local = staged.ends_before(begin);
    let mut element = begin - local;
    let mut end = staged.end_or_none(local);
    let segment = local;
    let mut start = if local > 0 {
        part.element + staged.end(local - 1) as usize
    } else {
        path.start(part.segment)
    };
    // From here on a thread reads only the ends of its run and the one after, which is the first of a
    // later run: the result of that segment comes after the scan over the threads.
    if const { Staged::<O::Element>::holds::<O::Accumulator>() } {
        thread::sync_threads();
    }

    let (mut first, mut all, mut ended) = (op.identity(), op.identity(), false);
    for _ in 0..steps {
        let place = part.element + element as usize;
        if element == end {
            if ended {
                to.leave(local, all);
            } else {
                first = all;
            }
            (ended, all, start) = (true, op.identity(), place);
            local += 1;
            end = staged.end_or_none(local);
        } else {
            all = op.take(all, staged.element(element), (place - start) as u64);
            element += 1;
        }
    }
    Run { segment, first, last: Segment { starts: ended, value: all } }
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

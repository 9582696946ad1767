//! The reduction of segments.

use super::scan::{Blocks, LANES, lanes_before, scan, scan_lanes};
use crate::parallel;
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::scan::{Form, MOST_GROUP};
use gridsync_kernels::grid::segments::{THREADS, Tails, steps, tiles};
use gridsync_kernels::op::{Operation, Segment};
use std::ops::Range;

/// The number of segments that end before step `step` of the path through `len` elements.
fn ends_before(starts: &[u64], len: usize, step: usize) -> usize {
    let end = |segment: usize| starts.get(segment + 1).map_or(len, |&start| start as usize);
    let (mut from, mut to) = (step.saturating_sub(len), step.min(starts.len()));
    while from < to {
        let middle = from.midpoint(to);
        if middle + end(middle) < step {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

/// Reduces each of the segments of `input` that begin at `starts` by `op`, in the order of the path
/// through the elements and the ends of the segments: see
/// [`grid::segments`](gridsync_kernels::grid::segments).
pub fn reduce_segments<O: Operation>(
    op: O,
    input: &[O::Element],
    starts: &[u64],
) -> Vec<O::Accumulator> {
    let mut results = vec![op.identity(); starts.len()];
    if starts.is_empty() {
        return results;
    }
    let all = input.len() + starts.len();
    let tile = (THREADS * steps::<O::Element>()) as usize;
    let tiles = tiles::<O::Element>(input.len(), starts.len()) as usize;
    let firsts: Vec<usize> = (0..=tiles)
        .map(|number| ends_before(starts, input.len(), all.min(number * tile)))
        .collect();

    let mut rest = &mut results[..];
    let mut ended = Vec::with_capacity(tiles);
    for ends in firsts.windows(2) {
        let (own, others) = rest.split_at_mut(ends[1] - ends[0]);
        ended.push(own);
        rest = others;
    }
    let joined = Tails::new(op);
    let path = Path { op, input, starts };
    let nothing =
        Tile { aggregate: joined.identity(), before: op.identity(), first: op.identity() };
    let mut of_tiles = vec![nothing; tiles];
    parallel::for_each(ended.iter_mut().zip(&mut of_tiles), &|number, (results, of_tile)| {
        let part = number * tile..all.min((number + 1) * tile);
        *of_tile = path.tile(part, firsts[number], results);
    });
    let mut aggregates: Vec<_> = of_tiles.iter().map(|tile| tile.aggregate).collect();
    let mut base = joined.identity();
    Blocks::of(joined, MOST_GROUP, 0).take(joined, &mut base, &mut aggregates);
    for ((results, prefix), tile) in ended.into_iter().zip(aggregates).zip(of_tiles) {
        if let Some(first) = results.first_mut() {
            *first = op.combine(op.combine(prefix.value, tile.before), tile.first);
        }
    }
    results
}

/// The parts of segments that a tile does not contain whole.
#[derive(Clone, Copy)]
struct Tile<A> {
    /// All of it, for the later tiles.
    aggregate: Segment<A>,
    /// Of the first segment that ends in the tile: what the threads before the end have.
    before: A,
    /// The same: what the thread with the end has.
    first: A,
}

/// The path through an array.
struct Path<'a, O: Operation> {
    op: O,
    input: &'a [O::Element],
    starts: &'a [u64],
}

impl<O: Operation> Path<'_, O> {
    /// Combines the elements of a tile, in which `results` segments end, the first of them number
    /// `segment`. Sets all results but the first one.
    fn tile(
        &self,
        tile: Range<usize>,
        segment: usize,
        results: &mut [O::Accumulator],
    ) -> Tile<O::Accumulator> {
        let (op, joined) = (self.op, Tails::new(self.op));
        let element = tile.start - segment;
        let mut walk = Walk { path: self, segment, element, steps: tile.len() };
        let runs: Vec<_> = (0..THREADS).map(|_| walk.run(segment, results)).collect();

        let lanes: Vec<_> = runs
            .chunks(LANES)
            .map(|warp| scan_lanes(joined, warp.iter().map(|run| run.last)))
            .collect();
        let warps = scan_lanes(joined, lanes.iter().map(|warp| warp[LANES - 1]));
        let (mut before, mut first) = (op.identity(), op.identity());
        for (thread, run) in runs.iter().enumerate().filter(|(_, run)| run.last.starts) {
            let (warp, lane) = (thread / LANES, thread % LANES);
            let of_warps = lanes_before(joined, &warps, warp);
            let of_block = joined.combine(of_warps, lanes_before(joined, &lanes[warp], lane));
            if run.segment == segment {
                (before, first) = (of_block.value, run.first);
            } else {
                results[run.segment - segment] = op.combine(of_block.value, run.first);
            }
        }
        Tile { aggregate: warps[LANES - 1], before, first }
    }
}

/// The parts of two segments at the ends of a thread's run, as in the kernel.
struct Run<A> {
    segment: usize,
    first: A,
    last: Segment<A>,
}

/// A place on the path.
struct Walk<'a, O: Operation> {
    path: &'a Path<'a, O>,
    segment: usize,
    element: usize,
    /// The steps up to the end of the tile.
    steps: usize,
}

impl<O: Operation> Walk<'_, O> {
    /// Walks the run of the next thread, and sets the results of the segments that begin and end in
    /// it. `results` starts with that of segment `of_tile`.
    fn run(&mut self, of_tile: usize, results: &mut [O::Accumulator]) -> Run<O::Accumulator> {
        let Path { op, input, starts } = *self.path;
        let start_of = |segment: usize| starts.get(segment).map_or(input.len(), |&at| at as usize);
        let steps = self.steps.min(steps::<O::Element>() as usize);
        self.steps -= steps;
        let segment = self.segment;
        let (mut first, mut all, mut ended) = (op.identity(), op.identity(), false);
        for _ in 0..steps {
            if self.segment < starts.len() && self.element == start_of(self.segment + 1) {
                if ended {
                    results[self.segment - of_tile] = all;
                } else {
                    first = all;
                }
                (ended, all) = (true, op.identity());
                self.segment += 1;
            } else {
                let index = self.element - start_of(self.segment);
                all = op.take(all, input[self.element], index as u64);
                self.element += 1;
            }
        }
        Run { segment, first, last: Segment { starts: ended, value: all } }
    }
}

/// Scans each of the segments of `input` that begin at `starts` by `op`, in the order of a scan of
/// the whole array.
pub fn scan_segments<O: Operation<Output: Scalar>>(
    op: O,
    input: &[O::Element],
    starts: &[u64],
    form: Form,
) -> Vec<O::Output> {
    let mut marks = vec![0u32; input.len().div_ceil(32)];
    for &start in starts.iter().filter(|&&start| start < input.len() as u64) {
        marks[(start / 32) as usize] |= 1 << (start % 32);
    }
    // The scan has ended before the marks are dropped.
    scan(Marked { op, marks: &raw const marks[..] }, input, form)
}

/// `O` within the segments that begin where bits are set.
#[derive(Clone, Copy)]
struct Marked<O> {
    op: O,
    marks: *const [u32],
}

// SAFETY: the marks are only read, and live as long as this is used.
unsafe impl<O: Send> Send for Marked<O> {}
// SAFETY: the same.
unsafe impl<O: Sync> Sync for Marked<O> {}

impl<O> Marked<O> {
    fn starts(&self, index: u64) -> bool {
        // SAFETY: `scan_segments` keeps the marks until the scan has ended.
        let marks = unsafe { &*self.marks };
        marks.get((index / 32) as usize).is_some_and(|word| word >> (index % 32) & 1 != 0)
    }
}

impl<O: Operation> Operation for Marked<O> {
    type Element = O::Element;
    type Accumulator = Segment<O::Accumulator>;
    type Output = O::Output;
    const COMMUTATIVE: bool = false;
    const EXACT: bool = O::EXACT;

    fn identity(self) -> Self::Accumulator {
        Tails::new(self.op).identity()
    }

    fn lift(self, element: O::Element, index: u64) -> Self::Accumulator {
        Segment { starts: self.starts(index), value: self.op.lift(element, index) }
    }

    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        Tails::new(self.op).combine(a, b)
    }

    fn before(self, before: Self::Accumulator, index: u64) -> Self::Accumulator {
        if self.starts(index) {
            Segment { starts: true, value: self.op.identity() }
        } else {
            before
        }
    }

    fn finish(self, all: Self::Accumulator) -> O::Output {
        self.op.finish(all.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_kernels::op::{ArgMax, Sum};

    #[test]
    fn sums_of_segments_of_any_length_are_those_of_a_loop() {
        let input: Vec<u32> = (0..40_000).map(|i: u32| i.wrapping_mul(0x9E37_79B1)).collect();
        let offsets: [&[u64]; 5] = [
            &[0],
            &[0, 0, 0, 40_000, 40_000],
            &[0, 1, 2, 3, 1000, 1000, 30_000],
            &[0, 39_999],
            &[0, 7936, 7936, 15_872, 23_807],
        ];
        let even: Vec<u64> = (0..40_000 / 16).map(|i| i * 16).collect();
        for starts in offsets.into_iter().chain([&even[..]]) {
            let sums = reduce_segments(Sum::<u32, u64>::new(), &input, starts);
            let largest = reduce_segments(ArgMax::<u32>::new(), &input, starts);
            let ends = starts[1..].iter().chain([&40_000]);
            for (i, (&start, &end)) in starts.iter().zip(ends).enumerate() {
                let own = &input[start as usize..end as usize];
                assert_eq!(sums[i], own.iter().map(|&x| u64::from(x)).sum::<u64>(), "segment {i}");
                let at = (0..own.len()).rev().max_by_key(|&at| own[at]);
                let found = ArgMax::<u32>::new().finish(largest[i]).map(|found| found.index);
                assert_eq!(found, at.map(|at| at as u64), "segment {i}");
            }
        }
    }
}

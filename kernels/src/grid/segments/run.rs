//! The run of a thread: its steps of the path.

use super::Results;
use super::path::{Path, THREADS, steps};
use super::staged::Staged;
use crate::block::ThreadPosition;
use crate::op::{Carried, Operation, Segment};
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Elements that a thread takes at once where few segments end.
const BATCH: usize = 4;

/// The parts of two segments at the ends of a thread's run.
pub(super) struct Run<A> {
    /// The segment of the tile in which the run begins.
    pub(super) segment: u32,
    /// Its elements in this run. Meaningless unless it ends here.
    pub(super) first: A,
    /// The elements after the last end, and whether there is an end.
    pub(super) last: Segment<A>,
}

impl<A: Carried> Run<A> {
    /// Combines the elements of this thread's run. Leaves the results of the segments that begin and
    /// end in it. Called by all threads of the block. It contains a block barrier.
    #[device]
    pub(super) fn of<O: Operation<Accumulator = A>>(
        op: O,
        path: Path,
        to: Results<O::Element>,
        at: ThreadPosition,
    ) -> Self {
        let Results { staged, part, .. } = to;
        let each = steps::<O::Element>();
        let begin = part.steps().min(at.thread * each);
        let steps = each.min(part.steps() - begin);
        let segment = staged.ends_before(begin);
        let start = if segment > 0 {
            part.element + staged.end(segment - 1) as usize
        } else {
            path.start(part.segment)
        };
        let mut walk = Walk {
            op,
            to,
            segment,
            start,
            element: begin - segment,
            end: staged.end_or_none(segment),
            first: op.identity(),
            last: Segment { starts: false, value: op.identity() },
        };
        // From here on a thread reads only the ends of its run and the one after, which is the first
        // of a later run: the result of that segment comes after the scan over the threads.
        if const { Staged::<O::Element>::holds::<O::Accumulator>() } {
            thread::sync_threads();
        }
        // The same for all threads of the block.
        if part.segments < THREADS {
            walk.from_end_to_end(steps);
        } else {
            walk.step_by_step(steps);
        }
        Self { segment, first: walk.first, last: walk.last }
    }
}

/// Where a thread is in its run.
struct Walk<O: Operation> {
    op: O,
    to: Results<O::Element>,
    /// The segment of the tile, and the element where it starts.
    segment: u32,
    start: usize,
    /// The next element of the tile, and the one before which the segment ends.
    element: u32,
    end: u32,
    /// As in [`Run`].
    first: O::Accumulator,
    last: Segment<O::Accumulator>,
}

impl<O: Operation> Walk<O> {
    /// Takes `steps` steps: the elements up to each end in a loop without ends, where most lanes of
    /// a warp are most of the time. It has a third of the instructions of
    /// [`step_by_step`](Self::step_by_step).
    #[device]
    fn from_end_to_end(&mut self, steps: u32) {
        let mut left = steps;
        loop {
            let until = self.end.min(self.element + left);
            left -= until - self.element;
            while self.element < until {
                let element = |i: usize| self.element + i as u32;
                let batch: [O::Element; BATCH] = Pack::from_fn(|i| {
                    let is_in = element(i) < until;
                    if is_in { self.to.staged.element(element(i)) } else { O::Element::default() }
                });
                let mut value = self.last.value;
                batch.for_each(|i, x| {
                    if element(i) < until {
                        value = self.op.take(value, x, self.index(element(i)));
                    }
                });
                self.last.value = value;
                self.element += BATCH as u32;
            }
            self.element = until;
            if left == 0 {
                return;
            }
            left -= 1;
            self.end_segment();
            self.last.value = self.op.identity();
        }
    }

    /// The same where many segments end: all lanes take a step at the same time. Lanes that loop from
    /// end to end would start at the ends together, and where these are a power of two apart, all
    /// elements that they read would be in few banks of shared memory.
    #[device]
    fn step_by_step(&mut self, steps: u32) {
        for _ in 0..steps {
            let is_end = self.element == self.end;
            let Results { staged, .. } = self.to;
            let x = if is_end { O::Element::default() } else { staged.element(self.element) };
            let taken = self.op.take(self.last.value, x, self.index(self.element));
            if is_end {
                self.end_segment();
            }
            // Not a branch: lanes at an end and lanes at an element go on together.
            self.last.value = if is_end { self.op.identity() } else { taken };
            self.element += u32::from(!is_end);
        }
    }

    /// The index of an element in its segment.
    #[device]
    fn index(&self, element: u32) -> u64 {
        (self.to.part.element + element as usize - self.start) as u64
    }

    /// Ends a segment before the next element. The caller replaces the value.
    #[device]
    fn end_segment(&mut self) {
        if self.last.starts {
            self.to.leave(self.segment, self.last.value);
        } else {
            self.first = self.last.value;
        }
        self.last.starts = true;
        self.start = self.to.part.element + self.element as usize;
        self.segment += 1;
        self.end = self.to.staged.end_or_none(self.segment);
    }
}

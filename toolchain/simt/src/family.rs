//! A launch by the host with all its descendant grids: chooses the grid that runs next.
//!
//! A grid begins after the grid that launched it has run all its threads, and after the launches
//! that it has to wait for have ended. It has ended when all grids that it launched have. The seed
//! chooses among the grids that may begin; seed 0 chooses the one launched first.

use crate::children::{Child, Launched};
use crate::place::Place;
use crate::schedule::SplitMix;

/// A grid that was launched by another.
struct Member {
    /// The grid to run, until it begins.
    waiting: Option<(Child, Place)>,
    parent: Option<usize>,
    depth: u32,
    /// Number of grids that must end before it begins.
    awaited: usize,
    /// The grids that wait for its end.
    then: Vec<usize>,
    /// Number of unfinished parts: its own threads and the grids that it launched.
    open: usize,
}

/// The grids of one launch by the host that were launched by other grids.
pub(crate) struct Family {
    members: Vec<Member>,
    /// The grids that may begin, in the order in which they became ready.
    ready: Vec<usize>,
    /// Number of grids that have not begun.
    pub(crate) pending: usize,
    random: Option<SplitMix>,
}

/// A grid that begins.
pub(crate) struct Next {
    pub(crate) member: usize,
    pub(crate) depth: u32,
    pub(crate) child: Child,
    pub(crate) place: Place,
}

impl Family {
    pub(crate) fn new(seed: u64) -> Self {
        let random = (seed != 0).then_some(SplitMix(seed));
        Self { members: Vec::new(), ready: Vec::new(), pending: 0, random }
    }

    /// Adds the launches of a grid whose threads have run. `grid` is a member, or `None` for the
    /// grid of the host.
    pub(crate) fn ran(&mut self, grid: Option<usize>, launched: Vec<Launched>) {
        let (first, count) = (self.members.len(), launched.len());
        let depth = grid.map_or(0, |grid| self.members[grid].depth);
        let tails = launched.iter().map(|it| it.is_tail);
        let mut before_tail: Vec<usize> = tails
            .enumerate()
            .filter_map(|(number, is_tail)| (!is_tail).then_some(number))
            .collect();
        let mut waits = Vec::new();
        for (number, Launched { child, place, mut after, is_tail }) in
            launched.into_iter().enumerate()
        {
            if is_tail {
                after.clone_from(&before_tail);
                before_tail.push(number);
            }
            if after.is_empty() {
                self.ready.push(first + number);
            }
            self.members.push(Member {
                waiting: Some((child, place)),
                parent: grid,
                depth: depth + u32::from(!is_tail),
                awaited: after.len(),
                then: Vec::new(),
                open: 1,
            });
            waits.extend(after.into_iter().map(|awaited| (first + awaited, first + number)));
        }
        for (awaited, waiting) in waits {
            self.members[awaited].then.push(waiting);
        }
        self.pending += count;
        if let Some(grid) = grid {
            self.members[grid].open += count;
            self.close(grid);
        }
    }

    /// The grid that begins next, or `None` if all have ended.
    pub(crate) fn next(&mut self) -> Option<Next> {
        if self.ready.is_empty() {
            return None;
        }
        let drawn = self.random.as_mut().map_or(0, |random| random.below(self.ready.len() as u64));
        let member = self.ready.remove(drawn as usize);
        let Member { waiting, depth, .. } = &mut self.members[member];
        let (child, place) = waiting.take().expect("a grid begins once");
        self.pending -= 1;
        Some(Next { member, depth: *depth, child, place })
    }

    /// A part of this grid has ended: its threads, or a grid that it launched.
    fn close(&mut self, grid: usize) {
        let mut closed = Some(grid);
        while let Some(grid) = closed {
            self.members[grid].open -= 1;
            if self.members[grid].open > 0 {
                return;
            }
            for next in core::mem::take(&mut self.members[grid].then) {
                self.members[next].awaited -= 1;
                if self.members[next].awaited == 0 {
                    self.ready.push(next);
                }
            }
            closed = self.members[grid].parent;
        }
    }
}

//! A launch of the host with all grids that come of it: which of them runs next.
//!
//! A grid begins after the grid that launched it has run all its threads, and after the launches
//! that it has to wait for have ended. It has ended when all grids that it launched have. What may
//! begin is drawn by the seed; seed 0 takes what was launched first.

use crate::children::{Child, Launched};
use crate::dim::Place;
use crate::schedule::SplitMix;

/// A grid that was launched by another.
struct Member {
    /// What is to run, until it begins.
    waiting: Option<(Child, Place)>,
    parent: Option<usize>,
    depth: u32,
    /// How many grids have to end before it begins.
    awaited: usize,
    /// The grids that wait for its end.
    then: Vec<usize>,
    /// Its own threads and the grids that it launched, as far as they have not ended.
    open: usize,
}

/// The grids of one launch of the host that have been launched by others.
pub(crate) struct Family {
    members: Vec<Member>,
    /// Those that may begin, in the order in which they could.
    ready: Vec<usize>,
    /// How many have not begun.
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

    /// Takes in what a grid has launched, after its threads have run. The grid is that of the host
    /// or a member.
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

    /// Something of this grid has ended: its threads, or a grid that it launched.
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

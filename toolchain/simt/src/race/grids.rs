//! The order of grids. A grid begins after the end of the grids that it depends on. A thread that
//! waits for the grids that its own overlaps comes after their end.
//!
//! A grid that overlaps another also comes after everything that the other one began after, because
//! the other one had begun. Nothing else of the other grid comes before it: letting dependent grids
//! start orders no memory.

use super::Races;
use super::clock::{Clock, Stamp};
use core::ops::Range;

/// What is known when a grid begins, and when it has ended.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    begin: Clock,
    end: Clock,
}

impl Races {
    /// A grid begins, after the end of some grids, and while those that it overlaps may still run.
    pub(crate) fn begin_grid(&self, grid: usize, after: &[usize], overlaps: &[usize]) {
        if after.is_empty() && overlaps.is_empty() {
            return;
        }
        let state = &mut *self.state.borrow_mut();
        let mut begin = Clock::default();
        after.iter().for_each(|&other| begin.join_fenced(&state.grids[other].end));
        overlaps.iter().for_each(|&other| begin.join(&state.grids[other].begin));
        for thread in state.shape.threads_of(grid) {
            state.threads[thread as usize].now.clock = begin.clone();
        }
        state.grids[grid].begin = begin;
    }

    /// A grid has ended.
    pub(crate) fn end_grid(&self, threads: Range<u32>) {
        let state = &mut *self.state.borrow_mut();
        let grid = state.shape.grid(threads.start);
        let (mut end, mut last) = (Clock::default(), Clock::default());
        let copies = |thread| state.copies.get(&thread).into_iter().flatten().copied();
        for thread in threads.flat_map(|thread| core::iter::once(thread).chain(copies(thread))) {
            let Stamp { thread, epoch, clock } = &state.threads[thread as usize].now;
            // Most threads of a block share the clock of their last barrier.
            if !clock.is(&last) {
                end.join(clock);
                last = clock.clone();
            }
            end.raise(*thread, *epoch);
        }
        state.grids[grid].end = end;
    }

    /// A thread has waited for the end of some grids.
    pub(crate) fn follow_grids(&self, thread: u32, grids: &[usize]) {
        let state = &mut *self.state.borrow_mut();
        let clock = &mut state.threads[thread as usize].now.clock;
        grids.iter().for_each(|&grid| clock.join_fenced(&state.grids[grid].end));
    }
}

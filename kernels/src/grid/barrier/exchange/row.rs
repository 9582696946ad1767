//! A row of words, one of each member: sends one, and combines all.

use crate::grid::stamped::Stamped;
use crate::op::{Carried, Operation};
use crate::warp;
use core::array::from_fn;
use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_vote_all};

/// When to look first, in cycles after the row was made, up to a number of words.
// The best of 0, 200, 300, 400, 500, 700, 900 and 1200 for 33, 66, 132 and 264 blocks of 32 to 1024
// threads, back to back, on an H200 at 1980 MHz, 2026-11-21.
const FIRST_LOOK: [(u32, u64); 2] = [(160, 350), (u32::MAX, 700)];

/// The most words of a row: nine for each lane. A lane loads all of its words at once, because one
/// look takes a third of a crossing.
pub(super) const LONGEST: u32 = 9 * WARP_SIZE;

/// Adjacent words of one crossing. The upper half of each word holds the low 32 bits of the
/// crossing's number, and the lower half 32 bits of a value.
pub(super) struct Row {
    pub(super) words: Global<u64>,
    /// The index of the first low word.
    pub(super) low: usize,
    /// The distance from a low word to its high word.
    pub(super) apart: usize,
    pub(super) crossing: u32,
    /// The clock when the row was made.
    pub(super) began: u64,
}

impl Row {
    /// Stores `value` at place `at` of the row.
    #[device]
    pub(super) fn send<T: Carried>(&self, at: usize, value: T) {
        let row = Stamped { words: self.words, apart: self.apart, stamp: self.crossing };
        row.send(self.low + at, value);
    }

    /// Waits for the first `count` words of the row, at most [`LONGEST`], and combines them.
    ///
    /// Called by all lanes of a warp. All get the result.
    #[device]
    pub(super) fn gather<O: Operation>(&self, op: O, count: u32) -> O::Accumulator {
        // A few numbers of words per lane: needless loads cost time, and so do branches.
        if count <= 2 * WARP_SIZE {
            self.gather_by::<O, 2>(op, count)
        } else if count <= 5 * WARP_SIZE {
            self.gather_by::<O, 5>(op, count)
        } else {
            self.gather_by::<O, 9>(op, count)
        }
    }

    /// Like [`gather`](Self::gather), with `EACH` words per lane.
    #[device]
    pub(super) fn gather_by<O: Operation, const EACH: usize>(
        &self,
        op: O,
        count: u32,
    ) -> O::Accumulator {
        let [(few, soon), (_, later)] = FIRST_LOOK;
        let cycles = if count <= few { soon } else { later };
        // The other lanes must not spin before the first one has sent: see the split barrier.
        sync_warp(FULL_MASK);
        spin::until(|| clock().wrapping_sub(self.began) >= cycles);

        let place = |turn: usize| turn as u32 * WARP_SIZE + lane_id();
        // A lane past the end reads the last word, which takes no further line.
        let at = |turn: usize| self.low + place(turn).min(count - 1) as usize;
        let words = O::Accumulator::WORDS;
        let (mut low, mut high) = ([0; EACH], [0; EACH]);
        spin::until(|| {
            // All loads are in flight together.
            low = from_fn(|turn| self.look(at(turn)));
            if words == 2 {
                high = from_fn(|turn| self.look(at(turn) + self.apart));
            }
            let mut behind = 0;
            for turn in 0..EACH {
                behind |= (low[turn] >> 32) as u32 ^ self.crossing;
                if words == 2 {
                    behind |= (high[turn] >> 32) as u32 ^ self.crossing;
                }
            }
            warp_vote_all(FULL_MASK, behind == 0)
        });

        let mut all = op.identity();
        for turn in 0..EACH {
            let value = O::Accumulator::from_words([low[turn] as u32, high[turn] as u32, 0, 0]);
            let counts = place(turn) < count;
            all = op.combine(all, if counts { value } else { op.identity() });
        }
        warp::reduce(op, all)
    }

    #[device]
    fn look(&self, at: usize) -> u64 {
        self.words.load(at, Ordering::Relaxed, Scope::Device)
    }
}

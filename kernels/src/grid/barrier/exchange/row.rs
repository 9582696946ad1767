//! A row of words, one of each member: sends one, and combines all.

use super::Prefix;
use crate::grid::stamped::Stamped;
use crate::op::{Carried, Operation, words_of};
use crate::warp;
use core::array::from_fn;
use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_vote_all};

/// When to poll first, in cycles after this block sent its value, up to a number of words.
// The best of 0, 200, 300, 400, 500, 700, 900 and 1200 for 33, 66, 132 and 264 blocks of 32 to 1024
// threads, back to back, on an H200 at 1980 MHz, 2026-11-21.
const FIRST_LOOK: [(u32, u64); 2] = [(160, 350), (u32::MAX, 700)];

/// The most words of a row: nine for each lane. A lane loads all of its words at once, because one
/// poll lasts a third of a crossing.
pub(super) const LONGEST: u32 = 9 * WARP_SIZE;

/// Adjacent words of one crossing. The upper half of each word holds the low 32 bits of the
/// crossing's number, and the lower half 32 bits of a value.
pub(super) struct Row {
    pub(super) words: Global<u64>,
    /// The index of the first value's lowest word.
    pub(super) first: usize,
    /// The distance from each word of a value to its next one.
    pub(super) apart: usize,
    pub(super) crossing: u32,
}

impl Row {
    /// Stores `value` at index `at` of the row.
    #[device]
    pub(super) fn send<T: Carried>(&self, at: usize, value: T) {
        self.stamped().send(self.first + at, value);
    }

    /// Waits for the value at index `at`. Called by any thread.
    #[device]
    pub(super) fn wait_for<T: Carried>(&self, at: usize) -> T {
        let row = self.stamped();
        let mut looked = row.look::<T>(self.first + at);
        spin::until(|| {
            let is_new = row.is_new::<T>(looked);
            if !is_new {
                looked = row.look::<T>(self.first + at);
            }
            is_new
        });
        looked.value()
    }

    #[device]
    fn stamped(&self) -> Stamped {
        Stamped::new(self.words, self.apart, self.crossing)
    }

    /// Waits for the first `count` values of the row, at most [`LONGEST`], and combines them in
    /// order; if `PREFIX`, also those before index `rank`. `began` is the clock when this row's
    /// value was sent.
    ///
    /// Called by all lanes of a warp. All get the results.
    #[device]
    pub(super) fn gather<O: Operation, const PREFIX: bool>(
        &self,
        op: O,
        rank: u32,
        count: u32,
        began: u64,
    ) -> Prefix<O::Accumulator> {
        // A few variants with different numbers of words per lane: needless loads cost time, and so
        // do branches.
        if count <= 2 * WARP_SIZE {
            self.gather_by::<O, 2, PREFIX>(op, rank, count, began)
        } else if count <= 5 * WARP_SIZE {
            self.gather_by::<O, 5, PREFIX>(op, rank, count, began)
        } else {
            self.gather_by::<O, 9, PREFIX>(op, rank, count, began)
        }
    }

    /// Like [`gather`](Self::gather), with `EACH` values per lane.
    #[device]
    pub(super) fn gather_by<O: Operation, const EACH: usize, const PREFIX: bool>(
        &self,
        op: O,
        rank: u32,
        count: u32,
        began: u64,
    ) -> Prefix<O::Accumulator> {
        let [(few, soon), (_, later)] = FIRST_LOOK;
        let cycles = if count <= few { soon } else { later };
        // The other lanes must not spin before the first one has sent: see the split barrier.
        sync_warp(FULL_MASK);
        spin::until(|| clock().wrapping_sub(began) >= cycles);

        let place = |turn: usize| match O::COMMUTATIVE {
            // Adjacent lanes poll adjacent words.
            true => turn as u32 * WARP_SIZE + lane_id(),
            // Each lane combines adjacent values, to keep the order.
            false => lane_id() * EACH as u32 + turn as u32,
        };
        // A lane past the end reads the last value, which touches no further line.
        let at = |turn: usize| self.first + place(turn).min(count - 1) as usize;
        let words = O::Accumulator::WORDS;
        // One array per word: these stay in registers, and an array of arrays would not.
        let (mut a, mut b, mut c, mut d) = ([0; EACH], [0; EACH], [0; EACH], [0; EACH]);
        spin::until(|| {
            // All loads are in flight together.
            a = from_fn(|turn| self.look(at(turn)));
            if words > 1 {
                b = from_fn(|turn| self.look(at(turn) + self.apart));
            }
            if words > 2 {
                c = from_fn(|turn| self.look(at(turn) + 2 * self.apart));
            }
            if words > 3 {
                d = from_fn(|turn| self.look(at(turn) + 3 * self.apart));
            }
            let mut behind = 0;
            for turn in 0..EACH {
                behind |= (a[turn] >> 32) as u32 ^ self.crossing;
                if words > 1 {
                    behind |= (b[turn] >> 32) as u32 ^ self.crossing;
                }
                if words > 2 {
                    behind |= (c[turn] >> 32) as u32 ^ self.crossing;
                }
                if words > 3 {
                    behind |= (d[turn] >> 32) as u32 ^ self.crossing;
                }
            }
            warp_vote_all(FULL_MASK, behind == 0)
        });

        let (mut before, mut all) = (op.identity(), op.identity());
        for turn in 0..EACH {
            let words = [a[turn] as u32, b[turn] as u32, c[turn] as u32, d[turn] as u32];
            let value = O::Accumulator::from_words(words_of(words));
            let up_to = |bound| if place(turn) < bound { value } else { op.identity() };
            all = op.combine(all, up_to(count));
            if PREFIX {
                before = op.combine(before, up_to(rank));
            }
        }
        if PREFIX {
            before = warp::reduce(op, before);
        }
        Prefix { before, all: warp::reduce(op, all) }
    }

    #[device]
    fn look(&self, at: usize) -> u64 {
        self.words.load(at, Ordering::Relaxed, Scope::Device)
    }
}

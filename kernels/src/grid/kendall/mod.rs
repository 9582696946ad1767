//! The counts behind Kendall's rank correlation of two arrays: how many pairs of elements stand in the
//! opposite order in both (discordant), and how many are equal in one of them or in both (ties).
//!
//! Two ways to the same counts. [`by_pairs`] compares every element with every other, in one launch:
//! for short arrays. For long ones elements become keys of 64 bits, the rank of x above that of y
//! ([`place`], or [`order`] and [`rank`]); the keys are sorted; ties are counted where equal ones now
//! stand side by side ([`ties_of_keys`], [`ties_of_ranks`]); and the inversions of what is left of y
//! are the discordant pairs (Knight: "A Computer Method for Calculating Kendall's Tau with Ungrouped
//! Data", 1966). The launches and what they move: `README.md` beside this file.

mod order;
mod pairs;
mod ties;

pub use order::{Ordered, order, place, rank};
pub use pairs::{PAIRS_TILE, by_pairs};
pub use ties::{ties_of_keys, ties_of_ranks};

use crate::block;
use crate::op::Sum;
use cuda_std::prelude::*;

/// Words of the counts, which are zeroed before the first launch.
pub const COUNTS: usize = 6;
/// Pairs in the opposite order in x and y.
pub const DISCORDANT: usize = 0;
/// Pairs equal in x.
pub const TIES_X: usize = 1;
/// Pairs equal in y.
pub const TIES_Y: usize = 2;
/// Pairs equal in both.
pub const TIES_BOTH: usize = 3;
/// 2^64 − 1 less the index of the first NaN of x; 0 if there is none. That of y is the next word.
pub const NAN: usize = 4;

/// Which of the two arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Side {
    /// The first one, whose ranks are the upper halves of the keys.
    X = 0,
    /// The second one, whose ranks are the lower halves.
    Y = 1,
}

impl Side {
    /// The side of this number; y if it is not 0.
    #[inline(always)]
    #[must_use]
    pub const fn of(number: u32) -> Self {
        match number {
            0 => Self::X,
            _ => Self::Y,
        }
    }
}

/// Adds up `part` over the block into word `which` of the counts. By all threads of the block, whose
/// size is a multiple of 32, with one barrier of the block inside; between two calls the block needs
/// another.
#[device]
pub fn count(counts: Global<u64>, which: usize, part: u64) {
    let total = block::reduce(Sum::<u64>::new(), part);
    if thread::is_first_in_block() && total > 0 {
        // Relaxed: it is read after the launch.
        counts.add(which, total, Ordering::Relaxed, Scope::Device);
    }
}

/// Leaves the index of a NaN, if it is the first of its side.
#[device]
fn report_nan(counts: Global<u64>, side: Side, index: usize) {
    let word = NAN + side as usize;
    counts.fetch_max(word, !(index as u64), Ordering::Relaxed, Scope::Device);
}

//! The counts for Kendall's rank correlation of two arrays: how many pairs of elements are in
//! opposite order in the two (discordant), and how many are equal in one of them or in both (ties).
//!
//! It has two methods. For short arrays, [`by_pairs`] compares every element with every other in
//! one launch. For long arrays, elements become keys of 64 bits, with the rank of x above that of y
//! ([`place`], or [`order`] and [`rank`]). The keys are sorted, and ties counted where equal ones
//! are now adjacent ([`ties_of_keys`], [`ties_of_ranks`]). The inversions of the remaining y are
//! the discordant pairs (Knight: "A Computer Method for Calculating Kendall's Tau with Ungrouped
//! Data", 1966). `README.md` next to this file lists the launches and the data that they move.

mod order;
mod pairs;
mod ties;

pub use order::{Ordered, order, place, rank};
pub use pairs::{PAIRS_TILE, by_pairs};
pub use ties::{ties_of_keys, ties_of_ranks};

use crate::block;
use crate::op::Sum;
use cuda_std::prelude::*;

/// Words of the counts, which must be zeroed before the first launch.
pub const COUNTS: usize = 6;
/// Pairs in opposite order in x and y.
pub const DISCORDANT: usize = 0;
/// Pairs equal in x.
pub const TIES_X: usize = 1;
/// Pairs equal in y.
pub const TIES_Y: usize = 2;
/// Pairs equal in both.
pub const TIES_BOTH: usize = 3;
/// 2^64 − 1 minus the index of the first NaN of x; 0 if x has none. The next word is that of y.
pub const NAN: usize = 4;

/// One of the two arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Side {
    /// The first array. Its ranks are the upper halves of the keys.
    X = 0,
    /// The second array. Its ranks are the lower halves.
    Y = 1,
}

impl Side {
    /// The side with this number: x for 0, otherwise y.
    #[inline(always)]
    #[must_use]
    pub const fn of(number: u32) -> Self {
        match number {
            0 => Self::X,
            _ => Self::Y,
        }
    }
}

/// Adds the sum of `part` over the block to word `which` of the counts. Called by all threads of
/// the block, a multiple of 32. It contains one block barrier; between two calls the block needs
/// another one.
#[device]
pub fn count(counts: Global<u64>, which: usize, part: u64) {
    let total = block::reduce(Sum::<u64>::new(), part);
    if thread::is_first_in_block() && total > 0 {
        // Relaxed: the host reads it after the launch.
        counts.add(which, total, Ordering::Relaxed, Scope::Device);
    }
}

/// Records the index of a NaN, if it is the first of its side.
#[device]
fn report_nan(counts: Global<u64>, side: Side, index: usize) {
    let word = NAN + side as usize;
    counts.fetch_max(word, !(index as u64), Ordering::Relaxed, Scope::Device);
}

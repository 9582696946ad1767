//! Kernels that count for Kendall's rank correlation.

use cuda_std::prelude::*;
use gridsync_kernels::grid::kendall::{self, DISCORDANT, Side, count};
use gridsync_kernels::grid::merge_sort::{merge_runs, sort_tile};

/// Sorts the ranks of y (the lower halves of `keys`) tile by tile into `ranks`, and counts their
/// inversions: see [`sort_tile`].
///
/// # Safety
///
/// The grid is valid for [`sort_tile`]; `keys` and `ranks` have the same length and do not overlap;
/// `counts` has [`COUNTS`](kendall::COUNTS) words.
#[kernel(max_threads = 256, min_blocks = 4)]
pub unsafe fn kendall_tiles(keys: Global<u64>, ranks: Global<u32>, counts: Global<u64>) {
    let inversions = sort_tile(|i| keys.read(i) as u32, ranks);
    count(counts, DISCORDANT, inversions.into());
}

/// Merges runs of `run` ranks, and counts the inversions between them: see [`merge_runs`].
///
/// # Safety
///
/// The arguments and the grid are valid for [`merge_runs`]; `counts` has
/// [`COUNTS`](kendall::COUNTS) words.
#[kernel(max_threads = 256, min_blocks = 4)]
pub unsafe fn kendall_runs(input: Global<u32>, output: Global<u32>, run: u32, counts: Global<u64>) {
    count(counts, DISCORDANT, merge_runs(input, output, run as usize));
}

/// Counts the ties of x, and of x and y together: see [`kendall::ties_of_keys`].
///
/// # Safety
///
/// The grid is valid for [`kendall::ties_of_keys`], `keys` are sorted, and `counts` has
/// [`COUNTS`](kendall::COUNTS) words.
#[kernel]
pub unsafe fn kendall_ties_of_keys(keys: Global<u64>, counts: Global<u64>) {
    kendall::ties_of_keys(keys, counts);
}

/// Counts the ties of y: see [`kendall::ties_of_ranks`].
///
/// # Safety
///
/// The grid is valid for [`kendall::ties_of_ranks`], `ranks` are sorted, and `counts` has
/// [`COUNTS`](kendall::COUNTS) words.
#[kernel]
pub unsafe fn kendall_ties_of_ranks(ranks: Global<u32>, counts: Global<u64>) {
    kendall::ties_of_ranks(ranks, counts);
}

macro_rules! kernels {
    ($ty:ty, $pairs:ident, $($rest:tt)*) => {
        #[doc = concat!("Counts all pairs of ", stringify!($ty), " elements: see [`kendall::by_pairs`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`kendall::by_pairs`].
        #[kernel(max_threads = 256, min_blocks = 4)]
        pub unsafe fn $pairs(x: Global<$ty>, y: Global<$ty>, counts: Global<u64>) {
            kendall::by_pairs(x, y, counts);
        }

        kernels! { @ $ty, $($rest)* }
    };
    (@ $ty:ty, place $place:ident) => {
        #[doc = concat!("Puts ", stringify!($ty), " elements into keys: see [`kendall::place`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`kendall::place`].
        #[kernel]
        pub unsafe fn $place(
            values: Global<$ty>,
            keys: Global<u64>,
            counts: Global<u64>,
            side: u32,
        ) {
            kendall::place(values, keys, counts, Side::of(side));
        }
    };
    (@ $ty:ty, order $order:ident, rank $rank:ident) => {
        #[doc = concat!("Makes ", stringify!($ty), " elements keys to sort: see [`kendall::order`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`kendall::order`].
        #[kernel]
        pub unsafe fn $order(
            values: Global<$ty>,
            bits: Global<u64>,
            counts: Global<u64>,
            side: u32,
        ) {
            kendall::order(values, bits, counts, Side::of(side));
        }

        #[doc = concat!("Puts the ranks of ", stringify!($ty), " elements into keys: see [`kendall::rank`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`kendall::rank`].
        #[kernel]
        pub unsafe fn $rank(
            values: Global<$ty>,
            sorted: Global<u64>,
            keys: Global<u64>,
            side: u32,
        ) {
            kendall::rank(values, sorted, keys, Side::of(side));
        }
    };
}
crate::correlated_elements!(kernels);

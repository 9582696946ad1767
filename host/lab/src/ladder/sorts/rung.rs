//! The rungs: their kernels and launches.

use super::bitonic::steps;
use crate::ladder::scans::Moves;
use crate::ladder::{self, Entry};
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync_kernels::grid::sort::one_block_threads;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::sorts::kernels::{
    ladder_sort_odd_even, ladder_sort_one_sweep, ladder_sort_scatter, ladder_sort_scatter_ranked,
    ladder_sort_step, ladder_sort_tiles,
};
use gridsync_lab_kernels::ladder::sorts::t05_ranks::ROW;
use gridsync_lab_kernels::ladder::sorts::{DIGITS, PASSES, TILE};

/// Keys before and after a pass, the start of each digit of each tile, the first bit of the digit.
pub(super) type Scatter = (Global<u32>, Global<u32>, Global<u32>, u32);

/// How a rung is launched.
#[derive(Clone, Copy, Debug)]
pub enum Launched {
    /// One block.
    OneBlock,
    /// A bitonic network, with a launch for each step.
    BitonicSteps,
    /// A bitonic network, with the steps within a tile in shared memory.
    BitonicTiles,
    /// For each digit: count, scan, scatter.
    Counted(Counted),
    /// All digits are counted, then a launch for each.
    OneSweep,
    /// The library's sort.
    Library,
}

/// A radix sort with counts of each tile.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Moves the keys of a tile in each block.
    pub(super) scatter: Entry<Scatter>,
    /// Threads of such a block.
    pub(super) threads: u32,
}

/// A rung of this ladder. Rung 7 is the library's.
pub type Rung = ladder::Rung<Launched>;

/// The most keys of the radix sorts: an index fits in 30 bits.
const MOST: usize = 1 << 28;

/// All rungs, from the lowest to the highest.
#[must_use]
pub fn rungs() -> [Rung; 7] {
    use Launched::{BitonicSteps, BitonicTiles, Library, OneBlock, OneSweep};
    let rung = |number, name, at_most, launched| Rung { number, name, at_most, launched };
    let counted = |scatter, threads| Launched::Counted(Counted { scatter, threads });
    let by_digit = counted(Entry::of::<ladder_sort_scatter>(), THREADS);
    let by_rank = counted(Entry::of::<ladder_sort_scatter_ranked>(), ROW as u32);
    [
        rung(1, "odd-even", 1 << 10, OneBlock),
        rung(2, "bitonic steps", 1 << 24, BitonicSteps),
        rung(3, "bitonic tiles", 1 << 24, BitonicTiles),
        rung(4, "radix, counted", MOST, by_digit),
        rung(5, "radix, ranked", MOST, by_rank),
        rung(6, "one sweep", MOST, OneSweep),
        rung(7, "the library's", usize::MAX, Library),
    ]
}

/// Tiles of an array.
pub(super) fn tiles(len: usize) -> usize {
    len.div_ceil(TILE).max(1)
}

impl Rung {
    /// The entry point in the PTX that orders or moves the keys. None for the library's rung, whose
    /// kernels depend on the device.
    #[must_use]
    pub fn kernel(&self) -> Option<&'static str> {
        match self.launched {
            Launched::OneBlock => Some(ladder_sort_odd_even::NAME),
            Launched::BitonicSteps => Some(ladder_sort_step::NAME),
            Launched::BitonicTiles => Some(ladder_sort_tiles::NAME),
            Launched::Counted(counted) => Some(counted.scatter.name),
            Launched::OneSweep => Some(ladder_sort_one_sweep::NAME),
            Launched::Library => None,
        }
    }

    /// Launches and moved words for `len` keys on a device of this compute capability.
    #[must_use]
    pub fn moves(&self, len: usize, compute: u32) -> Moves {
        let (launches, words) = match self.launched {
            // In each round two keys of each pair are read and written.
            Launched::OneBlock => {
                let round = |round| len.saturating_sub(round % 2) / 2 * 4;
                (1, 2 * len + (0..len).map(round).sum::<usize>())
            }
            Launched::BitonicSteps | Launched::BitonicTiles => {
                let by_tiles = matches!(self.launched, Launched::BitonicTiles);
                let launches = steps(len, by_tiles).len();
                (launches, launches * 2 * len)
            }
            // The counts are written, read and written by the scan, and read.
            Launched::Counted(_) => (3 * PASSES, PASSES * (3 * len + 4 * DIGITS * tiles(len))),
            // The counts, and the words of each pass, are set to 0.
            Launched::OneSweep => (2 * (1 + PASSES), len + PASSES * 2 * len),
            Launched::Library if one_block_threads(len, 4, compute >= 90).is_some() => (1, 2 * len),
            Launched::Library => (1 + PASSES, len + PASSES * 2 * len),
        };
        Moves { launches, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Launches and words of rung `number`.
    fn of(number: u32, len: usize) -> (usize, usize) {
        let rung = rungs().into_iter().find(|rung| rung.number == number);
        let Moves { launches, words } = rung.expect("a rung").moves(len, 90);
        (launches, words)
    }

    #[test]
    fn rounds_of_neighbours_move_the_square_of_the_length() {
        assert_eq!(of(1, 0), (1, 0));
        assert_eq!(of(1, 1), (1, 2));
        // Two rounds with two pairs, two with one.
        assert_eq!(of(1, 4), (1, 8 + 2 * (8 + 4)));
    }

    #[test]
    fn tiles_save_the_launches_of_their_steps() {
        assert_eq!(of(2, 1 << 20), (210, 210 << 21));
        assert_eq!(of(3, 1 << 20), (9 * 10 / 2 + 10, 55 << 21));
    }

    #[test]
    fn a_radix_sort_moves_the_same_words_for_each_digit() {
        assert_eq!(of(4, 1 << 20), (12, 4 * ((3 << 20) + (4 << 17))));
        assert_eq!(of(6, 1 << 20), (10, 9 << 20));
        assert_eq!(of(7, 1 << 20), (5, 9 << 20));
        assert_eq!(of(7, 1 << 12), (1, 2 << 12));
    }
}

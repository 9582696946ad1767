//! The rungs: their kernels and launches.

use crate::ladder::{self, Entry};
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::primitives::scan::Design;
use gridsync_entries::scan::{bulk::sum_u32 as scan_bulk_sum_u32, sum_u32 as scan_sum_u32};
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::scans::kernels::{
    ladder_scan_blelloch, ladder_scan_block_sums, ladder_scan_chained, ladder_scan_grid_barrier,
    ladder_scan_inject, ladder_scan_inject_packs, ladder_scan_look_back, ladder_scan_one_block,
    ladder_scan_padded, ladder_scan_serial, ladder_scan_shuffles,
};
use gridsync_lab_kernels::ladder::scans::{s04_blelloch, s06_shuffles};

/// Input and output; or output and the sums of the preceding blocks.
pub(super) type Two = (Global<u32>, Global<u32>);
/// Input, output, the sum of each block.
pub(super) type Three = (Global<u32>, Global<u32>, Global<u32>);
/// Input, output, partial sums, words of a barrier.
pub(super) type Four = (Global<u32>, Global<u32>, Global<u32>, Global<u32>);
/// Input, output, a ticket and a word for each tile.
pub(super) type Chain = (Global<u32>, Global<u32>, Global<u64>);

/// Scans of blocks, then of the sums of the blocks, then of the sums of these.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    /// Scans a tile in each block.
    pub(super) scan: Entry<Three>,
    /// Adds to each tile the sum of all tiles before it.
    pub(super) inject: Entry<Two>,
    /// Threads per block of the `inject` kernel.
    pub(super) inject_threads: u32,
    /// Elements of a tile.
    pub(super) tile: usize,
}

impl Levels {
    /// The lengths of the arrays that are scanned: the input, the sums of its blocks, and so on,
    /// down to an array that one block scans.
    pub(super) fn lens(self, len: usize) -> Vec<usize> {
        let mut lens = vec![len];
        let mut left = len;
        while left > self.tile {
            left = left.div_ceil(self.tile);
            lens.push(left);
        }
        lens
    }
}

/// How a rung is launched.
#[derive(Clone, Copy, Debug)]
pub enum Launched {
    /// One block of this many threads.
    OneBlock(Entry<Two>, u32),
    /// A launch for each level on the way up, and one on the way down.
    Levels(Levels),
    /// A resident grid with a barrier.
    GridBarrier(Entry<Four>),
    /// A block for each tile. Each block passes the sum so far to the next ones.
    Chain(Entry<Chain>),
    /// The library's scan.
    Library(Design),
}

/// A rung of this ladder. Rungs 10 and 11 are the library's.
pub type Rung = ladder::Rung<Launched>;

/// The launches of a rung, and the words that it moves, for a number of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Launches, and setting words to 0 if the rung does that.
    pub launches: usize,
    /// Words that it reads and writes in the array and in the arrays of sums or counts, without the
    /// words that blocks exchange.
    pub words: usize,
}

/// All rungs, from the lowest to the highest.
#[must_use]
pub fn rungs() -> [Rung; 11] {
    use Launched::{Chain, GridBarrier, Library, OneBlock};
    let all = usize::MAX;
    let rung = |number, name, at_most, launched| Rung { number, name, at_most, launched };
    let levels = |scan, inject, inject_threads, tile| {
        Launched::Levels(Levels { scan, inject, inject_threads, tile })
    };
    // A thread for each element of a tile.
    let inject = Entry::of::<ladder_scan_inject>();
    let single = |scan, tile: usize| levels(scan, inject, tile as u32, tile);
    let blelloch = |scan| single(scan, s04_blelloch::TILE);
    let packs = Entry::of::<ladder_scan_inject_packs>();
    #[rustfmt::skip]
    let rungs = [
        rung(1, "one thread", 1 << 20, OneBlock(Entry::of::<ladder_scan_serial>(), 1)),
        rung(2, "one block", 1 << 24, OneBlock(Entry::of::<ladder_scan_one_block>(), THREADS)),
        rung(3, "block sums", all, single(Entry::of::<ladder_scan_block_sums>(), THREADS as usize)),
        rung(4, "up and down", all, blelloch(Entry::of::<ladder_scan_blelloch>())),
        rung(5, "padded", all, blelloch(Entry::of::<ladder_scan_padded>())),
        rung(6, "shuffles", all, levels(Entry::of::<ladder_scan_shuffles>(), packs, THREADS, s06_shuffles::TILE)),
        rung(7, "grid barrier", all, GridBarrier(Entry::of::<ladder_scan_grid_barrier>())),
        rung(8, "chained", all, Chain(Entry::of::<ladder_scan_chained>())),
        rung(9, "look-back", all, Chain(Entry::of::<ladder_scan_look_back>())),
        rung(10, "the library's, in registers", all, Library(Design::Registers)),
        rung(11, "the library's, bulk copies", all, Library(Design::Bulk)),
    ];
    rungs
}

impl Rung {
    /// The entry point in the PTX.
    #[must_use]
    pub fn kernel(&self) -> &'static str {
        match self.launched {
            Launched::OneBlock(kernel, _) => kernel.name,
            Launched::Levels(levels) => levels.scan.name,
            Launched::GridBarrier(kernel) => kernel.name,
            Launched::Chain(kernel) => kernel.name,
            Launched::Library(Design::Registers) => scan_sum_u32::NAME,
            Launched::Library(Design::Bulk) => scan_bulk_sum_u32::NAME,
        }
    }

    /// Launches and moved words for `len` elements.
    #[must_use]
    pub fn moves(&self, len: usize) -> Moves {
        let (launches, words) = match self.launched {
            Launched::OneBlock(..) | Launched::Library(_) => (1, 2 * len),
            Launched::GridBarrier(_) => (1, 3 * len),
            Launched::Chain(_) => (2, 2 * len),
            Launched::Levels(levels) => {
                let lens = levels.lens(len);
                // Every array is scanned. All but the shortest then have the preceding sums added.
                let scanned: usize = lens.iter().sum();
                let added: usize = lens[..lens.len() - 1].iter().sum();
                (2 * lens.len() - 1, 2 * scanned + 2 * added)
            }
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
        let Moves { launches, words } = rung.expect("a rung").moves(len);
        (launches, words)
    }

    #[test]
    fn a_level_adds_two_launches_and_four_words_per_block() {
        assert_eq!(of(3, 0), (1, 0));
        assert_eq!(of(3, 256), (1, 512));
        assert_eq!(of(3, 257), (3, 4 * 257 + 2 * 2));
        assert_eq!(of(3, 1 << 16), (3, (4 << 16) + (2 << 8)));
        assert_eq!(of(3, 1 << 24), (5, (4 << 24) + (4 << 16) + (2 << 8)));
        assert_eq!(of(6, 1 << 22), (3, (4 << 22) + (2 << 11)));
    }

    #[test]
    fn one_launch_moves_three_words_and_one_pass_moves_two() {
        assert_eq!(of(7, 1000), (1, 3000));
        assert_eq!(of(9, 1000), (2, 2000));
        assert_eq!(of(10, 1000), (1, 2000));
    }
}

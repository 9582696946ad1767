//! Operations of a block that sorts its tile, or moves its keys for one digit.

use super::rung::{Launched, Rung};
use crate::ladder::count::{Counted, one_block, one_block_with};
use cuda_std::launch::Kernel;
use gridsync::device::DeviceError;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::sorts::kernels::{
    ladder_sort_odd_even, ladder_sort_one_sweep, ladder_sort_tiles,
};
use gridsync_lab_kernels::ladder::sorts::t05_ranks::ROW;
use gridsync_lab_kernels::ladder::sorts::{DIGITS, TILE};
use simt::LaunchConfig;

impl Rung {
    /// Counts the operations of one block on a whole tile, or of rung 1 on 256 keys. `None` for rung
    /// 2, which uses no shared memory, and for the library's.
    ///
    /// # Errors
    /// If the kernel faults.
    pub fn count(&self) -> Result<Option<Counted>, DeviceError> {
        let Some(name) = self.kernel() else { return Ok(None) };
        let config = |threads| LaunchConfig::new(name, 1, threads);
        let counted = match self.launched {
            Launched::BitonicSteps | Launched::Library => return Ok(None),
            // SAFETY: `Views` has what the kernel needs for one block.
            Launched::OneBlock => one_block(&config(THREADS), THREADS as usize, |v| unsafe {
                ladder_sort_odd_even::run((v.input, v.output));
            }),
            // SAFETY: `Views` has what the kernel needs for one block.
            Launched::BitonicTiles => one_block(&config(THREADS), TILE, |v| unsafe {
                ladder_sort_tiles::run((v.input, v.output, 0));
            }),
            Launched::Counted(counted) => {
                let config = config(counted.threads);
                // SAFETY: `Views` has what the kernel needs for one block, and the state has the
                // starts of the lowest digit.
                one_block_with(&config, TILE, starts, |v| unsafe {
                    (counted.scatter.run)((v.input, v.output, v.state, 0));
                })
            }
            Launched::OneSweep => {
                let state = |keys: &[u32]| [&counts(keys)[..], &[0; 1 + DIGITS]].concat();
                // SAFETY: `Views` has what the kernel needs for one block, and the state has the
                // counts of the lowest digit, a ticket, and the words of the tile, which are 0.
                one_block_with(&config(ROW as u32), TILE, state, |v| unsafe {
                    let (totals, words) =
                        (v.state.part(0, DIGITS), v.state.part(DIGITS, 1 + DIGITS));
                    ladder_sort_one_sweep::run((v.input, v.output, totals, words, 0));
                })
            }
        };
        counted.map(Some)
    }
}

/// The number of keys with each value of the lowest digit.
fn counts(keys: &[u32]) -> [u32; DIGITS] {
    let mut counts = [0; DIGITS];
    for key in keys {
        counts[*key as usize % DIGITS] += 1;
    }
    counts
}

/// The exclusive scan of these numbers.
fn starts(keys: &[u32]) -> Vec<u32> {
    let mut before = 0;
    let start = |count| {
        let start = before;
        before += count;
        start
    };
    counts(keys).into_iter().map(start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::sorts::rungs;

    /// Counts of rung `number`.
    fn counted(number: u32) -> Counted {
        let rung = rungs().into_iter().find(|r| r.number == number);
        let counted = rung.expect("a rung").count().expect("no fault");
        counted.expect("a rung whose blocks use shared memory or barriers")
    }

    #[test]
    fn neighbours_need_a_barrier_for_each_key_and_no_shared_memory() {
        let exchanged = counted(1);
        assert_eq!((exchanged.elements, exchanged.barriers), (256, 256));
        assert_eq!(exchanged.warp_operations(), 0);
    }

    #[test]
    fn a_tile_needs_66_steps_of_eight_warps_with_four_pairs_per_thread() {
        let sorted = counted(3);
        assert_eq!(sorted.barriers, 11 * 12 / 2 + 1);
        // Two loads and two stores for each pair; each key is stored once before and loaded once
        // after.
        assert_eq!(sorted.shared_accesses, 66 * 8 * 4 * 4 + 8 * 8 + 8 * 8);
    }

    #[test]
    fn ranks_need_fewer_accesses_than_a_thread_for_each_digit() {
        let (by_digit, by_rank) = (counted(4), counted(5));
        // Each of eight warps loads each key at least once, and has stored its share.
        assert!(by_digit.shared_accesses >= 8 * 2048 + 8 * 8, "{by_digit:?}");
        assert!(3 * by_rank.warp_operations() < by_digit.shared_accesses, "{by_rank:?}");
    }

    #[test]
    fn one_sweep_also_counts_its_tile() {
        let (ranked, swept) = (counted(5), counted(6));
        assert!(swept.shared_accesses > ranked.shared_accesses, "{swept:?}, {ranked:?}");
    }
}

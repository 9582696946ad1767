//! Operations of a block that scans its tile.

use super::rung::{Launched, Rung};
use crate::ladder::count::{Counted, one_block};
use cuda_std::launch::Kernel;
use gridsync::device::DeviceError;
use gridsync::primitives::scan::{Design, Form};
use gridsync_entries::scan::{
    Arguments, BulkArguments, bulk::sum_u32 as scan_bulk_sum_u32, sum_u32 as scan_sum_u32,
};
use gridsync_kernels::grid::scan::{BULK_SHARED, BULK_THREADS, Shape};
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::scans::s06_shuffles::TILE;
use simt::LaunchConfig;

impl Rung {
    /// Counts the operations of one block on a whole tile. `None` for the rung of one thread.
    ///
    /// # Errors
    /// If the kernel faults.
    pub fn count(&self) -> Result<Option<Counted>, DeviceError> {
        let config = LaunchConfig::new(self.kernel(), 1, THREADS);
        let counted = match self.launched {
            Launched::OneBlock(_, 1) => return Ok(None),
            Launched::OneBlock(kernel, threads) => {
                // SAFETY: `Views` has what the kernel needs for one block.
                one_block(&config, threads as usize, |v| unsafe {
                    (kernel.run)((v.input, v.output));
                })
            }
            Launched::Levels(levels) => {
                // SAFETY: `Views` has what the kernel needs for one block.
                one_block(&config, levels.tile, |v| unsafe {
                    (levels.scan.run)((v.input, v.output, v.sums));
                })
            }
            Launched::GridBarrier(kernel) => {
                // SAFETY: `Views` has what the kernel needs for one block.
                one_block(&config, TILE, |v| unsafe {
                    (kernel.run)((v.input, v.output, v.sums, v.state));
                })
            }
            Launched::Chain(kernel) => {
                // SAFETY: `Views` has what the kernel needs for one block.
                one_block(&config, TILE, |v| unsafe {
                    (kernel.run)((v.input, v.output, v.words));
                })
            }
            Launched::Library(design) => of_the_library(design, config),
        };
        counted.map(Some)
    }
}

/// Counts the operations of a block of the library's scan on a tile of a large array.
fn of_the_library(design: Design, mut config: LaunchConfig<'_>) -> Result<Counted, DeviceError> {
    let Shape { rows, group, .. } = Shape::for_bulk::<u32>(1);
    let tile = Shape::for_bulk::<u32>(1).tile::<u32>();
    let form = Form::Inclusive as u32;
    match design {
        // SAFETY: `Views` has what the kernel needs for one block. Both designs scan large arrays
        // with this shape, and its tile is as long as the input.
        Design::Registers => one_block(&config, tile, |v| unsafe {
            scan_sum_u32::run((Arguments {
                input: v.input,
                output: v.output,
                words: v.words,
                state: v.state,
                rows,
                group,
                mode: form,
            },));
        }),
        Design::Bulk => {
            config.block = BULK_THREADS.into();
            config.dynamic_shared = BULK_SHARED as usize;
            config.shared_per_block = 227 << 10;
            // SAFETY: `Views` has what the kernel needs for one block. Both designs scan large
            // arrays with this shape, and its tile is as long as the input.
            one_block(&config, tile, |v| unsafe {
                scan_bulk_sum_u32::run((BulkArguments {
                    input: v.input,
                    output: v.output,
                    words: v.words,
                    state: v.state,
                    tiles: 1,
                    mode: form,
                },));
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::scans::rungs;

    /// Counts of rung `number`.
    fn counted(number: u32) -> Counted {
        let rung = rungs().into_iter().find(|r| r.number == number);
        let counted = rung.expect("a rung").count().expect("no fault");
        counted.expect("a rung of more than one thread")
    }

    #[test]
    fn hillis_and_steele_add_in_all_warps_at_each_of_eight_steps() {
        let scanned = counted(3);
        // Eight stores before the steps, and eight in each step. Only warps that have something to
        // load do so: in the last three steps all but the first 1, 2 and 4. Eight loads of the
        // total.
        let loads = 5 * 8 + (8 - 1) + (8 - 2) + (8 - 4);
        // In the first five steps some lanes of the first warp have nothing to load. They run ahead
        // of the others, so this warp stores twice.
        assert_eq!(scanned.shared_accesses, 8 + 8 * 8 + loads + 8 + 5);
        assert_eq!((scanned.elements, scanned.barriers), (256, 1 + 8));
    }

    #[test]
    fn up_and_down_need_less_per_element_and_have_bank_conflicts() {
        let (steps, tree, padded) = (counted(3), counted(4), counted(5));
        let each = |c: &Counted| c.warp_operations() as f64 / c.elements as f64;
        assert!(each(&tree) < each(&steps), "{tree:?}, {steps:?}");
        assert_eq!(tree.shared_accesses, padded.shared_accesses);
        assert_eq!((tree.bank_conflicts, padded.bank_conflicts), (525, 0));
        assert_eq!(tree.barriers, 9 + 9 + 1);
    }

    #[test]
    fn shuffles_share_one_word_per_warp_in_shared_memory() {
        let scanned = counted(6);
        assert_eq!(scanned.shared_accesses, 8 + 8);
        assert_eq!((scanned.barriers, scanned.bank_conflicts), (1, 0));
    }

    #[test]
    fn a_look_back_adds_the_shuffles_of_one_warp_to_a_chain() {
        let (chained, look_back) = (counted(8), counted(9));
        assert_eq!(look_back.shuffles - chained.shuffles, 5);
        assert_eq!(look_back.shared_accesses, chained.shared_accesses);
    }
}

//! Operations of a block of 256 threads that adds up its elements.

use super::rung::{Launched, PER_TURN, Rung, Step};
use crate::ladder::count::{Counted, Views, one_block};
use gridsync::device::DeviceError;
use gridsync_lab_kernels::ladder::THREADS;
use simt::LaunchConfig;

impl<T: Step> Rung<T> {
    /// Counts the operations of one block. `None` for the rungs below 5, which have no block sums.
    ///
    /// # Errors
    /// If the kernel faults.
    pub fn count(&self) -> Result<Option<Counted>, DeviceError> {
        let count = |elements, body: &dyn Fn(&Views<T>)| {
            let config = LaunchConfig::new(self.kernel(), 1, THREADS);
            one_block(&config, elements, body).map(Some)
        };
        let resident = PER_TURN * THREADS as usize;
        match self.launched {
            Launched::OneThread(_)
            | Launched::SumOfEachThread(..)
            | Launched::AtomicOfEachElement(_) => Ok(None),
            Launched::Pyramid(kernel, per_block) => {
                // SAFETY: `Views` has what the kernel needs for one block.
                count(per_block, &|v| unsafe { (kernel.run)((v.input, v.sums)) })
            }
            Launched::Resident(kernel) | Launched::AtomicOfEachBlock(kernel) => {
                // SAFETY: `Views` has what the kernel needs for one block.
                count(resident, &|v| unsafe { (kernel.run)((v.input, v.sums)) })
            }
            Launched::LastBlock(kernel) | Launched::GridBarrier(kernel) => {
                // SAFETY: `Views` has what the kernel needs for one block.
                count(resident, &|v| unsafe {
                    (kernel.run)((v.input, v.sums, v.state, v.output));
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::sums::rungs;

    /// Counts of rung `number` of the f32 ladder.
    fn counted(number: u32) -> Counted {
        let rung = rungs::<f32>().into_iter().find(|r| r.number == number);
        let counted = rung.expect("a rung").count().expect("no fault");
        counted.expect("a rung with sums of blocks")
    }

    #[test]
    fn divergent_warps_need_47_additions() {
        // Eight warps in each of five rounds, then 4, 2 and 1.
        let interleaved = counted(5);
        assert_eq!(interleaved.warp_additions(), 5 * 8 + 4 + 2 + 1);
        assert_eq!(interleaved.bank_conflicts, 0);
    }

    #[test]
    fn compacted_threads_need_12_additions_and_have_bank_conflicts() {
        // In the eight rounds: 4, 2, 1, 1, 1, 1, 1, 1.
        let compacted = counted(6);
        assert_eq!(compacted.warp_additions(), 4 + 2 + 6);
        // Each addition has two loads and a store: in the rounds 2, 4, 8, 8, 8, 4, 2 and 1 lanes
        // access the same bank.
        let waits = 4 + 2 * 3 + 7 + 7 + 7 + 3 + 1;
        assert_eq!(compacted.bank_conflicts, 3 * waits);
    }

    #[test]
    fn sequential_addressing_needs_12_additions_and_has_no_bank_conflicts() {
        let sequential = counted(7);
        assert_eq!(sequential.warp_additions(), 12);
        assert_eq!(sequential.bank_conflicts, 0);
    }

    #[test]
    fn the_last_warp_saves_six_of_nine_barriers_and_warps_first_saves_eight() {
        let barriers = [7, 8, 9, 10, 11].map(|number| counted(number).barriers);
        assert_eq!(barriers, [9, 9, 3, 1, 1]);
        let additions = [9, 10, 11].map(|number| counted(number).warp_additions());
        assert_eq!(additions, [12, 8 * 5 + 3, 8 * 5 + 5]);
    }

    #[test]
    fn shuffles_share_one_word_per_warp_in_shared_memory() {
        let accesses = [9, 10, 11].map(|number| counted(number).shared_accesses);
        assert_eq!(accesses, [45, 154, 8 + 1]);
    }

    #[test]
    fn finishing_in_the_same_launch_doubles_the_additions() {
        let additions = [14, 16, 17].map(|number| counted(number).warp_additions());
        assert_eq!(additions, [45, 90, 90]);
    }

    #[test]
    fn redux_is_one_step_per_warp() {
        let rung = rungs::<u32>().into_iter().find(|rung| rung.number == 13);
        let counted = rung.expect("u32 has it").count().expect("no fault");
        assert_eq!(counted.map(|c| c.warp_additions()), Some(8 + 1));
    }
}

//! What a block of 256 threads does to add up, counted by the emulator.

use super::rung::{Launched, Rung, Step};
use crate::lab::ladder::one_block::{count, uploaded};
use crate::verify::{Kind, sample};
use cuda_std::memory::Global;
use gridsync::device::DeviceError;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_lab_kernels::ladder::THREADS;
use simt::{LaunchConfig, Memory, Stats};

/// What one block of 256 threads does, with as many elements as it takes.
///
/// The seed's **warp operation** is an addition that a warp carries out, however many of its lanes
/// take part in it. In shared memory it ends in a store to the word that the lane has loaded; between
/// lanes it is a shuffle or a `redux`. The additions of a thread while it loads are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Additions of a warp.
    pub warp_additions: u64,
    /// Loads and stores of a warp in shared memory.
    pub shared_accesses: u64,
    /// Passes through shared memory beyond the first of each of those, because lanes wanted different
    /// words of one bank.
    pub bank_conflicts: u64,
    /// Barriers of the block.
    pub barriers: u64,
}

impl<T: Step> Rung<T> {
    /// Counts what one block does; none of the rungs below 5, which have no sums of blocks.
    ///
    /// # Errors
    /// A fault of the kernel.
    pub fn count(&self) -> Result<Option<Counted>, DeviceError> {
        let resident = 16 * THREADS as usize;
        let stats = match self.launched {
            Launched::OneThread(_)
            | Launched::SumOfEachThread(..)
            | Launched::AtomicOfEachElement(_) => return Ok(None),
            Launched::Pyramid(kernel, per_block) => {
                // SAFETY: an input at a multiple of 16 bytes, and a sum for the one block.
                one_block::<T>(kernel.name, per_block, |input, sums, _, _| unsafe {
                    (kernel.run)((input, sums));
                })
            }
            Launched::Resident(kernel) | Launched::AtomicOfEachBlock(kernel) => {
                // SAFETY: as above.
                one_block::<T>(kernel.name, resident, |input, sums, _, _| unsafe {
                    (kernel.run)((input, sums));
                })
            }
            Launched::LastBlock(kernel) | Launched::GridBarrier(kernel) => {
                // SAFETY: as above; a sum of its own, and words of 0 that are enough for both.
                one_block::<T>(kernel.name, resident, |input, sums, words, sum| unsafe {
                    (kernel.run)((input, sums, words, sum));
                })
            }
        }?;
        let counts = stats.counts.unwrap_or_default();
        Ok(Some(Counted {
            warp_additions: counts.shared_updates + counts.exchanges,
            shared_accesses: counts.shared_loads + counts.shared_stores,
            bank_conflicts: counts.bank_conflicts,
            barriers: stats.barriers,
        }))
    }
}

/// Runs `body` as one block over `len` elements, with memory of its own: input, a partial sum, words
/// and a sum, all 0 but the input.
fn one_block<T: Step>(
    kernel: &'static str,
    len: usize,
    body: impl Fn(Global<T>, Global<T>, Global<u32>, Global<T>),
) -> Result<Stats, DeviceError> {
    let input = sample::<T>(Kind::Values, len, 1);
    let mut memory = Memory::new(1 << 20);
    let words = GridBarrier::words(1).max(1);
    let input = uploaded(&mut memory, &input);
    let sums = uploaded(&mut memory, &[T::default()]);
    let words = uploaded(&mut memory, &vec![0u32; words]);
    let sum = uploaded(&mut memory, &[T::default()]);
    count(&mut memory, &LaunchConfig::new(kernel, 1, THREADS), || {
        body(input, sums, words, sum);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::ladder::sums::rungs;

    /// What rung `number` of the f32 ladder counts.
    fn counted(number: u32) -> Counted {
        let rung = rungs::<f32>().into_iter().find(|r| r.number == number);
        let counted = rung.expect("a rung").count().expect("no fault");
        counted.expect("a rung with sums of blocks")
    }

    #[test]
    fn the_divergent_rung_takes_as_many_warp_operations_as_the_seed_counts() {
        // Eight warps in each of five rounds, then 4, 2 and 1. The seed says of the last round that it
        // is "zero operations", which would make 46; its total, 47, is right.
        let interleaved = counted(5);
        assert_eq!(interleaved.warp_additions, 5 * 8 + 4 + 2 + 1);
        assert_eq!(interleaved.bank_conflicts, 0);
    }

    #[test]
    fn compacted_threads_take_twelve_and_meet_at_the_banks() {
        // The seed: 4, 2, 1, 1, 1, 1, 1, 1.
        let compacted = counted(6);
        assert_eq!(compacted.warp_additions, 4 + 2 + 6);
        // Two loads and a store of each addition: of 2, 4, 8, 8, 8, 4, 2 lanes and 1 at one bank.
        let waits = 4 + 2 * 3 + 7 + 7 + 7 + 3 + 1;
        assert_eq!(compacted.bank_conflicts, 3 * waits);
    }

    #[test]
    fn sequential_addressing_takes_as_many_and_meets_nobody() {
        let sequential = counted(7);
        assert_eq!(sequential.warp_additions, 12);
        assert_eq!(sequential.bank_conflicts, 0);
    }

    #[test]
    fn the_last_warp_alone_saves_six_barriers_of_nine_and_warps_first_all_but_one() {
        let barriers = [7, 8, 9, 10, 11].map(|number| counted(number).barriers);
        assert_eq!(barriers, [9, 9, 3, 1, 1]);
        let additions = [9, 10, 11].map(|number| counted(number).warp_additions);
        assert_eq!(additions, [12, 8 * 5 + 3, 8 * 5 + 5]);
    }

    #[test]
    fn shuffles_leave_one_word_of_each_warp_to_shared_memory() {
        let accesses = [9, 10, 11].map(|number| counted(number).shared_accesses);
        assert_eq!(accesses, [45, 154, 8 + 1]);
    }

    #[test]
    fn to_finish_in_the_same_launch_is_to_add_up_twice() {
        let additions = [14, 16, 17].map(|number| counted(number).warp_additions);
        assert_eq!(additions, [45, 90, 90]);
    }

    #[test]
    fn redux_is_one_step_a_warp() {
        let rung = rungs::<u32>().into_iter().find(|rung| rung.number == 13);
        let counted = rung.expect("u32 has it").count().expect("no fault");
        assert_eq!(counted.map(|c| c.warp_additions), Some(8 + 1));
    }
}

//! A check's report if no run failed.

use simt::EarlyWait;
use std::fmt;

/// The number of schedules that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Schedules that were drawn.
    pub schedules: u64,
    /// Different runs among them. Fewer than requested if the kernel is so small that it has few.
    pub distinct: u64,
    warning: Option<Warning>,
}

impl Passed {
    /// Prints the warning, if there is one.
    pub(super) fn new(schedules: u64, distinct: u64, warning: Option<Warning>) -> Self {
        if let Some(warning) = warning {
            eprintln!("warning: {warning}");
        }
        Self { schedules, distinct, warning }
    }

    /// A possible failure on a GPU that caused none here, from the run of the lowest seed that
    /// shows it. The check has already printed it.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        self.warning
    }
}

/// A launch that can hang on a GPU: it is not cooperative, and a block waits for another that had
/// not started.
///
/// The waiting block may occupy the resources that the other one needs. This warning does not
/// appear if a block waits for one that has started, whose number it knows because blocks draw
/// their numbers when they start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The seed of the schedule that shows it. `None` in a check of one path.
    pub seed: Option<u64>,
    /// The waiting block and the block it waits for.
    pub wait: EarlyWait,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EarlyWait { block, place, other, written } = self.wait;
        write!(
            f,
            "this launch can hang on a GPU: block {block} waits at {place} for what block {other} writes at {written}, \
             and that block had not started when the wait began"
        )?;
        if let Some(seed) = self.seed {
            write!(f, " (seed {seed})")?;
        }
        f.write_str(
            ": launch it with `Geometry::cooperative`, so that all blocks are resident, or let blocks draw their number \
             when they start",
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::check::{Check, Passed, Wrong};
    use crate::device::{Device, Geometry};
    use cuda_std::launch::Kernel;
    use cuda_std::prelude::*;

    /// Each block waits until all have arrived.
    #[kernel]
    unsafe fn meet(arrived: Global<u32>) {
        arrived.fetch_add(0, 1, Ordering::AcqRel, Scope::Device);
        spin::until(|| {
            arrived.load(0, Ordering::Acquire, Scope::Device) == thread::block_count() as u32
        });
    }

    /// Each block waits for the one that drew the previous number.
    #[kernel]
    unsafe fn queue(words: Global<u32>) {
        let number = words.fetch_add(0, 1, Ordering::Relaxed, Scope::Device) as usize;
        spin::until(|| number == 0 || words.load(number, Ordering::Acquire, Scope::Device) == 1);
        words.store(number + 1, 1, Ordering::Release, Scope::Device);
    }

    const BLOCKS: u32 = 4;

    fn passed<K: Kernel<Args = (Global<u32>,)>>(check: Check, geometry: &Geometry) -> Passed {
        let run = |device: &Device| -> Result<(), Wrong> {
            let words = device.zeroed::<u32>(BLOCKS as usize + 1)?;
            // SAFETY: one word per block and one more, alive until the download. All blocks are
            // resident.
            unsafe { device.launch::<K>(geometry, (words.view(),))? };
            words.download()?;
            Ok(())
        };
        check.run(run).expect("all blocks get on")
    }

    #[test]
    fn a_barrier_in_a_plain_launch_gives_a_warning() {
        let plain = Geometry::new(BLOCKS, 1);
        let warning = passed::<meet>(Check::default(), &plain).warning().expect("blocks are late");
        let said = warning.to_string();
        assert!(!said.contains('\n') && said.contains("Geometry::cooperative"), "{said}");
        let places = [warning.wait.place, warning.wait.written].map(|place| {
            assert!(said.contains(&place.to_string()), "{said}");
            place.line()
        });
        assert_eq!(places[0], places[1] + 1, "the wait is the line after the arrival: {said}");
        let seed = warning.seed.expect("of a schedule");
        let again = passed::<meet>(Check::only(seed), &plain).warning();
        assert_eq!(again, Some(warning), "by its seed alone");
    }

    #[test]
    fn cooperative_launches_and_drawn_block_numbers_give_no_warning() {
        let cooperative = Geometry { cooperative: true, ..Geometry::new(BLOCKS, 1) };
        assert_eq!(passed::<meet>(Check::default(), &cooperative).warning(), None);
        let plain = Geometry::new(BLOCKS, 1);
        assert_eq!(passed::<queue>(Check::default(), &plain).warning(), None);
    }
}

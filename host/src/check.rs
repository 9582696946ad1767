//! Runs a kernel of anyone's under many schedules, and tells which one goes wrong, and how.
//!
//! A kernel whose threads wait for each other can be right in a thousand runs and wrong in the next. A
//! [`Check`] runs it in the emulator under schedules drawn from seeds: threads of all warps interleaved, lanes
//! apart, blocks held back. Memory is weak, so that a read may return an older value as far as PTX's memory
//! model allows. Every other schedule looks for data races, bad addresses and words that nobody wrote are
//! always found, and a grid that would hang ends with the line that waits.
//!
//! # A bug, from the first message to the fix
//!
//! Block 0 leaves a word for block 1. Both use volatile accesses, as much code does:
//!
//! ```
//! use cuda_std::prelude::*;
//! use gridsync::check::Check;
//! use gridsync::device::Geometry;
//!
//! const WORD: usize = 0;
//! const FLAG: usize = 1;
//!
//! #[kernel]
//! unsafe fn hand_over(words: Global<u32>, seen: Global<u32>) {
//!     if thread::block_idx_x() == 0 {
//!         words.write_volatile(WORD, 7);
//!         words.write_volatile(FLAG, 1);
//!     } else {
//!         spin::until(|| words.read_volatile(FLAG) == 1);
//!         seen.write(0, words.read_volatile(WORD));
//!     }
//! }
//!
//! let failure = Check::default().run(|device| {
//!     let (words, seen) = (device.zeroed::<u32>(2)?, device.zeroed::<u32>(1)?);
//!     // SAFETY: two words and one, and two blocks of one thread. They live until the download.
//!     unsafe { device.launch::<hand_over>(&Geometry::new(2, 1), (words.view(), seen.view()))? };
//!     match seen.download()?[0] {
//!         7 => Ok(()),
//!         other => Err(format!("block 1 saw {other} in place of 7").into()),
//!     }
//! });
//! let failure = failure.expect_err("volatile accesses order nothing");
//! // The message names the seed, what was looked for, and how to see it again.
//! assert_eq!(
//!     failure.to_string(),
//!     "seed 0 (weak memory, Stall, lanes Together): block 1 saw 0 in place of 7\n\
//!      run it alone with `Check::only(0)`"
//! );
//! ```
//!
//! Block 1 saw the flag and not the word: a volatile access is a relaxed one at system scope, and orders no
//! other access (PTX ISA, "Memory Consistency Model"). The writer has to release the word with the flag, and
//! the reader to acquire it:
//!
//! ```
//! # use cuda_std::prelude::*;
//! # use gridsync::check::Check;
//! # use gridsync::device::Geometry;
//! # const WORD: usize = 0;
//! # const FLAG: usize = 1;
//! #[kernel]
//! unsafe fn hand_over(words: Global<u32>, seen: Global<u32>) {
//!     if thread::block_idx_x() == 0 {
//!         words.write(WORD, 7);
//!         words.store(FLAG, 1, Ordering::Release, Scope::Device);
//!     } else {
//!         spin::until(|| words.load(FLAG, Ordering::Acquire, Scope::Device) == 1);
//!         seen.write(0, words.read(WORD));
//!     }
//! }
//! # let failure = Check::default().run(|device| {
//! #     let (words, seen) = (device.zeroed::<u32>(2)?, device.zeroed::<u32>(1)?);
//! #     // SAFETY: as above.
//! #     unsafe { device.launch::<hand_over>(&Geometry::new(2, 1), (words.view(), seen.view()))? };
//! #     match seen.download()?[0] {
//! #         7 => Ok(()),
//! #         other => Err(format!("block 1 saw {other} in place of 7").into()),
//! #     }
//! # });
//! # failure.expect("the order holds");
//! ```
//!
//! # Which orders are needed
//!
//! [`Check::weaken`] makes each place that orders memory or waits weaker than it is written, one at a time: a
//! release or an acquire is relaxed, a scope is smaller, a fence or a barrier is not there, a wait looks only once.
//! What a schedule notices is needed. What none notices is stronger than it has to be, or the check of the results
//! does not see it:
//!
//! ```
//! # use cuda_std::prelude::*;
//! # use gridsync::check::Check;
//! # use gridsync::device::Geometry;
//! # const WORD: usize = 0;
//! # const FLAG: usize = 1;
//! # #[kernel]
//! # unsafe fn hand_over(words: Global<u32>, seen: Global<u32>) {
//! #     if thread::block_idx_x() == 0 {
//! #         words.write(WORD, 7);
//! #         words.store(FLAG, 1, Ordering::Release, Scope::Device);
//! #     } else {
//! #         spin::until(|| words.load(FLAG, Ordering::Acquire, Scope::Device) == 1);
//! #         seen.write(0, words.read(WORD));
//! #     }
//! # }
//! let weakened = Check::default().weaken(|device| {
//!     // As above.
//! #   let (words, seen) = (device.zeroed::<u32>(2)?, device.zeroed::<u32>(1)?);
//! #   // SAFETY: as above.
//! #   unsafe { device.launch::<hand_over>(&Geometry::new(2, 1), (words.view(), seen.view()))? };
//! #   match seen.download()?[0] {
//! #       7 => Ok(()),
//! #       other => Err(format!("block 1 saw {other} in place of 7").into()),
//! #   }
//! });
//! for weaker in weakened.expect("the kernel is right as it is written") {
//!     // src/main.rs:13: release store, device scope → relaxed: race, seed 1
//!     println!("{weaker}");
//!     assert!(weaker.caught.is_some());
//! }
//! ```
//!
//! # What a check cannot do
//!
//! A check needs no GPU and no CUDA: `gridsync` without its feature `cuda` has it. It shows the errors that some
//! schedule of the emulator meets, and proves nothing. What the emulator cannot show is in its own README.

mod weaken;

use crate::device::{Device, DeviceError, Emulator, EmulatorConfig};
use rayon::prelude::*;
use simt::Schedule;
use std::fmt;
use std::ops::Range;
use thiserror::Error;
pub use weaken::{Caught, Weakened};

/// Runs a kernel in the emulator under one schedule after the other, on all cores.
///
/// By default under 200 schedules, with weak memory.
#[derive(Clone, Debug)]
#[must_use = "a check does nothing until it is run"]
pub struct Check {
    seeds: Range<u64>,
    config: EmulatorConfig,
}

impl Default for Check {
    fn default() -> Self {
        let config = EmulatorConfig::default();
        Self { seeds: 0..200, config }.on(config)
    }
}

impl Check {
    /// A check under one schedule: that of a [`Failure`]'s seed.
    pub fn only(seed: u64) -> Self {
        Self { seeds: seed..seed + 1, ..Self::default() }
    }

    /// Begins with the schedule of this seed.
    pub fn from(self, seed: u64) -> Self {
        let count = self.seeds.end - self.seeds.start;
        Self { seeds: seed..seed + count, ..self }
    }

    /// Runs under this many schedules.
    pub fn schedules(self, count: u64) -> Self {
        Self { seeds: self.seeds.start..self.seeds.start + count, ..self }
    }

    /// Emulates this GPU. Its memory is weak all the same. Its schedule, and whether it looks for races, are the
    /// check's.
    pub fn on(self, config: EmulatorConfig) -> Self {
        Self { config: EmulatorConfig { weak_memory: true, ..config }, ..self }
    }

    /// Gives `run` a new emulator for each schedule. `run` launches kernels, and says what is wrong with their
    /// results.
    ///
    /// # Errors
    /// The failure of the lowest seed that has one.
    ///
    /// # Panics
    /// If `run` panics.
    pub fn run(
        &self,
        run: impl Fn(&Device) -> Result<(), Wrong> + Sync,
    ) -> Result<(), Box<Failure>> {
        let failure = |seed| {
            let config = configured(seed, self.config);
            let what = run(&Device::new(Emulator::new(config))).err()?;
            Some(Box::new(Failure { seed, config, what }))
        };
        self.seeds.clone().into_par_iter().find_map_first(failure).map_or(Ok(()), Err)
    }
}

/// The emulator for the schedule of this seed.
fn configured(seed: u64, config: EmulatorConfig) -> EmulatorConfig {
    let (schedule, races) = (Schedule::from_seed(seed), looks_for_races(seed));
    EmulatorConfig { schedule, races, ..config }
}

/// Whether the schedule of this seed looks for races. A race ends a launch before its values matter, so every
/// other one looks for none.
fn looks_for_races(seed: u64) -> bool {
    seed % 2 == 1
}

/// What went wrong under one schedule.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Wrong {
    /// The emulator found a fault, such as a race or a deadlock, or refused a call.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The results are wrong.
    #[error("{0}")]
    Result(String),
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Self::Result(what)
    }
}

impl From<&str> for Wrong {
    fn from(what: &str) -> Self {
        Self::Result(what.to_owned())
    }
}

/// The first schedule under which something went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed, for [`Check::only`].
    pub seed: u64,
    /// What was emulated.
    pub config: EmulatorConfig,
    /// What went wrong.
    pub what: Wrong,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, config, what } = self;
        let Schedule { policy, lanes, .. } = config.schedule;
        let races = if config.races { "looking for races, " } else { "" };
        writeln!(f, "seed {seed} (weak memory, {races}{policy:?}, lanes {lanes:?}): {what}")?;
        write!(f, "run it alone with `Check::only({seed})`")
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Geometry;
    use cuda_std::prelude::*;

    /// Each thread adds its number to a word, by a read and a write or by an atomic.
    #[kernel]
    unsafe fn add_up(word: Global<u32>, is_atomic: u32) {
        let number = thread::index() as u32;
        if is_atomic == 1 {
            word.fetch_add(0, number, Ordering::Relaxed, Scope::Device);
        } else {
            word.write_volatile(0, word.read_volatile(0) + number);
        }
    }

    fn adds_up(device: &Device, is_atomic: u32) -> Result<(), Wrong> {
        let word = device.zeroed::<u32>(1)?;
        // SAFETY: one word, alive until the download.
        unsafe { device.launch::<add_up>(&Geometry::new(2, 33), (word.view(), is_atomic))? };
        match word.download()?[0] {
            2145 => Ok(()),
            sum => Err(format!("the sum is {sum}").into()),
        }
    }

    #[test]
    fn a_right_kernel_passes_and_a_failure_comes_again_by_its_seed() {
        Check::default().run(|device| adds_up(device, 1)).expect("atomics lose nothing");
        let wrong = |device: &Device| adds_up(device, 0);
        let failure = Check::default().run(wrong).expect_err("updates are lost");
        let again = Check::only(failure.seed).run(wrong).expect_err("the same run");
        assert_eq!(failure.what, again.what);
        let said = failure.to_string();
        assert!(said.contains(&format!("Check::only({})", failure.seed)), "{said}");
        assert!(said.contains("the sum is"), "{said}");
    }

    #[test]
    fn the_lowest_failing_seed_is_told_whatever_finishes_first() {
        let config = EmulatorConfig { multiprocessors: 1, ..EmulatorConfig::default() };
        let wrong = |device: &Device| {
            assert_eq!(device.properties().multiprocessors, 1);
            Err("never right".into())
        };
        for _ in 0..20 {
            let failure = Check::default().on(config).schedules(50).run(wrong);
            assert_eq!(failure.expect_err("all fail").seed, 0);
        }
    }
}

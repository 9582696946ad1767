//! Runs any kernel under many schedules, and reports which one fails, and how.
//!
//! A kernel whose threads wait for each other can be right in a thousand runs and wrong in the
//! next. A [`Check`] runs it in the emulator under schedules drawn from seeds: threads of all warps
//! interleaved, lanes diverged, blocks delayed. Memory is weak, so a read may return an older value
//! as far as PTX's memory model allows. Every other schedule checks for data races. All schedules
//! detect bad addresses and reads of uninitialised words, and report a grid that would hang with
//! the line that waits.
//!
//! # A bug, from the first message to the fix
//!
//! Block 0 passes a word to block 1. Both use volatile accesses, as much code does:
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
//! // The message names the seed, the checks, and how to reproduce the failure. A data race would
//! // come first, but accesses that are volatile on both sides do not race.
//! let said = failure.to_string();
//! let lines: Vec<&str> = said.lines().collect();
//! assert_eq!(
//!     lines[0],
//!     "seed 0 (weak memory, Stall, lanes Together): block 1 saw 0 in place of 7"
//! );
//! assert_eq!(lines[lines.len() - 1], "run it alone with `Check::only(0)`");
//! // In between are the steps, each with its source line.
//! let story = failure.story.expect("the failure came again");
//! let told = story.steps.iter().map(|step| format!("{} {}", step.who, step.what));
//! assert_eq!(
//!     told.collect::<Vec<_>>(),
//!     [
//!         "block 0 writes 7 to word 0 of words (volatile)",
//!         "block 0 writes 1 to word 1 of words (volatile)",
//!         "block 1 reads 1 from word 1 of words (volatile)",
//!         "block 1 sees the old 0 in word 0 of words (volatile)",
//!     ]
//! );
//! ```
//!
//! The story is not that of the first failing run, but of a run that fails in the same way with
//! fewer warp switches and fewer old values.
//!
//! Block 1 saw the flag but not the word: a volatile access is a relaxed access at system scope,
//! and orders no other access (PTX ISA, "Memory Consistency Model"). The writer has to release the
//! word with the flag, and the reader has to acquire it:
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
//! # let checked = Check::default().run(|device| {
//! #     let (words, seen) = (device.zeroed::<u32>(2)?, device.zeroed::<u32>(1)?);
//! #     // SAFETY: two words and one, and two blocks of one thread. They live until the download.
//! #     unsafe { device.launch::<hand_over>(&Geometry::new(2, 1), (words.view(), seen.view()))? };
//! #     match seen.download()?[0] {
//! #         7 => Ok(()),
//! #         other => Err(format!("block 1 saw {other} in place of 7").into()),
//! #     }
//! # });
//! let passed = checked.expect("the order holds");
//! // If block 1 starts first, it may occupy the resources that block 0 needs. The check
//! // warns about this.
//! let warning = passed.warning().expect("the launch is not cooperative");
//! assert!(warning.to_string().starts_with("this launch can hang on a GPU: block (1, 0, 0) waits at "));
//! ```
//!
//! # Finding unnecessary orderings
//!
//! [`Check::weaken`] weakens each operation that orders memory or waits, one at a time: it relaxes
//! a release or an acquire, narrows a scope, removes a fence or a barrier, or makes a wait poll
//! only once. If a schedule fails, the ordering is needed. If none fails, the ordering is stronger
//! than necessary, or the check of the results misses it:
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
//!     // The same run as before.
//! #   let (words, seen) = (device.zeroed::<u32>(2)?, device.zeroed::<u32>(1)?);
//! #   // SAFETY: two words and one, and two blocks of one thread. They live until the download.
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
//! # Every execution of a tiny grid
//!
//! A kernel that works for two or three blocks of one thread can be checked exhaustively:
//! [`Check::every`] explores all its executions, and reports their number. The correct kernel above
//! has one, not counting reorderings of independent steps:
//!
//! ```
//! # use cuda_std::prelude::*;
//! # use gridsync::check::Check;
//! # use gridsync::device::Geometry;
//! # #[kernel]
//! # unsafe fn hand_over(words: Global<u32>, seen: Global<u32>) {
//! #     if thread::block_idx_x() == 0 {
//! #         words.write(0, 7);
//! #         words.store(1, 1, Ordering::Release, Scope::Device);
//! #     } else {
//! #         spin::until(|| words.load(1, Ordering::Acquire, Scope::Device) == 1);
//! #         seen.write(0, words.read(0));
//! #     }
//! # }
//! let every = Check::default().every(10_000, |device| {
//!     let (words, seen) = (device.zeroed::<u32>(2)?, device.zeroed::<u32>(1)?);
//!     // SAFETY: two words and one, and two blocks of one thread. They live until the download.
//!     unsafe { device.launch::<hand_over>(&Geometry::new(2, 1), (words.view(), seen.view()))? };
//!     match seen.download()?[0] {
//!         7 => Ok(()),
//!         other => Err(format!("block 1 saw {other} in place of 7").into()),
//!     }
//! });
//! let every = every.expect("the order holds");
//! assert!(every.exhausted);
//! assert_eq!(every.executions, 1);
//! ```
//!
//! # Limits of a check
//!
//! A check needs neither a GPU nor CUDA: `gridsync` without its feature `cuda` includes it. Drawn
//! schedules find only the errors that they happen to trigger, and prove nothing. The emulator's
//! README lists the errors that it cannot find.

mod every;
mod failure;
mod passed;
mod retell;
mod weaken;

use crate::device::{Device, DeviceError, Emulator, EmulatorConfig};
use rayon::prelude::*;
use simt::search::{Path, follow};
use simt::{Schedule, Stats};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use thiserror::Error;

pub use every::Every;
pub use failure::{Cause, Failure, Rerun};
pub use passed::{Passed, Warning};
pub use simt::replay::{Story, StoryStep};
pub use simt::{EarlyWait, Race};
pub use weaken::{Caught, Weakened};

/// Runs a kernel in the emulator under many schedules, on all cores.
///
/// By default it uses 200 schedules and weak memory.
#[derive(Clone, Debug)]
#[must_use = "a check does nothing until it is run"]
pub struct Check {
    which: Which,
    config: EmulatorConfig,
}

/// The runs of a check.
#[derive(Clone, Debug)]
enum Which {
    /// The schedules of these seeds.
    Seeds(Range<u64>),
    /// One of the executions that [`Check::every`] explores.
    Path(Path),
}

impl Default for Check {
    fn default() -> Self {
        let config =
            EmulatorConfig { weak_memory: true, concurrent: true, ..EmulatorConfig::default() };
        Self { which: Which::Seeds(0..200), config }
    }
}

impl Check {
    /// A check under one schedule, given by a [`Failure`]'s seed.
    pub fn only(seed: u64) -> Self {
        Self { which: Which::Seeds(seed..seed + 1), ..Self::default() }
    }

    /// A check of one execution, given by the path of a [`Failure`] of [`every`](Self::every).
    ///
    /// # Panics
    /// If `path` is not a valid path.
    pub fn path(path: &str) -> Self {
        let (is_weak, path) = every::read(path).unwrap_or_else(|error| panic!("{error}"));
        let check = Self { which: Which::Path(path), ..Self::default() };
        if is_weak { check } else { check.sequential() }
    }

    /// Starts with the schedule of this seed.
    pub fn from(self, seed: u64) -> Self {
        match self.which {
            Which::Seeds(seeds) => {
                let count = seeds.end - seeds.start;
                Self { which: Which::Seeds(seed..seed + count), ..self }
            }
            Which::Path(_) => self,
        }
    }

    /// Runs under this many schedules.
    pub fn schedules(self, count: u64) -> Self {
        match self.which {
            Which::Seeds(seeds) => {
                Self { which: Which::Seeds(seeds.start..seeds.start + count), ..self }
            }
            Which::Path(_) => self,
        }
    }

    /// Emulates this GPU. Whether memory is weak does not change. The check sets the schedule, and
    /// whether to check for races. Launches of several streams run at the same time.
    pub fn on(self, config: EmulatorConfig) -> Self {
        let weak_memory = self.config.weak_memory;
        Self { config: EmulatorConfig { weak_memory, concurrent: true, ..config }, ..self }
    }

    /// Makes memory sequentially consistent: a read returns the last value. Missing orderings then
    /// show up only as races.
    pub fn sequential(self) -> Self {
        Self { config: EmulatorConfig { weak_memory: false, ..self.config }, ..self }
    }

    /// Passes `run` a new emulator for each schedule. `run` launches kernels, and reports errors in
    /// their results.
    ///
    /// Prints a [`Warning`] to stderr if a block waits for one that has not started, in a launch
    /// that is not cooperative ([`Passed::warning`]).
    ///
    /// Small kernels have few different runs, and different seeds often draw the same one. Then
    /// more seeds are drawn, up to four times the number of schedules.
    ///
    /// # Errors
    /// The failure of the lowest seed that fails. If that seed does not check for data races, it
    /// has been run again with that check, and so have a few others, because a race causes most
    /// wrong results. Then it has been run up to some hundred times, for about ten seconds, to find
    /// a run with fewer warp switches that fails in the same way, for the story.
    ///
    /// # Panics
    /// If `run` panics.
    pub fn run(
        &self,
        run: impl Fn(&Device) -> Result<(), Wrong> + Sync,
    ) -> Result<Passed, Box<Failure>> {
        let once = |rerun, config| {
            let device = Device::new(Emulator::new(config));
            match finish(&device, &run) {
                Ok(()) => Ok(device.emulated().unwrap_or_default()),
                Err(what) => Err(Box::new(Failure::of(rerun, config, what))),
            }
        };
        let seeds = match &self.which {
            Which::Seeds(seeds) => seeds.clone(),
            Which::Path(path) => {
                let config = EmulatorConfig { races: true, ..self.config };
                let rerun = Rerun::Path(every::written(path, &config));
                return match follow(path, || once(rerun, config)) {
                    Ok(stats) => Ok(Passed::new(1, 1, warning_of(None, &stats))),
                    Err(failure) => Err(failure.retold(&run)),
                };
            }
        };
        let wanted = seeds.end - seeds.start;
        let most = seeds.start + wanted * MOST_SEEDS;
        // Whether each run checked for races, and its decisions. And the warning of the lowest seed
        // that has one.
        let (runs, warning) = (Mutex::new(HashSet::new()), Mutex::new(None::<Warning>));
        let (mut next, mut distinct) = (seeds.start, 0);
        while distinct < wanted && next < most {
            let wave = next..(next + (wanted - distinct).max(FEWEST_SEEDS.min(wanted))).min(most);
            next = wave.end;
            let failed = wave.into_par_iter().find_map_first(|seed| {
                let stats = match once(Rerun::Seed(seed), configured(seed, self.config)) {
                    Ok(stats) => stats,
                    Err(failure) => return Some(failure),
                };
                locked(&runs).insert((looks_for_races(seed), stats.decided));
                if let Some(new) = warning_of(Some(seed), &stats) {
                    let mut warning = locked(&warning);
                    *warning = warning.filter(|old| old.seed < new.seed).or(Some(new));
                }
                None
            });
            if let Some(failure) = failed {
                return Err(failure.retold(&run));
            }
            distinct = locked(&runs).len() as u64;
        }
        let warning = *locked(&warning);
        Ok(Passed::new(next - seeds.start, distinct, warning))
    }
}

/// Calls `run`, and runs the launches that it has not waited for.
fn finish(device: &Device, run: &impl Fn(&Device) -> Result<(), Wrong>) -> Result<(), Wrong> {
    run(device)?;
    Ok(device.synchronize()?)
}

/// The warning of a run, if it has one.
fn warning_of(seed: Option<u64>, stats: &Stats) -> Option<Warning> {
    stats.early_wait.map(|wait| Warning { seed, wait })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The emulator configuration for the schedule of this seed.
fn configured(seed: u64, config: EmulatorConfig) -> EmulatorConfig {
    let (schedule, races) = (Schedule::from_seed(seed), looks_for_races(seed));
    EmulatorConfig { schedule, races, ..config }
}

/// Whether the schedule of this seed checks for races. A race ends a launch before its values
/// matter, so every other schedule does not check.
fn looks_for_races(seed: u64) -> bool {
    seed % 2 == 1
}

/// The most seeds to draw, as a multiple of the requested schedules.
const MOST_SEEDS: u64 = 4;
/// The fewest seeds to try together, so that all cores have work.
const FEWEST_SEEDS: u64 = 32;

/// The failure under one schedule.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Geometry;
    use cuda_std::prelude::*;

    /// Each thread adds its number to a word, either with a read and a write or atomically.
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
    fn a_correct_kernel_passes_and_a_seed_reproduces_its_failure() {
        Check::default().run(|device| adds_up(device, 1)).expect("atomics lose nothing");
        let wrong = |device: &Device| adds_up(device, 0);
        let failure = Check::default().run(wrong).expect_err("updates are lost");
        let Rerun::Seed(seed) = failure.rerun else { panic!("{failure}") };
        let again = Check::only(seed).run(wrong).expect_err("the same run");
        assert_eq!(failure.what, again.what);
        let said = failure.to_string();
        assert!(said.contains(&format!("Check::only({seed})")), "{said}");
        assert!(said.contains("the sum is"), "{said}");
    }

    #[test]
    fn duplicate_runs_are_not_counted() {
        let once = |device: &Device| {
            let word = device.zeroed::<u32>(1)?;
            // SAFETY: one word, alive until the launch has ended.
            unsafe { device.launch::<add_up>(&Geometry::new(2, 1), (word.view(), 1))? };
            Ok(())
        };
        let few = Check::default().schedules(100).run(once).expect("nothing is wrong");
        assert!(few.schedules == 400 && few.distinct < 100, "{few:?}");
        let many = Check::default().run(|device| adds_up(device, 1)).expect("nothing is wrong");
        assert!(many.distinct >= 200, "{many:?}");
    }

    #[test]
    fn the_lowest_failing_seed_is_reported() {
        let config = EmulatorConfig { multiprocessors: 1, ..EmulatorConfig::default() };
        let wrong = |device: &Device| {
            assert_eq!(device.properties().multiprocessors, 1);
            Err("never right".into())
        };
        for _ in 0..20 {
            let failure = Check::default().on(config).schedules(50).run(wrong);
            assert_eq!(failure.expect_err("all fail").rerun, Rerun::Seed(0));
        }
    }
}

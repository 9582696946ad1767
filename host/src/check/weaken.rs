//! Weakens each ordering of a kernel, one at a time, and reports which changes are detected.

use super::{Check, Failure, Which, Wrong, configured, finish, looks_for_races};
use crate::device::{Device, DeviceError, Emulator, EmulatorConfig, OrderSite, Weaken};
use rayon::prelude::*;
use simt::Fault;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A weakened launch ends after this multiple of the steps of the longest correct one.
const LONGER: u64 = 16;

/// One weakened operation of a kernel, and the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Weakened {
    /// The operation, and how it was changed.
    pub weaken: Weaken,
    /// How the change was detected. `None` if all schedules passed: no run needed the ordering.
    pub caught: Option<Caught>,
}

/// How a weakened kernel was caught.
#[derive(Clone, Debug, PartialEq)]
pub struct Caught {
    /// The seed of the schedule.
    pub seed: u64,
    /// The failure.
    pub what: Wrong,
}

impl Check {
    /// Runs under all schedules like [`run`](Self::run). Then weakens each operation of the kernels
    /// that orders memory or waits, in one way at a time, and runs until a schedule fails: relaxes
    /// a release or an acquire, narrows a scope by one step, removes a fence or a barrier, or makes
    /// a wait poll only once.
    ///
    /// An ordering whose change is not caught is either stronger than necessary, or the checks in
    /// `run` do not detect that it is needed. The results are in source order.
    ///
    /// # Errors
    /// The failure of the lowest seed under which the unchanged kernels fail.
    ///
    /// # Panics
    /// If `run` panics, and if this is a check of one path.
    pub fn weaken(
        &self,
        run: impl Fn(&Device) -> Result<(), Wrong> + Sync,
    ) -> Result<Vec<Weakened>, Box<Failure>> {
        let Which::Seeds(range) = &self.which else { panic!("a path has one schedule") };
        let noted: Mutex<(HashSet<OrderSite>, u64)> = Mutex::default();
        let as_written =
            Self { config: EmulatorConfig { sites: true, ..self.config }, ..self.clone() };
        as_written.run(|device| {
            run(device)?;
            let stats = device.emulated().unwrap_or_default();
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.0.extend(device.order_sites());
            noted.1 = noted.1.max(stats.steps + stats.accesses);
            Ok(())
        })?;
        let (sites, longest) = noted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut sites: Vec<OrderSite> = sites.into_iter().collect();
        sites.sort_by_cached_key(OrderSite::key);
        let weaker =
            |site: OrderSite| site.weaker().into_iter().map(move |change| Weaken { site, change });
        let all: Vec<Weaken> = sites.into_iter().flat_map(weaker).collect();
        let config = EmulatorConfig { step_limit: LONGER * longest, ..self.config };
        // A race ends a launch immediately. Without the check for races, some weakened kernels loop
        // forever.
        let seeds = || {
            let races = range.clone().filter(|&seed| looks_for_races(seed));
            races.chain(range.clone().filter(|&seed| !looks_for_races(seed)))
        };
        let weakened = |&weaken: &Weaken| {
            let config = EmulatorConfig { weaken: Some(weaken), ..config };
            let caught = seeds().find_map(|seed| {
                let device = Device::new(Emulator::new(configured(seed, config)));
                let what = finish(&device, &run).err()?;
                Some(Caught { seed, what })
            });
            Weakened { weaken, caught }
        };
        Ok(all.par_iter().map(weakened).collect())
    }
}

impl Caught {
    /// The kind of check that caught it, in one or two words.
    #[must_use]
    pub fn by(&self) -> &'static str {
        match &self.what {
            Wrong::Result(_) => "wrong result",
            Wrong::Device(DeviceError::Fault(fault)) => match **fault {
                Fault::Race(_) => "race",
                Fault::Deadlock { .. } | Fault::NoProgress { .. } => "deadlock",
                Fault::StepLimit { .. } => "endless",
                Fault::Uninitialised { .. } => "unwritten",
                _ => "fault",
            },
            Wrong::Device(_) => "refused",
        }
    }
}

impl fmt::Display for Weakened {
    /// `growing.rs:60: release atomic, device scope → relaxed: race, seed 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Weaken { site, change } = self.weaken;
        write!(f, "{}:{}: {} → {change}: ", site.place.file(), site.place.line(), site.does)?;
        match &self.caught {
            Some(caught) => write!(f, "{}, seed {}", caught.by(), caught.seed),
            None => f.write_str("not needed by any run"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Change, Geometry, Orders};
    use cuda_std::prelude::*;

    const WORD: usize = 0;
    const FLAG: usize = 1;

    /// Block 0 passes a word to block 1, with an unnecessary fence.
    #[kernel]
    unsafe fn hand_over(words: Global<u32>, seen: Global<u32>) {
        if thread::block_idx_x() == 0 {
            words.write(WORD, 7);
            words.store(FLAG, 1, Ordering::Release, Scope::Device);
            thread::fence(Ordering::AcqRel, Scope::Device);
        } else {
            spin::until(|| words.load(FLAG, Ordering::Acquire, Scope::Device) == 1);
            seen.write(0, words.read(WORD));
        }
    }

    fn hands_over(device: &Device, expected: u32) -> Result<(), Wrong> {
        let (words, seen) = (device.zeroed::<u32>(2)?, device.zeroed::<u32>(1)?);
        // SAFETY: two words and one, and two blocks of one thread. They live until the download.
        unsafe { device.launch::<hand_over>(&Geometry::new(2, 1), (words.view(), seen.view()))? };
        match seen.download()?[0] {
            seen if seen == expected => Ok(()),
            seen => Err(format!("block 1 saw {seen}").into()),
        }
    }

    #[test]
    fn needed_orders_are_caught_and_unneeded_ones_are_reported() {
        let check = Check::default().schedules(20);
        let weakened = check.weaken(|device| hands_over(device, 7)).expect("it is right");
        let needless: Vec<&Weakened> = weakened.iter().filter(|it| it.caught.is_none()).collect();
        let fence = |it: &&Weakened| matches!(it.weaken.site.does, Orders::Fence(..));
        assert!(needless.iter().all(fence), "{needless:?}");
        assert_eq!(needless.len(), 2, "a smaller scope, and no fence");
        // Two orderings, two scopes and the wait are needed.
        assert_eq!(weakened.len() - needless.len(), 5);
        let wait = weakened.iter().find(|it| it.weaken.change == Change::Out && !fence(it));
        let wait = wait.expect("the wait");
        assert!(wait.to_string().contains("weaken.rs:") && wait.to_string().contains("wait → out"));
    }

    #[test]
    fn a_seed_reproduces_a_caught_change() {
        let weakened = Check::default().weaken(|device| hands_over(device, 7)).expect("right");
        let caught = weakened.iter().find_map(|it| it.caught.as_ref().map(|how| (it.weaken, how)));
        let (weaken, how) = caught.expect("something is caught");
        let config = EmulatorConfig { weaken: Some(weaken), ..EmulatorConfig::default() };
        let again = Check::only(how.seed).on(config).run(|device| hands_over(device, 7));
        let again = again.expect_err("the same run").what;
        assert_eq!(again.to_string(), how.what.to_string());
    }

    #[test]
    fn a_failing_kernel_is_not_weakened() {
        let failure = Check::default().weaken(|device| hands_over(device, 8));
        assert_eq!(failure.expect_err("it is wrong").what, Wrong::Result("block 1 saw 7".into()));
    }
}

//! Finds the data race behind a failure, and reduces the failing run to as few steps as possible.

use super::{Cause, Failure, Rerun, Wrong, configured, every, finish, looks_for_races};
use crate::device::{Device, DeviceError, Emulator, EmulatorConfig};
use simt::replay::{Recording, Story, record, shrink};
use simt::search::follow;
use simt::{Fault, MissingOrder, Race};
use std::time::{Duration, Instant};

/// After this time no further run starts, except the one that records the story.
const PATIENCE: Duration = Duration::from_secs(10);

/// Number of seeds to check for a race, besides the one that fails.
const RACE_SEEDS: usize = 8;

/// Limits of a run with fewer decisions: this multiple of the steps of the failing run, and at
/// least this many steps. It may be endless.
const LONGER: u64 = 64;
const SHORT: u64 = 1 << 20;

/// The failure of a run.
struct Seen {
    what: Wrong,
    /// The fault that stopped a grid, even if `what` is a different error.
    fault: Option<Box<Fault>>,
}

impl Seen {
    /// Runs once. Returns `None` if nothing failed.
    fn of(config: EmulatorConfig, run: impl Fn(&Device) -> Result<(), Wrong>) -> Option<Self> {
        let device = Device::new(Emulator::new(config));
        let what = finish(&device, &run).err()?;
        let fault = match device.synchronize() {
            Err(DeviceError::Stopped { fault, .. } | DeviceError::Fault(fault)) => Some(fault),
            _ => None,
        };
        Some(Self { what, fault })
    }

    /// Whether both failed in the same way: with a fault of the same kind and lines, or with the
    /// same message.
    fn is_like(&self, other: &Self) -> bool {
        match (&self.fault, &other.fault) {
            (Some(fault), Some(other)) => fault.is_like(other),
            (None, None) => self.what.to_string() == other.what.to_string(),
            _ => false,
        }
    }

    fn race(self) -> Option<Box<Race>> {
        match *self.fault? {
            Fault::Race(race) => Some(race),
            _ => None,
        }
    }
}

impl Failure {
    pub(super) fn of(rerun: Rerun, config: EmulatorConfig, what: Wrong) -> Self {
        Self { rerun, config, what, cause: None, story: None }
    }

    /// Adds the data race behind the failure, and the story of a run that fails in the same way
    /// with fewer switches and old values.
    pub(super) fn retold(
        self: Box<Self>,
        run: &impl Fn(&Device) -> Result<(), Wrong>,
    ) -> Box<Self> {
        self.retold_within(PATIENCE, run)
    }

    fn retold_within(
        mut self: Box<Self>,
        patience: Duration,
        run: &impl Fn(&Device) -> Result<(), Wrong>,
    ) -> Box<Self> {
        let end = Instant::now() + patience;
        self.cause = self.find_cause(end, run);
        let told = match &self.rerun {
            Rerun::Seed(_) => self.shrunk(end, run),
            Rerun::Path(path) => {
                every::read(path).ok().and_then(|(_, path)| follow(&path, || self.recorded(run)))
            }
        };
        let race = self.cause.as_ref().map(|cause| &*cause.race);
        let story = told.map(|(seen, recording)| recording.story(seen.fault.as_deref(), race));
        self.story = story.filter(|story: &Story| !story.steps.is_empty());
        self
    }

    /// The race that is found by rerunning this seed with the check for races, or else another
    /// seed. Prefers a race between blocks: if no grid barrier separates two steps, threads of one
    /// block race too.
    fn find_cause(
        &self,
        end: Instant,
        run: &impl Fn(&Device) -> Result<(), Wrong>,
    ) -> Option<Cause> {
        let Rerun::Seed(failed) = self.rerun else { return None };
        if self.config.races || !self.may_come_from_race() {
            return None;
        }
        let others = (failed + 1..).filter(|&seed| looks_for_races(seed)).take(RACE_SEEDS);
        let mut first = None;
        for seed in [failed].into_iter().chain(others) {
            if seed != failed && Instant::now() >= end {
                break;
            }
            // A thread that reads too early must not end the launch before the write that it races
            // with.
            let config =
                EmulatorConfig { races: true, zeroed: true, ..configured(seed, self.config) };
            let Some(race) = Seen::of(config, run).and_then(Seen::race) else { continue };
            let is_within_block =
                matches!(race.missing, MissingOrder::Everything { same_block: true });
            let cause = Cause { seed, race };
            if !is_within_block || cause.race.target.is_shared() {
                return Some(cause);
            }
            first.get_or_insert(cause);
        }
        first
    }

    /// Whether a race may be the cause. A refused launch ran nothing, and a barrier that a thread
    /// never reaches, or a wrong mask, is itself the cause.
    fn may_come_from_race(&self) -> bool {
        match &self.what {
            Wrong::Result(_) => true,
            Wrong::Device(DeviceError::Fault(fault)) => matches!(
                **fault,
                Fault::OutOfBounds { .. }
                    | Fault::Uninitialised { .. }
                    | Fault::Deadlock(_)
                    | Fault::NoProgress { .. }
                    | Fault::StepLimit { .. }
                    | Fault::Trap { .. }
                    | Fault::Panicked { .. }
            ),
            Wrong::Device(_) => false,
        }
    }

    /// Finds a run that fails in the same way with as few steps as possible, searching until `end`.
    fn shrunk(
        &self,
        end: Instant,
        run: &impl Fn(&Device) -> Result<(), Wrong>,
    ) -> Option<(Seen, Recording)> {
        let first = self.recorded(run)?;
        let longest = (LONGER * first.1.script.steps()).max(SHORT);
        let config =
            EmulatorConfig { step_limit: self.config.step_limit.min(longest), ..self.config };
        let script = shrink(first.1.script.clone(), |script| {
            if Instant::now() >= end {
                return None;
            }
            let (what, recording) = record(Some(script), false, || Seen::of(config, run));
            what?.is_like(&first.0).then_some(recording.script)
        });
        if script == first.1.script {
            return Some(first);
        }
        let (seen, recording) = record(Some(&script), true, || Seen::of(config, run));
        let seen = seen.filter(|seen| seen.is_like(&first.0));
        Some(seen.map_or(first, |seen| (seen, recording)))
    }

    /// Reproduces the failure and records the steps of its threads.
    fn recorded(&self, run: &impl Fn(&Device) -> Result<(), Wrong>) -> Option<(Seen, Recording)> {
        let (seen, recording) = record(None, true, || Seen::of(self.config, run));
        let seen = seen.filter(|seen| seen.what.to_string() == self.what.to_string())?;
        Some((seen, recording))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Check;
    use crate::device::Geometry;
    use cuda_std::mbarrier;
    use cuda_std::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering as AtomicOrdering};

    /// Each block adds its number to a word, with a read and a write that are not atomic.
    #[kernel]
    unsafe fn add_up(sum: Global<f32>) {
        sum.write(0, sum.read(0) + thread::block_index() as f32);
    }

    fn adds_up(device: &Device) -> Result<(), Wrong> {
        let sum = device.zeroed::<f32>(1)?;
        // SAFETY: one element, alive until the download.
        unsafe { device.launch::<add_up>(&Geometry::new(8, 1), (sum.view(),))? };
        match sum.download()?[0] {
            28.0 => Ok(()),
            other => Err(format!("the sum is {other}").into()),
        }
    }

    #[test]
    fn a_wrong_result_is_printed_after_its_race() {
        let failure = Check::default().run(adds_up).expect_err("updates are lost");
        let cause = failure.cause.as_ref().expect("a race");
        assert!(
            matches!(failure.what, Wrong::Result(_)) && failure.rerun == Rerun::Seed(cause.seed)
        );
        let said = failure.to_string();
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].contains("): data race: "), "{said}");
        assert!(lines[0].contains("of `sum`, allocation 0"), "{said}");
        assert!(lines[1].starts_with("so this run ends with: the sum is "), "{said}");
        assert!(said.contains(".0 to word 0 of sum, at "), "a number with a fraction: {said}");
    }

    #[test]
    fn a_message_of_the_test_does_not_hide_a_race() {
        let run = |device: &Device| adds_up(device).map_err(|_| Wrong::from("it is wrong"));
        let failure = Check::only(0).run(run).expect_err("updates are lost");
        assert!(failure.cause.is_some(), "{failure}");
    }

    #[test]
    fn without_time_only_the_failing_run_is_repeated() {
        let Failure { rerun, config, what, .. } =
            *Check::default().run(adds_up).expect_err("updates are lost");
        let failure = Box::new(Failure::of(rerun, config, what));
        let runs = AtomicUsize::new(0);
        let run = |device: &Device| {
            runs.fetch_add(1, AtomicOrdering::Relaxed);
            adds_up(device)
        };
        let told = failure.retold_within(Duration::ZERO, &run);
        assert!(told.cause.is_some() && told.story.is_some(), "{told}");
        assert_eq!(runs.into_inner(), 2, "for the race, and for the story");
    }

    shared_array! {
        fn barrier() -> [u64; 1];
    }

    /// A thread arrives at a barrier that expects two, and waits for the end of the phase.
    #[kernel]
    unsafe fn arrive_alone() {
        let barriers = barrier();
        mbarrier::init(barriers, 0, 2);
        mbarrier::arrive(barriers, 0);
        mbarrier::wait(barriers, 0, 0);
    }

    #[test]
    fn a_barrier_in_shared_memory_is_reported_with_its_phase() {
        let failure = Check::only(0).run(|device| {
            // SAFETY: the kernel has no arguments.
            unsafe { device.launch::<arrive_alone>(&Geometry::new(1, 1), ())? };
            Ok(())
        });
        let said = failure.expect_err("one arrival is missing").to_string();
        let phase = |pending| format!("a phase of parity 0 ({pending} of 2 arrivals pending)");
        let (two, one) = (phase(2), phase(1));
        for told in [format!(" from {two} to {one}"), format!("and sees {one}")] {
            assert!(said.contains(&told), "{told} is not in: {said}");
        }
    }
}

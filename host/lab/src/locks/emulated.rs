//! The locks in the emulator: results and data races under many schedules, memory accesses, and the
//! deadlock of lanes in lockstep.

use super::field::Field;
use super::lock::{Grid, LOCKS, Tried};
use super::measured::patience_ns;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, Geometry, Policy, Schedule};
use gridsync_lab_kernels::locks::lockstep::{locks_lockstep, locks_lockstep_cured};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};
use simt::Fault;

/// Number of schedules, drawn from seeds, for each grid.
pub(super) const SEEDS: u64 = 4;

/// The locks in the emulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Emulated {
    /// Blocks of the largest grid.
    pub blocks: u32,
    /// Threads of its blocks.
    pub threads: u32,
    /// Each lock.
    pub locks: Vec<Checked>,
}

/// A lock in the emulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Checked {
    /// The name of the lock.
    pub lock: String,
    /// Launches that were checked.
    pub launches: u32,
    /// What is wrong, or null.
    pub wrong: Option<String>,
    /// Accesses to device memory each time the lock is taken, in the largest grid. Null if something
    /// is wrong.
    pub accesses: Option<f64>,
}

/// Checks each lock in four grids up to `most`, and counts its accesses in the largest.
pub(super) fn check_all(
    most: Grid,
    sections: u32,
    bar: &ProgressBar,
) -> Result<Emulated, DeviceError> {
    let Grid { blocks, threads } = most;
    let grids = [(1, 1), (blocks, 1), (1, threads), (blocks, threads)]
        .map(|(blocks, threads)| Grid { blocks, threads });
    bar.set_length(LOCKS.len() as u64);
    let mut locks = Vec::new();
    for tried in LOCKS {
        bar.set_message(tried.name);
        let (mut launches, mut wrong) = (0, None);
        for grid in grids {
            let (more, found) = check(tried, grid, sections)?;
            launches += more;
            let told = found.map(|found| format!("the {} lock, {grid}, {found}", tried.name));
            wrong = wrong.or(told);
        }
        // A broken lock may not terminate without the checks.
        let is_right = wrong.is_none();
        let accesses = is_right.then(|| accesses(tried, most, sections)).transpose()?;
        bar.inc(1);
        locks.push(Checked { lock: tried.name.to_owned(), launches, wrong, accesses });
    }
    Ok(Emulated { blocks, threads, locks })
}

/// Counts to `sections` in `grid`, and pushes about as many nodes, under the schedules of [`SEEDS`]
/// seeds, and checks for data races. Returns the number of launches, and the first error, if any.
///
/// # Errors
/// If the device fails. A fault in the kernel is not an error here.
fn check(tried: Tried, grid: Grid, sections: u32) -> Result<(u32, Option<String>), DeviceError> {
    let mut launches = 0;
    for seed in 0..SEEDS {
        let device = Device::new(Emulator::new(EmulatorConfig::checking(seed)));
        let field = Field::new(&device, tried, grid, patience_ns(sections))?;
        let each = sections.div_ceil(grid.contenders() as u32);
        let wrong = field.count(sections).map(|counted| counted.wrong());
        let wrong = match wrong {
            Ok(None) => field.push(each).map(|pushed| pushed.wrong()),
            wrong => wrong,
        };
        launches += 2;
        let wrong = match wrong {
            Ok(wrong) => wrong,
            Err(DeviceError::Fault(fault)) => Some(fault.to_string()),
            Err(error) => return Err(error),
        };
        if let Some(wrong) = wrong {
            return Ok((launches, Some(format!("seed {seed}: {wrong}"))));
        }
    }
    Ok((launches, None))
}

/// Accesses to global memory by all threads per acquisition of the lock, in a launch that counts to
/// `sections` in `grid`. Warps are scheduled round-robin, and lanes run in lockstep.
///
/// # Errors
/// If the device fails.
fn accesses(tried: Tried, grid: Grid, sections: u32) -> Result<f64, DeviceError> {
    let schedule = Schedule::new(Policy::RoundRobin);
    let config = EmulatorConfig { schedule, ..EmulatorConfig::default() };
    let device = Device::new(Emulator::new(config));
    Field::new(&device, tried, grid, patience_ns(sections))?.count(sections)?;
    let accesses = device.emulated().map_or(0, |stats| stats.accesses);
    // Each thread acquires the lock once more to find that the work is done.
    Ok(accesses as f64 / (sections as usize + grid.contenders()) as f64)
}

/// Lanes of a warp that acquire a lock in lockstep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lockstep {
    /// The fault of the deliberately broken form. `None` if it ended.
    pub fault: Option<Fault>,
    /// The counter of the fixed form, to which each of the 32 lanes adds 1.
    pub counter: u32,
}

impl Lockstep {
    /// The report of the deadlock, if there was one.
    pub(super) fn deadlock(&self) -> Option<String> {
        let deadlock = self.fault.as_ref().filter(|fault| matches!(fault, Fault::Deadlock(_)));
        deadlock.map(ToString::to_string)
    }
}

/// Runs both forms in one warp, in the emulator, under the schedule of `seed`.
///
/// # Errors
/// If the device fails, or the fixed form faults.
pub(super) fn lockstep(seed: u64) -> Result<Lockstep, DeviceError> {
    let warp = Geometry::new(1, 32);
    let device = || Device::new(Emulator::new(EmulatorConfig::checking(seed)));
    let cured = device();
    let [lock, counter] = [cured.zeroed::<u32>(1)?, cured.zeroed::<u32>(1)?];
    // SAFETY: a full warp, and a word each for the lock and the counter, both 0. The words outlive
    // the launch.
    unsafe { cured.launch::<locks_lockstep_cured>(&warp, (lock.view(), counter.view()))? };
    let counter = counter.download()?[0];

    let faulty = device();
    let [lock, guarded] = [faulty.zeroed::<u32>(1)?, faulty.zeroed::<u32>(1)?];
    // SAFETY: a full warp, and a word each for the lock and the counter, both 0. The words outlive
    // the launch, because the emulator ends a deadlock.
    match unsafe { faulty.launch::<locks_lockstep>(&warp, (lock.view(), guarded.view())) } {
        Ok(()) => Ok(Lockstep { fault: None, counter }),
        Err(DeviceError::Fault(fault)) => Ok(Lockstep { fault: Some(*fault), counter }),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_in_lockstep_deadlock_under_any_schedule_and_the_fix_never_does() {
        for seed in 0..20 {
            let Lockstep { fault, counter } = lockstep(seed).expect("the cure ends");
            assert_eq!(counter, 32, "seed {seed}");
            assert!(matches!(fault, Some(Fault::Deadlock(_))), "seed {seed}: {fault:?}");
        }
    }
}

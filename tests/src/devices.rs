//! Devices to test on.

use gridsync::device::NoCuda;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig};
use simt::{Lanes, Policy, Schedule};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// The one CUDA device that all tests of a process take turns on, or why there is none.
static CUDA: Mutex<Option<Result<Device, NoCuda>>> = Mutex::new(None);

/// An emulated GPU under the fast schedule, which looks for data races.
#[must_use]
pub fn emulator() -> Device {
    emulator_under(EmulatorConfig::default().schedule)
}

/// An emulated GPU whose warps take turns as `schedule` says, and which looks for data races.
#[must_use]
pub fn emulator_under(schedule: Schedule) -> Device {
    Device::new(Emulator::new(EmulatorConfig {
        schedule,
        races: true,
        ..EmulatorConfig::default()
    }))
}

/// As [`emulator_under`], but data races are not looked for: for kernels that have them on purpose,
/// to see what becomes of their values, and for grids in which it would take too long.
#[must_use]
pub fn unjudged_under(schedule: Schedule) -> Device {
    Device::new(Emulator::new(EmulatorConfig { schedule, ..EmulatorConfig::default() }))
}

/// Every policy that interleaves accesses, the random one with several seeds and lengths of turn, and
/// with lanes in step and apart.
#[must_use]
pub fn schedules() -> Vec<Schedule> {
    use Lanes::{Apart, Together};
    let fixed = [Policy::RoundRobin, Policy::RunAhead, Policy::Reverse];
    let random = [
        (1, 1, Together),
        (2, 1, Apart),
        (3, 7, Together),
        (4, 32, Together),
        (5, 128, Apart),
        (6, 3, Apart),
    ];
    fixed
        .into_iter()
        .map(Schedule::new)
        .chain(random.map(|(seed, quantum, lanes)| {
            Schedule::seeded(Policy::Random { quantum }, seed).with_lanes(lanes)
        }))
        .collect()
}

/// Runs `test` on CUDA device 0, while no other test of this process does.
///
/// Where there is no CUDA the test is [`skipped`].
///
/// # Panics
/// If there is a device that cannot be used: that is a failure, not a reason to skip.
pub fn with_cuda(test: impl FnOnce(&Device)) {
    let mut cuda = CUDA.lock().unwrap_or_else(PoisonError::into_inner);
    match cuda.get_or_insert_with(open_cuda) {
        Ok(device) => test(device),
        Err(reason) => skipped(&format!("no CUDA device: {reason}")),
    }
}

/// The first CUDA device, or why there is none.
fn open_cuda() -> Result<Device, NoCuda> {
    match Device::cuda(0, &gridsync_program::images::all()) {
        Ok(device) => Ok(device),
        Err(DeviceError::NoCuda(reason @ (NoCuda::NoLibrary(_) | NoCuda::NoDevice))) => Err(reason),
        Err(error) => panic!("the CUDA device should work: {error}"),
    }
}

/// Says that a test did not look at everything, and why: to stderr once for each reason. Among
/// [`Trials`](crate::trials::Trials) the test then counts as ignored. The usual test harness counts it
/// as passed, hides what it prints, and shows that by `--show-output`.
pub fn skipped(why: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(why.to_owned()) {
        // Not by eprintln!, which the usual harness captures. Without a stderr there is no one to tell.
        let _told = writeln!(io::stderr(), "SKIPPED: {why} (said once)");
    }
    match SKIPPED.get() {
        Some(_) => SKIPPED.set(Some(true)),
        None => eprintln!("SKIPPED: {why}"),
    }
}

thread_local! {
    /// Whether the trial that this thread runs has skipped something; none if it runs no trial.
    static SKIPPED: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Runs a trial, and says whether it has skipped something.
pub(crate) fn skips<T>(trial: impl FnOnce() -> T) -> (T, bool) {
    SKIPPED.set(Some(false));
    let end = trial();
    (end, SKIPPED.take() == Some(true))
}

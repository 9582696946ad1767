//! Devices to test on.

use gridsync::device::NoCuda;
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Device, DeviceError, Devices, Emulator, EmulatorConfig};
use simt::{Lanes, Policy, Schedule};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// The CUDA device that all tests of a process share, one at a time, or the reason why it is
/// missing.
static CUDA: Mutex<Option<Result<Device, NoCuda>>> = Mutex::new(None);

/// The kernels of `gridsync-example-kernels`, as the examples include them.
static EXAMPLES: [PtxImage; 2] = [
    PtxImage::packed(include_bytes!("../../host/examples/ptx/examples_compute_75.ptxz")),
    PtxImage::packed(include_bytes!("../../host/examples/ptx/examples_compute_90.ptxz")),
];

/// All images in the repository: those of the program, and those of the examples.
#[must_use]
pub fn images() -> Vec<PtxImage> {
    gridsync_lab::images::all().into_iter().chain(EXAMPLES).collect()
}

/// An emulated GPU with the fast schedule and checks for data races.
#[must_use]
pub fn emulator() -> Device {
    let config = EmulatorConfig::default();
    Device::new(Emulator::new(EmulatorConfig { races: true, ..config }))
}

/// An emulated GPU whose warps run in the order of `schedule`, with weak memory and checks for data
/// races.
#[must_use]
pub fn emulator_under(schedule: Schedule) -> Device {
    Device::new(Emulator::new(EmulatorConfig {
        schedule,
        races: true,
        weak_memory: true,
        ..EmulatorConfig::default()
    }))
}

/// Like [`emulator_under`], without checks for data races: shows the values that a missing ordering
/// causes.
#[must_use]
pub fn weak_under(schedule: Schedule) -> Device {
    let config = EmulatorConfig { schedule, weak_memory: true, ..EmulatorConfig::default() };
    Device::new(Emulator::new(config))
}

/// Like [`emulator_under`], without checks for data races, on sequentially consistent memory: for
/// kernels that race on purpose, to see their values, and for grids in which the checks are too
/// slow.
#[must_use]
pub fn unjudged_under(schedule: Schedule) -> Device {
    Device::new(Emulator::new(EmulatorConfig { schedule, ..EmulatorConfig::default() }))
}

/// Every policy that interleaves accesses. Policies that draw have several seeds; the random one
/// also has several lengths of turns, and lanes in lockstep and apart.
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
    let favouring = [
        (7, Policy::Preempt { changes: 1 }, Together),
        (8, Policy::Preempt { changes: 4 }, Apart),
        (9, Policy::Stall, Together),
        (10, Policy::Stall, Apart),
    ];
    fixed
        .into_iter()
        .map(Schedule::new)
        .chain(
            favouring.map(|(seed, policy, lanes)| Schedule::seeded(policy, seed).with_lanes(lanes)),
        )
        .chain(random.map(|(seed, quantum, lanes)| {
            Schedule::seeded(Policy::Random { quantum }, seed).with_lanes(lanes)
        }))
        .collect()
}

/// Runs `test` on CUDA device 0, while no other test of this process uses it.
///
/// Without CUDA the test is [`skipped`].
///
/// # Panics
///
/// If the device exists but cannot be used. That is a failure, not a reason to skip.
pub fn with_cuda(test: impl FnOnce(&Device)) {
    let mut cuda = CUDA.lock().unwrap_or_else(PoisonError::into_inner);
    match cuda.get_or_insert_with(open_cuda) {
        Ok(device) => test(device),
        Err(reason) => skipped(&format!("no CUDA device: {reason}")),
    }
}

/// Runs `test` with all GPUs, or with the only one twice, while no other test of this process uses
/// them.
///
/// Without CUDA the test is [`skipped`].
///
/// # Panics
///
/// If a device exists but cannot be used.
pub fn with_cuda_gpus(test: impl FnOnce(&Devices)) {
    with_cuda(|_| {
        let all = Devices::all_cuda(&images()).expect("the CUDA devices should work");
        match all.len() {
            1 => test(&Devices::cuda(&[0, 0], &images()).expect("it should work twice")),
            _ => test(&all),
        }
    });
}

/// The GPUs of an emulated machine, with weak memory and checks for data races.
///
/// # Panics
///
/// If `gpus` is 0 or too large.
#[must_use]
pub fn emulated_gpus(gpus: u32, schedule: Schedule) -> Devices {
    let base = EmulatorConfig::default();
    let config = EmulatorConfig { gpus, schedule, races: true, weak_memory: true, ..base };
    Devices::emulated(config).expect("there may be so many")
}

/// The first CUDA device, or the reason why it is missing.
fn open_cuda() -> Result<Device, NoCuda> {
    match Device::cuda(0, &images()) {
        Ok(device) => Ok(device),
        Err(DeviceError::NoCuda(reason @ (NoCuda::NoLibrary(_) | NoCuda::NoDevice))) => Err(reason),
        Err(error) => panic!("the CUDA device should work: {error}"),
    }
}

/// Reports on stderr that a test skipped some checks, once for each reason. With
/// [`Trials`](crate::trials::Trials) the test counts as ignored. The standard test harness counts
/// it as passed, and shows its output only with `--show-output`.
pub fn skipped(why: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(why.to_owned()) {
        // Not `eprintln!`, because the standard harness captures that. Ignore errors of stderr.
        let _told = writeln!(io::stderr(), "SKIPPED: {why} (said once)");
    }
    match SKIPPED.get() {
        Some(_) => SKIPPED.set(Some(true)),
        None => eprintln!("SKIPPED: {why}"),
    }
}

thread_local! {
    /// Whether the trial of this thread has skipped something, or `None` if the thread runs no
    /// trial.
    static SKIPPED: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Runs a trial, and returns whether it skipped something.
pub(crate) fn skips<T>(trial: impl FnOnce() -> T) -> (T, bool) {
    SKIPPED.set(Some(false));
    let end = trial();
    (end, SKIPPED.take() == Some(true))
}

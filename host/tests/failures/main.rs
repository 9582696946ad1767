//! Each call of the driver fails once while each primitive runs. The primitive must report an
//! error, return no wrong result at once or later, and leak nothing.

#[macro_use]
#[path = "../fake_driver/mod.rs"]
mod fake_driver;
mod ordered;
mod scenarios;
mod shared;
mod streams;
#[cfg(feature = "cust")]
mod with_cust;

use fake_driver::controls::Controls;
use gridsync::device::{Device, DeviceError, Devices};
use ordered::ORDERED;
use scenarios::{KERNELS, SCENARIOS, Scenario};
use shared::SHARED;
use std::env;
use std::process::{Command, Stdio};
use streams::STREAMS;
#[cfg(feature = "cust")]
use with_cust::WITH_CUST;

/// Calls that are also made in a drop, which cannot return a failure, or before another call that
/// reports the same failure, or for memory that a copy can do without, or that only a program with
/// a capture needs.
const UNSEEN: [&str; 5] = [
    "cuCtxSetCurrent",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuMemAllocHost_v2",
    "cuThreadExchangeStreamCaptureMode",
];

/// Without the feature `cust` it has no scenarios.
#[cfg(not(feature = "cust"))]
const WITH_CUST: &[Scenario<Device>] = &[];

/// Devices that a scenario runs on.
trait Place: Sized {
    fn open() -> Result<Self, DeviceError>;
    fn synchronize(&self) -> Result<(), DeviceError>;
}

impl Place for Device {
    fn open() -> Result<Self, DeviceError> {
        Self::cuda(0, KERNELS)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.synchronize()
    }
}

impl Place for Devices {
    fn open() -> Result<Self, DeviceError> {
        Self::cuda(&[0, 1], KERNELS)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.synchronize()
    }
}

/// Runs a scenario in which only call number `at` fails. Returns the name of that call if the
/// scenario reached it.
fn fails_once<P: Place>(
    controls: &Controls,
    scenario: &Scenario<P>,
    expected: &[u8],
    at: u64,
) -> Option<String> {
    controls.fail(at, false);
    let mut errors = Vec::new();
    let mut device = P::open();
    while let Err(error) = device {
        errors.push(error);
        device = P::open();
    }
    let device = device.expect("it has been opened");
    let mut work = (scenario.begin)(&device);
    while let Err(error) = work {
        errors.push(error);
        work = (scenario.begin)(&device);
    }
    let mut work = work.expect("it has begun");
    // After an error, retry.
    loop {
        match work() {
            Ok(result) => {
                let failed = controls.failed();
                let what = format!("{}: call {at}, {failed:?}, failed", scenario.name);
                assert!(result == expected, "{what}: a wrong result");
                break;
            }
            Err(error) => errors.push(error),
        }
        assert!(errors.len() < 3, "{}: call {at}: {errors:?}", scenario.name);
    }
    drop(work);
    drop(device);
    let failed = controls.failed();
    let what = format!("{}: call {at}, {failed:?}, failed", scenario.name);
    // One failure causes exactly one error.
    match &failed {
        Some(call) if UNSEEN.contains(&&**call) => assert!(errors.len() <= 1, "{what}: {errors:?}"),
        _ => assert_eq!(errors.len(), usize::from(failed.is_some()), "{what}: {errors:?}"),
    }
    assert_eq!(controls.live(), "", "{what}: not given back");
    failed
}

/// Runs a scenario in which the context is lost at that call, so every later call fails.
fn fails_for_good<P: Place>(
    controls: &Controls,
    scenario: &Scenario<P>,
    expected: &[u8],
    at: u64,
) -> bool {
    controls.fail(at, true);
    let run = || -> Result<(), DeviceError> {
        let device = P::open()?;
        let mut work = (scenario.begin)(&device)?;
        let mut lost = false;
        for _ in 0..2 {
            match work() {
                Ok(result) => {
                    assert!(!lost, "{}: call {at}: a result after all", scenario.name);
                    assert!(result == expected, "{}: call {at}", scenario.name);
                }
                Err(_) => lost = true,
            }
        }
        if lost { device.synchronize() } else { Ok(()) }
    };
    let done = run();
    let Some(call) = controls.failed() else {
        assert!(done.is_ok(), "{}: {done:?}", scenario.name);
        assert_eq!(controls.live(), "", "{}: not given back", scenario.name);
        return false;
    };
    let what = format!("{}: call {at}, {call}", scenario.name);
    assert!(done.is_err() || UNSEEN.contains(&&*call), "{what}: no error");
    assert!(P::open().is_err(), "{what}: it opens again");
    controls.forget();
    true
}

/// Fails each call of each second scenario once, from the first or the second on, and each `nth`
/// call permanently. Returns a line for each scenario and the number of failures.
fn fail_in_turn<P: Place>(
    controls: &Controls,
    scenarios: &[Scenario<P>],
    half: usize,
    nth: usize,
) -> (String, usize) {
    let (mut table, mut all) = (String::new(), 0);
    for scenario in scenarios.iter().skip(half).step_by(2) {
        let expected = (scenario.expected)();
        let points = (1..).find(|&at| fails_once(controls, scenario, &expected, at).is_none());
        let points = points.expect("there is an end to it") - 1;
        assert!(points > 20, "{} is reached by {points} failures", scenario.name);
        let for_good: Vec<u64> = (1..=points).step_by(nth).collect();
        let tried = for_good.len();
        let reached = |at: u64| fails_for_good(controls, scenario, &expected, at);
        assert!(for_good.into_iter().all(reached), "{}", scenario.name);
        table += &format!("{:32} {points:4} {tried:4}\n", scenario.name);
        all += points as usize + tried;
    }
    (table, all)
}

/// The half of the scenarios that a process runs: 0 or 1.
const HALF: &str = "GRIDSYNC_FAILURES_HALF";

/// Fails each call once, and each `nth` one permanently. Each half of the scenarios has a process,
/// because the driver fails for the whole process.
fn fail_everywhere(test: &str, nth: usize) {
    if let Some(half) = env::var(HALF).ok().and_then(|half| half.parse().ok()) {
        return fail_half(half, nth);
    }
    let program = env::current_exe().expect("a running test should know its own path");
    let start = |half: usize| {
        let mut command = Command::new(&program);
        command.args([test, "--exact", "--include-ignored", "--nocapture"]);
        command.env(HALF, half.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("this test should start")
    };
    for process in [0, 1].map(start) {
        let ended = process.wait_with_output().expect("it was started");
        let [stdout, stderr] = [ended.stdout, ended.stderr]
            .map(|printed| String::from_utf8_lossy(&printed).into_owned());
        // It has run this very test: libtest also succeeds if no test has the name.
        assert!(ended.status.success() && stdout.contains(" in all"), "{stdout}{stderr}");
        println!("{stdout}");
    }
}

/// The part of [`fail_everywhere`] in one process.
fn fail_half(half: usize, nth: usize) {
    let controls = Controls::new();
    controls.devices(1);
    let (table, alone) = fail_in_turn(&controls, SCENARIOS, half, nth);
    let (ordered_table, ordered) = fail_in_turn(&controls, ORDERED, half, nth);
    let (streams_table, streams) = fail_in_turn(&controls, STREAMS, half, nth);
    let (cust_table, with_cust) = fail_in_turn(&controls, WITH_CUST, half, nth);
    controls.devices(2);
    let (shared_table, shared) = fail_in_turn(&controls, SHARED, half, nth);
    println!(
        "calls that failed in turn, once and for good:\n{table}{ordered_table}{streams_table}{cust_table}{shared_table}"
    );
    println!("{} in all", alone + ordered + streams + with_cust + shared);
}

#[test]
fn any_failing_call_gives_an_error_no_wrong_result_and_no_leak() {
    fail_everywhere("any_failing_call_gives_an_error_no_wrong_result_and_no_leak", 5);
}

#[test]
#[ignore = "takes minutes"]
fn the_context_may_be_lost_at_any_call() {
    fail_everywhere("the_context_may_be_lost_at_any_call", 1);
}

//! The calls of the driver.

use super::{Ended, call, folder};
use crate::call::{DEVICE_FAILURE, WRONG_USAGE};
use crate::folder::Folder;
use std::{env, fs, thread};

/// Calls that use the device in different ways. They are few, because each is repeated for every
/// driver call that can fail.
const CALLS: [&str; 9] = [
    "reduce x.npy --op max",
    "scan x.npy --op sum -o old.npy --part 400",
    "select x.npy --where >10 -o out.npy --partition rest.npy --part 600",
    "sort x.npy --argsort -o out.npy",
    "top x.npy -k 50 --by-index -o out.npy --indices at.npy",
    "quantile x.npy",
    "histogram x.npy -o out.npy",
    "range-sum x.npy ranges.npy -o out.npy",
    "kendall x.npy y.npy",
];

/// Calls the program with the fake driver. Also returns the driver call that failed, if any.
fn on_a_gpu(args: &str, fail: &str) -> (Ended, Option<String>) {
    let test = env::current_exe().expect("a test knows where it is");
    let driver = test.with_file_name("libgridsync_fake_driver.so");
    let (folder, logged) = (folder(), Folder::new());
    let log = logged.path("log");
    let ended = call(args, &folder, |command| {
        command
            .args(["--device", "cuda"])
            .env("GRIDSYNC_LIBCUDA", driver)
            .env("GRIDSYNC_FAKE_LOG", &log)
            .env("GRIDSYNC_FAKE_FAIL", fail)
            .status()
    });
    let log = fs::read_to_string(log).unwrap_or_default();
    let mut failed = log.lines().filter_map(|line| line.strip_prefix("failed "));
    let failed = failed.next().map(str::to_owned);
    (ended.expect("the program should start"), failed)
}

/// Makes each driver call fail once, and returns the number of calls.
fn points(args: &str, whole: &Ended, how: &str) -> usize {
    let fails = |at: &u64| {
        let fail = format!("{at}{how}");
        let (ended, failed) = on_a_gpu(args, &fail);
        let what = format!("{args}: call {fail}, {failed:?}");
        ended.is_whole_or_refused(&whole.left, DEVICE_FAILURE, &what);
        failed.is_some()
    };
    (1..).take_while(fails).count()
}

#[test]
fn if_any_call_of_the_driver_fails_each_file_is_whole_or_unchanged() {
    let all = thread::scope(|scope| {
        let running = CALLS.map(|args| {
            scope.spawn(move || {
                let (whole, _) = on_a_gpu(args, "");
                assert!(whole.status.success(), "{args}: {}", whole.stderr);
                let points = ["", " sticky"].map(|how| points(args, &whole, how));
                println!("{args:70} {:3} once, {:3} for good", points[0], points[1]);
                assert!(points.iter().all(|&points| points > 20), "{args}");
                points.iter().sum::<usize>()
            })
        });
        let ended = running.map(|call| call.join().expect("it says above what was wrong"));
        ended.iter().sum::<usize>()
    });
    println!("{all} calls of the driver failed in turn");
}

/// The fake device reports no limits of its multiprocessors, so no grid is known to be resident.
#[test]
fn barriers_that_were_never_crossed_do_not_pass() {
    let (ended, _) = on_a_gpu("lab stress --rounds 1 --right-only", "");
    assert_eq!(ended.status.code(), Some(WRONG_USAGE), "{}", ended.stderr);
    assert!(ended.stderr.contains("nothing was crossed"), "{}", ended.stderr);
}

//! The calls of the file system.

use super::supervisor::{Fail, run};
use super::{CALLS, Ended, call, folder};
use crate::call::WRONG_USAGE;
use gridsync_tests::devices::skipped;
use std::io;
use std::os::unix::process::ExitStatusExt;

/// Calls the program on the CPU. Also returns the system call that failed, if any.
fn on_the_cpu(args: &str, fail: Fail) -> io::Result<(Ended, Option<String>)> {
    let (folder, mut failed) = (folder(), None);
    let ended = call(args, &folder, |command| {
        let ran = run(command.args(["--device", "cpu"]), &folder.path("").canonicalize()?, fail)?;
        failed = ran.failed;
        Ok(ran.status)
    });
    Ok((ended?, failed))
}

/// Makes a call without failures, and checks that it succeeds. If calls cannot be supervised on
/// this machine, prints a message and returns `None`.
fn if_possible(args: &str) -> Option<Ended> {
    match on_the_cpu(args, Fail::None) {
        Ok((whole, _)) => {
            assert!(whole.status.success(), "{args}: {}", whole.stderr);
            Some(whole)
        }
        Err(error) if error.kind() == io::ErrorKind::TimedOut => panic!("{args} hangs"),
        Err(error) => {
            skipped(&format!("no call of another process can be made to fail: {error}"));
            None
        }
    }
}

#[test]
fn if_any_call_of_the_file_system_fails_each_file_is_whole_or_unchanged() {
    let (mut table, mut all) = (String::new(), 0);
    for args in CALLS {
        let Some(whole) = if_possible(args) else {
            return;
        };
        let points = [Fail::Once as fn(u64) -> Fail, Fail::DiskFull].map(|fail| {
            let fails = |&at: &u64| {
                let (ended, failed) =
                    on_the_cpu(args, fail(at)).expect("it could be supervised before");
                let what = format!("{args}: {:?}, {failed:?}", fail(at));
                ended.is_whole_or_refused(&whole.left, WRONG_USAGE, &what);
                failed.is_some()
            };
            (1..).take_while(fails).count()
        });
        table += &format!("{args:70} {:3} {:3}\n", points[0], points[1]);
        all += points[0] + points[1];
        assert!(points.iter().all(|&points| points > 2), "{table}");
    }
    println!(
        "calls that failed in turn, alone and with the disk full from then on:\n{table}{all} in all"
    );
}

#[test]
fn a_signal_at_any_call_leaves_no_partial_file() {
    let mut all = 0;
    for args in [
        "scan x.npy --op sum -o out.npy",
        "scan x.npy --op sum -o old.npy --part 400",
        "select x.npy --where >10 -o old.npy --positions at.npy",
    ] {
        let Some(whole) = if_possible(args) else {
            return;
        };
        let ends = |&at: &u64| {
            let fail = Fail::Signal(at, libc::SIGTERM);
            let (ended, came) = on_the_cpu(args, fail).expect("it could be supervised before");
            let what = format!("{args}: {fail:?}, {came:?}: {}", ended.status);
            let by_signal = ended.status.signal() == Some(libc::SIGTERM);
            assert!(by_signal || ended.status.success(), "{what}");
            ended.is_old_or_whole(&whole.left, &what);
            came.is_some()
        };
        all += (1..).take_while(ends).count();
    }
    println!("a signal came at each of {all} calls");
    assert!(all > 30, "only at {all} calls");
}

//! A standard error that cannot be written, and a system that refuses threads.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::devices::skipped;
use gridsync_tests::npy;
use std::fs;
use std::process::{Command, Stdio};

/// A folder with arrays.
fn folder() -> Folder {
    Folder::new()
        .with("x.npy", npy::of(&[1.0f32, 2.0, 3.0]))
        .with("y.npy", npy::of(&[1.0f32, 3.0, 2.0]))
}

/// Calls the program with a standard error that cannot be written: a full disk, or a closed pipe.
fn unheard(folder: &Folder, args: &[&str], is_closed: bool) -> Option<Call> {
    let mut command = folder.command();
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped());
    if is_closed {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        command.stderr(writer);
    } else {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").ok()?;
        command.stderr(full);
    }
    Some(Call::of(command.output().expect("the program should start")))
}

#[test]
fn an_unwritable_standard_error_changes_neither_results_nor_exit_codes() {
    for is_closed in [false, true] {
        let folder = folder();
        let call = |args: &[&str]| unheard(&folder, args, is_closed);
        let Some(sum) = call(&["-v", "reduce", "x.npy", "--op", "sum", "--check"]) else {
            skipped("no /dev/full to write to");
            continue;
        };
        assert_eq!((sum.code, &*sum.stdout), (Some(0), "6.0\n"), "{sum:?}");
        for args in [
            &["-v", "scan", "x.npy", "--op", "sum", "-o", "out.npy"][..],
            &["-v", "scan", "x.npy", "--op", "sum", "-o", "out.npy", "--part", "2"],
            &["-v", "select", "x.npy", "--unique", "-o", "out.npy", "--device", "emulator"],
        ] {
            assert_eq!(call(args).and_then(|call| call.code), Some(0), "{args:?}");
            assert_eq!(folder.values::<f32>("out.npy", 3)[0], 1.0, "{args:?}");
        }
        for args in
            [&["reduce", "absent.npy", "--op", "sum"][..], &["reduce"], &["--nonsense"], &[]]
        {
            assert_eq!(call(args).and_then(|call| call.code), Some(WRONG_USAGE), "{args:?}");
        }
    }
}

#[test]
fn a_system_that_refuses_threads_is_reported_in_one_line() {
    let folder = folder();
    for args in [&["reduce", "x.npy", "--op", "sum"][..], &["demo"], &["devices"]] {
        let mut command = folder.command();
        // A stack of this size cannot be allocated, so every thread is refused.
        command.env("RUST_MIN_STACK", (1_u64 << 60).to_string()).args(args);
        let call = Call::of(command.output().expect("the program should start"));
        call.fails(WRONG_USAGE, &["cannot start a thread", "ulimit -u", "RAYON_NUM_THREADS"]);
    }
}

/// Limits `command` to this many threads. Only root can do that: as another user, who has no other
/// threads.
#[cfg(target_os = "linux")]
fn with_threads(command: &mut Command, most: u64) {
    use std::os::unix::process::CommandExt;
    const NOBODY_ELSE: u32 = 54_321;
    let limit = move || {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: both calls change only this process, which has one thread, and have plain values
        // as arguments.
        let done = unsafe {
            libc::setrlimit(libc::RLIMIT_NPROC, &limit) == 0 && libc::setuid(NOBODY_ELSE) == 0
        };
        if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: the closure only makes two system calls.
    unsafe { command.pre_exec(limit) };
}

#[cfg(target_os = "linux")]
#[test]
fn with_any_thread_limit_a_call_ends_with_its_result_or_one_line() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o755)).expect("our folder");
    for args in [
        &["reduce", "x.npy", "--op", "sum"][..],
        &["reduce", "x.npy", "--op", "sum", "--device", "emulator:3"],
        &["scan", "x.npy", "--op", "sum", "-o", "-"],
        &["select", "x.npy", "--where", "> 1", "-o", "-"],
        &["kendall", "x.npy", "y.npy"],
    ] {
        let mut seen = [false; 2];
        for most in 1..12 {
            let mut command = folder.command();
            command.args(args).args(["-q"]).env("RAYON_NUM_THREADS", "2").stdin(Stdio::null());
            with_threads(&mut command, most);
            let Ok(output) = command.output() else {
                skipped("this user cannot limit the threads of a call");
                return;
            };
            let refused = output.status.code() == Some(WRONG_USAGE);
            let stderr = String::from_utf8_lossy(&output.stderr);
            if refused {
                assert!(stderr.starts_with("gridsync: cannot start a thread"), "{stderr}");
                assert_eq!(stderr.lines().count(), 1, "{stderr}");
            } else {
                assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{args:?}, {most}");
            }
            seen[usize::from(refused)] = true;
        }
        assert_eq!(seen, [true; 2], "{args:?}: some limits suffice, and some do not");
    }
}

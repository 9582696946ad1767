//! Calls that make no sense, and outputs that nobody reads.

use crate::call::{WRONG_USAGE, without_cuda};
use gridsync_tests::program;
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn what_clap_refuses_is_one_line_too() {
    let call = |args: &[&str]| without_cuda(args, b"");
    call(&["frobnicate"]).fails(WRONG_USAGE, &["frobnicate"]);
    call(&["reduce"]).fails(WRONG_USAGE, &["--op", "INPUT"]);
    call(&["reduce", "x.npy"]).fails(WRONG_USAGE, &["--op"]);
    call(&["reduce", "--op", "sum"]).fails(WRONG_USAGE, &["INPUT"]);
    call(&["reduce", "a", "b", "--op", "sum"]).fails(WRONG_USAGE, &["'b'"]);
    call(&["reduce", "a", "--op", "median"]).fails(WRONG_USAGE, &["median", "sum, prod, min"]);
    call(&["reduce", "a", "--op", "sum", "--dtype", "f8"]).fails(WRONG_USAGE, &["f8", "f16"]);
    call(&["reduce", "a", "--op", "sum", "--acc", "f16"]).fails(WRONG_USAGE, &["f16", "f32, f64"]);
    call(&["reduce", "a", "--op", "sum", "--variant", "x"]).fails(WRONG_USAGE, &["tiles"]);
    call(&["devices", "-q", "-v"]).fails(WRONG_USAGE, &["--quiet", "--verbose"]);
    call(&["demo", "-n", "many"]).fails(WRONG_USAGE, &["many"]);
    call(&["demo", "--nonsense"]).fails(WRONG_USAGE, &["--nonsense"]);
}

#[test]
fn a_call_without_a_subcommand_shows_the_help_and_fails() {
    let call = without_cuda(&[], b"");
    assert_eq!((call.code, call.stdout.as_str()), (Some(WRONG_USAGE), ""));
    assert!(call.stderr.contains("Usage: gridsync"), "{call:?}");
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    for args in [
        &["devices"][..],
        &["--help"],
        &["demo", "--runs", "1", "--device", "emulator"],
    ] {
        let mut child = Command::new(program::path())
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program should start");
        drop(child.stdout.take());
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .expect("stderr is piped")
            .read_to_string(&mut stderr)
            .expect("stderr should be readable");
        let status = child.wait().expect("the program should end");
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_full_disk_is_reported() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        gridsync_tests::devices::skipped("no /dev/full to write to");
        return;
    };
    let output = Command::new(program::path())
        .arg("devices")
        .stdout(full)
        .output()
        .expect("the program should start");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    assert!(
        stderr.starts_with("gridsync: ") && stderr.lines().count() == 1,
        "{stderr}"
    );
}

//! Exit codes: the help and the README have the same table, and the program follows it.

use crate::call::{Call, DEVICE_FAILURE, WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::{skipped, with_cuda};
use gridsync_tests::npy;
use gridsync_tests::program::workspace;
use std::fs;
use std::io::Read;
use std::process::Stdio;

/// The table in the help.
fn table() -> String {
    let help = without_cuda(&["--help"], b"").succeeds().stdout;
    let (_, table) = help.split_once("Exit codes:\n").expect("the help should have the table");
    let lines = table.lines().take_while(|line| line.starts_with("  "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_readme_has_the_table_of_the_help() {
    let table = table();
    let codes = table.lines().filter_map(|line| line.split_whitespace().next());
    let codes: Vec<_> = codes.filter(|word| word.parse::<u8>().is_ok()).collect();
    assert_eq!(codes, ["0", "1", "2", "3"], "{table}");
    let readme = workspace().join("host/program/README.md");
    let readme = fs::read_to_string(readme).expect("the README should be there");
    assert!(readme.contains(&table), "the README should have:\n{table}");
}

/// Calls the program with `/dev/full` as standard output, or returns `None` without such a device.
fn to_a_full_disk(args: &[&str], stdin: &[u8]) -> Option<Call> {
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        skipped("no /dev/full to write to");
        return None;
    };
    let folder = Folder::new().with("input", stdin);
    let input = fs::File::open(folder.path("input")).expect("it was written");
    let output = folder.command().args(args).stdin(input).stdout(full).output();
    Some(Call::of(output.expect("the program should start")))
}

#[test]
fn an_output_that_cannot_be_written_always_exits_with_2() {
    let array = npy::of(&[1i32, 2, 3]);
    for args in [
        &["reduce", "-", "--op", "sum"][..],
        &["reduce", "-", "--op", "sum", "--json"],
        &["reduce", "-", "--op", "sum", "--rows"],
        &["reduce", "-", "--op", "sum", "--rows", "-o", "-"],
        &["scan", "-", "--op", "sum", "-o", "-"],
        &["scan", "-", "--op", "sum", "-o", "/dev/full"],
        &["scan", "-", "--op", "sum", "--rows", "-o", "-"],
        &["select", "-", "--unique", "-o", "-"],
        &["select", "-", "--unique", "-o", "/dev/null", "--json"],
        &["devices"],
        &["demo", "--runs", "1"],
        &["lab", "spin"],
        &["--help"],
    ] {
        let Some(call) = to_a_full_disk(args, &array) else {
            return;
        };
        call.fails(WRONG_USAGE, &["not written", "free some space"]);
    }
    let nowhere = ["scan", "-", "--op", "sum", "-o", "/nonexistent/out.npy"];
    without_cuda(&nowhere, &array).fails(WRONG_USAGE, &["create the folder"]);
}

#[test]
fn a_reader_that_closes_the_pipe_is_not_a_failure() {
    // The output is larger than the buffer of a pipe.
    let folder = Folder::new().with("input.npy", npy::of(&vec![1i64; 100_000]));
    for args in [
        &["devices"][..],
        &["--help"],
        &["demo", "--runs", "1", "--device", "emulator"],
        &["reduce", "input.npy", "--op", "sum", "-q"],
        &["reduce", "input.npy", "--op", "sum", "--json"],
        &["scan", "input.npy", "--op", "sum", "-o", "-", "-q"],
        &["scan", "input.npy", "--op", "sum", "-o", "-", "-q", "--check"],
        &["select", "input.npy", "--where", "> 0", "-o", "-", "-q"],
    ] {
        let mut child = folder
            .command()
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
fn commands_that_need_a_gpu_exit_with_3_without_one_and_with_2_on_other_devices() {
    for what in [
        &["bench", "barrier"][..],
        &["bench", "reduce"],
        &["bench", "kendall"],
        &["lab", "fences"],
        &["lab", "launches"],
    ] {
        let on = |device| without_cuda(&[what, &["--device", device]].concat(), b"");
        on("auto").fails(DEVICE_FAILURE, &["needs a GPU", "driver"]);
        on("cuda").fails(DEVICE_FAILURE, &["needs a GPU", "driver"]);
        on("emulator").fails(WRONG_USAGE, &["needs a GPU", "--device cuda"]);
        on("cpu").fails(WRONG_USAGE, &["needs a GPU", "--device cuda"]);
    }
    with_cuda(|_| {
        let args = ["reduce", "-", "--dtype", "i32", "--op", "sum", "--device", "cuda:99"];
        gridsync(&args, &[0; 8]).fails(DEVICE_FAILURE, &["99"]);
    });
}

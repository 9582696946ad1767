//! Files that cannot go together: a call that would hang or lose a result is refused before
//! anything is read.

use crate::call::{Call, WRONG_USAGE, without_cuda};
use gridsync_tests::npy;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// A folder with an array `x.npy`, ranges `queries.npy`, and a folder `d`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let write = |name, bytes| {
        fs::write(folder.path().join(name), bytes).expect("the folder should be there")
    };
    write("x.npy", npy::of(&[1.0f32, 2.0, 3.0]).expect("f32 has a name"));
    let queries = npy::header("<u8", false, "(1, 2)");
    write("queries.npy", npy::raw(&queries, bytemuck::cast_slice(&[0u64, 2])));
    fs::create_dir(folder.path().join("d")).expect("the folder should be there");
    folder
}

/// Calls the program on files of `folder`: an argument with a dot is the name of a file there.
fn call(folder: &Path, args: &[&str], stdin: &[u8]) -> Call {
    let args: Vec<String> = args
        .iter()
        .map(|arg| match arg.contains(".npy") {
            true => folder.join(arg).to_str().expect("UTF-8").to_owned(),
            false => (*arg).to_owned(),
        })
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    without_cuda(&args, stdin)
}

#[test]
fn standard_input_is_not_read_twice() {
    let folder = folder();
    let array = npy::of(&[1i32, 2, 3]).expect("i32 has a name");
    for args in [
        &["range-sum", "-", "-", "-o", "out.npy"][..],
        &["range-sum", "-", "/dev/stdin", "-o", "out.npy"],
        &["kendall", "-", "-"],
        &["kendall", "/dev/stdin", "-"],
        &["kendall", "-", "-", "--dtype", "f32"],
    ] {
        call(folder.path(), args, &array).fails(WRONG_USAGE, &["read once", "save one of them"]);
    }
    let same = call(folder.path(), &["kendall", "x.npy", "x.npy", "-q"], b"");
    assert_eq!(same.succeeds().stdout, "1.0\n", "a file can be read twice");
}

#[test]
fn two_outputs_that_are_one_file_are_refused_however_they_are_spelt() {
    let folder = folder();
    symlink("out.npy", folder.path().join("link.npy")).expect("the folder should be there");
    for other in ["out.npy", "d/../out.npy", "./out.npy", "link.npy"] {
        for by in [
            &["--where", "> 1", "--partition"][..],
            &["--where", "> 1", "--positions"],
            &["--unique", "--counts"],
        ] {
            let args = [&["select", "x.npy", "-o", "out.npy"], by, &[other]].concat();
            let parts = ["--output", by[by.len() - 1], "name two files"];
            call(folder.path(), &args, b"").fails(WRONG_USAGE, &parts);
        }
    }
    let both = ["--partition", "a.npy", "--positions", "d/../a.npy"];
    let args = [&["select", "x.npy", "-o", "out.npy", "--where", "> 1"], &both[..]].concat();
    call(folder.path(), &args, b"").fails(WRONG_USAGE, &["--partition", "--positions"]);
    let names = fs::read_dir(folder.path()).expect("the folder should be there");
    assert_eq!(names.count(), 4, "nothing was written");
}

#[test]
fn an_output_does_not_take_the_place_of_an_input() {
    let folder = folder();
    let before = fs::read(folder.path().join("x.npy")).expect("it was written");
    for input in ["x.npy", "d/../x.npy"] {
        for args in [
            &["scan", input, "--op", "sum", "-o", "x.npy"][..],
            &["select", input, "--unique", "-o", "x.npy"],
            &["select", input, "--where", "> 1", "-o", "y.npy", "--partition", "x.npy"],
            &["range-sum", input, "queries.npy", "-o", "x.npy"],
            &["range-sum", input, "queries.npy", "-o", "queries.npy"],
        ] {
            call(folder.path(), args, b"").fails(WRONG_USAGE, &["would replace it"]);
        }
    }
    let after = fs::read(folder.path().join("x.npy")).expect("it is there");
    assert_eq!(before, after);
}

#[test]
fn an_array_and_json_do_not_both_go_to_standard_output() {
    let folder = folder();
    for to in ["-", "/dev/stdout"] {
        let args = ["scan", "x.npy", "--op", "sum", "-o", to, "--json"];
        call(folder.path(), &args, b"").fails(WRONG_USAGE, &["standard output", "--output"]);
    }
}

#[test]
fn the_null_device_takes_any_number_of_arrays() {
    let folder = folder();
    let to = ["-o", "/dev/null", "--positions", "/dev/null", "-q"];
    let args = [&["select", "x.npy", "--where", "> 1"], &to[..]].concat();
    call(folder.path(), &args, b"").succeeds();
}

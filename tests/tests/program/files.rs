//! Combinations of files that cannot work: a call that would hang or lose a result is refused
//! before it reads anything.

use crate::call::WRONG_USAGE;
use crate::folder::Folder;
use gridsync_tests::npy;
use std::fs;
use std::os::unix::fs::symlink;

/// A folder with an array `x.npy`, ranges `queries.npy`, and a folder `d`.
fn folder() -> Folder {
    let folder = Folder::new()
        .with("x.npy", npy::of(&[1.0f32, 2.0, 3.0]))
        .with("queries.npy", npy::shaped("(1, 2)", &[0u64, 2]));
    fs::create_dir(folder.path("d")).expect("the folder should be there");
    folder
}

#[test]
fn standard_input_is_not_read_twice() {
    let folder = folder();
    let array = npy::of(&[1i32, 2, 3]);
    for args in [
        &["range-sum", "-", "-", "-o", "out.npy"][..],
        &["range-sum", "-", "/dev/stdin", "-o", "out.npy"],
        &["kendall", "-", "-"],
        &["kendall", "/dev/stdin", "-"],
        &["kendall", "-", "-", "--dtype", "f32"],
    ] {
        folder.call(args, &array).fails(WRONG_USAGE, &["read only once", "save one of them"]);
    }
    let same = folder.call(&["kendall", "x.npy", "x.npy", "-q"], b"");
    assert_eq!(same.succeeds().stdout, "1.0\n", "a file can be read twice");
}

#[test]
fn two_outputs_to_one_file_are_refused_under_any_spelling() {
    let folder = folder();
    symlink("out.npy", folder.path("link.npy")).expect("the folder should be there");
    for other in ["out.npy", "d/../out.npy", "./out.npy", "link.npy"] {
        for by in [
            &["--where", "> 1", "--partition"][..],
            &["--where", "> 1", "--positions"],
            &["--unique", "--counts"],
        ] {
            let args = [&["select", "x.npy", "-o", "out.npy"], by, &[other]].concat();
            let parts = ["--output", by[by.len() - 1], "each needs its own file"];
            folder.call(&args, b"").fails(WRONG_USAGE, &parts);
        }
    }
    let both = ["--partition", "a.npy", "--positions", "d/../a.npy"];
    let args = [&["select", "x.npy", "-o", "out.npy", "--where", "> 1"], &both[..]].concat();
    folder.call(&args, b"").fails(WRONG_USAGE, &["--partition", "--positions"]);
    assert_eq!(folder.names().len(), 4, "nothing was written");
}

#[test]
fn an_output_does_not_replace_an_input() {
    let folder = folder();
    let before = folder.read("x.npy");
    for input in ["x.npy", "d/../x.npy"] {
        for args in [
            &["scan", input, "--op", "sum", "-o", "x.npy"][..],
            &["select", input, "--unique", "-o", "x.npy"],
            &["select", input, "--where", "> 1", "-o", "y.npy", "--partition", "x.npy"],
            &["range-sum", input, "queries.npy", "-o", "x.npy"],
            &["range-sum", input, "queries.npy", "-o", "queries.npy"],
        ] {
            folder.call(args, b"").fails(WRONG_USAGE, &["would replace it"]);
        }
    }
    assert_eq!(before, folder.read("x.npy"));
}

#[test]
fn an_array_and_json_do_not_both_go_to_standard_output() {
    let folder = folder();
    for to in ["-", "/dev/stdout"] {
        let args = ["scan", "x.npy", "--op", "sum", "-o", to, "--json"];
        folder.call(&args, b"").fails(WRONG_USAGE, &["standard output", "--output"]);
    }
}

#[test]
fn the_null_device_accepts_any_number_of_arrays() {
    let folder = folder();
    let to = ["-o", "/dev/null", "--positions", "/dev/null", "-q"];
    let args = [&["select", "x.npy", "--where", "> 1"], &to[..]].concat();
    folder.call(&args, b"").succeeds();
}

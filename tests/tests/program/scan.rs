//! `gridsync scan`: what it writes, its JSON, its check, and what it refuses.

use crate::call::{Call, DEVICE_FAILURE, WRONG_USAGE, without_cuda};
use crate::matrix::{inputs, matrix};
use gridsync_program::verify::Sample;
use gridsync_tests::npy;
use gridsync_tests::oracle::{self, Plain};
use half::{bf16, f16};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Elements of the inputs: an odd number, for several blocks of most types.
const LEN: usize = 3003;

/// More roundings than any element of such an input goes through.
const DEPTH: u64 = 512;

/// A folder, and the path of an output in it, which does not exist yet.
fn output() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let path = folder.path().join("out.npy");
    (folder, path)
}

/// Scans `input`, raw on standard input, to `to`.
fn raw<T: Plain>(op: &str, input: &[T], to: &Path, more: &[&str]) -> Call {
    let to = to.to_str().expect("its path should be UTF-8");
    let args = ["scan", "-", "--op", op, "--dtype", T::NAME, "-o", to];
    without_cuda(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

/// The values of a `.npy` file of one dimension of `A`.
fn values<A: Plain>(file: &[u8], len: usize) -> Vec<A> {
    let header = npy::of::<A>(&vec![A::zeroed(); len]).expect("the type has a name");
    let head = header.len() - len * size_of::<A>();
    assert_eq!(&file[..head], &header[..head], "the header");
    let values = file[head..].chunks_exact(size_of::<A>());
    values.map(bytemuck::pod_read_unaligned).collect()
}

/// Checks one operation on one type: on the CPU and the emulator, in both forms, at some places.
fn everywhere<T: Plain + Sample, A: Plain>(op: &str, more: &[&str]) {
    let input = inputs::<T>(op, LEN);
    for form in [None, Some("--exclusive")] {
        let write = |device: &str| {
            let (_folder, path) = output();
            let args = ["--check", "--json", "--device", device];
            let args = [more, form.as_slice(), &args[..]].concat();
            let json = raw(op, &input, &path, &args).json();
            assert_eq!(json["check"]["ok"], true, "{json}");
            assert_eq!(json["device"], device);
            fs::read(path).expect("the output should be there")
        };
        let file = write("cpu");
        assert_eq!(file, write("emulator"), "the same bytes");
        let results = values::<A>(&file, LEN);
        for at in (0..LEN).step_by(77).chain([LEN - 1]) {
            let part = match form {
                None => &input[..=at],
                Some(_) => &input[..at],
            };
            let expected = oracle::reduce::<T, A>(op, part, DEPTH);
            let got = results[at].number();
            assert!(expected.admits(got), "{form:?} at {at}: {got:?} is not {expected:?}");
        }
    }
}

matrix! {
    sum "sum" []: f16 => f32, f32 => f32, f64 => f64, i32 => i64, u64 => u64;
    sum_in_f64 "sum" ["--acc", "f64"]: bf16 => f64;
    prod "prod" []: u32 => u64;
    prod_in_f64 "prod" ["--acc", "f64"]: f32 => f64;
    min "min" []: f64 => f64;
    max "max" []: i64 => i64;
    xor "xor" []: u32 => u32;
    and "and" []: i32 => i32;
    or "or" []: u32 => u32;
    count "count" []: f32 => u64;
}

#[test]
fn an_array_of_any_rank_is_scanned_as_flat_and_an_empty_one_gives_an_empty_one() {
    for (shape, n) in [("()", 1), ("(2, 3)", 6), ("(0, 5)", 0)] {
        let input: Vec<i64> = (1..=n).collect();
        let file = npy::raw(&npy::header("<i8", false, shape), bytemuck::cast_slice(&input));
        let (_folder, path) = output();
        let to = path.to_str().expect("its path should be UTF-8");
        without_cuda(&["scan", "-", "--op", "sum", "-o", to, "-q"], &file).succeeds();
        let file = fs::read(&path).expect("the output should be there");
        let sums: Vec<i64> = (1..=n).map(|n| n * (n + 1) / 2).collect();
        assert_eq!(values::<i64>(&file, n as usize), sums, "{shape}");
    }
}

#[test]
fn quiet_prints_nothing_and_the_text_says_what_was_written() {
    let (_folder, path) = output();
    let quiet = raw("sum", &[4i32, -9], &path, &["-q"]).says_nothing();
    assert_eq!(quiet.stdout, "");
    let call = raw("sum", &[4i32, -9], &path, &["--check"]).says(&[
        "inclusive sum of 2 i32",
        "right",
        "out.npy: 2 elements of i64",
    ]);
    assert_eq!(call.stdout, "", "the result is in the file");
}

#[test]
fn what_cannot_be_written_leaves_what_was_there() {
    let (folder, path) = output();
    fs::write(&path, "old").expect("a file should be written");
    let nowhere = folder.path().join("absent/out.npy");
    raw("sum", &[1.0f32], &nowhere, &[]).fails(WRONG_USAGE, &["absent"]);
    raw("xor", &[1.0f32], &path, &[]).fails(WRONG_USAGE, &["--op xor", "i32 u32", "not of f32"]);
    assert_eq!(fs::read(&path).expect("it is there"), b"old");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (_folder, path) = output();
    raw("sum", &[1i32], &path, &["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "i32"]);
    raw("min", &[1.0f32], &path, &["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "min"]);
    raw("sum", &[1.0f64], &path, &["--acc", "f32"]).fails(WRONG_USAGE, &["--acc f32", "f64"]);
    raw("sum", &[1i32], Path::new("-"), &["--json"]).fails(WRONG_USAGE, &["-o"]);
    raw("sum", &[1i32], &path, &["--device", "cuda"]).fails(DEVICE_FAILURE, &["CUDA"]);
    without_cuda(&["scan", "x.npy", "--op", "sum"], b"").fails(WRONG_USAGE, &["--output"]);
    assert!(!path.exists());
}

//! `gridsync scan`: its output, its JSON, its check, and its refusals.

use crate::call::{Call, DEVICE_FAILURE, WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use crate::matrix::{inputs, matrix};
use gridsync_tests::npy;
use gridsync_tests::oracle::{self, Plain};
use gridsync_verify::Sample;
use half::{bf16, f16};

/// Elements of the inputs: an odd number, for several blocks of most types.
const LEN: usize = 3003;

/// An upper bound on the roundings of any element of such an input.
const DEPTH: u64 = 512;

/// Scans `input`, raw on standard input, to `to` in `folder`.
fn raw<T: Plain>(folder: &Folder, op: &str, input: &[T], to: &str, more: &[&str]) -> Call {
    let args = ["scan", "-", "--op", op, "--dtype", T::NAME, "-o", to];
    folder.call(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

/// Checks one operation on one type: on the CPU and the emulator, in both forms, at some indices.
fn everywhere<T: Plain + Sample, A: Plain>(op: &str, more: &[&str]) {
    let input = inputs::<T>(op, LEN);
    for form in [None, Some("--exclusive")] {
        let write = |device: &str| {
            let folder = Folder::new();
            let args = ["--check", "--json", "--device", device];
            let args = [more, form.as_slice(), &args[..]].concat();
            let json = raw(&folder, op, &input, "out.npy", &args).json();
            assert_eq!(json["check"]["ok"], true, "{json}");
            assert_eq!(json["device"], device);
            folder
        };
        let [on_cpu, emulated] = ["cpu", "emulator"].map(write);
        assert_eq!(on_cpu.read("out.npy"), emulated.read("out.npy"), "the same bytes");
        let results = on_cpu.values::<A>("out.npy", LEN);
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
    xor "xor" []: u32 => u32, i64 => i64;
    and "and" []: i32 => i32, u64 => u64;
    or "or" []: u32 => u32, i64 => i64;
    count "count" []: f32 => u64, f64 => u64, i64 => u64;
}

#[test]
fn an_array_of_any_rank_is_scanned_flat_and_an_empty_one_stays_empty() {
    for (shape, n) in [("()", 1), ("(2, 3)", 6), ("(0, 5)", 0)] {
        let input: Vec<i64> = (1..=n).collect();
        let folder = Folder::new();
        let args = ["scan", "-", "--op", "sum", "-o", "out.npy", "-q"];
        folder.call(&args, &npy::shaped(shape, &input)).succeeds();
        let sums: Vec<i64> = (1..=n).map(|n| n * (n + 1) / 2).collect();
        assert_eq!(folder.values::<i64>("out.npy", n as usize), sums, "{shape}");
    }
}

#[test]
fn quiet_prints_nothing_and_the_text_says_what_was_written() {
    let folder = Folder::new();
    let quiet = raw(&folder, "sum", &[4i32, -9], "out.npy", &["-q"]).says_nothing();
    assert_eq!(quiet.stdout, "");
    let call = raw(&folder, "sum", &[4i32, -9], "out.npy", &["--check"]).says(&[
        "inclusive sum of 2 i32",
        "right",
        "out.npy: 2 elements of i64",
    ]);
    assert_eq!(call.stdout, "", "the result is in the file");
}

#[test]
fn a_failed_write_leaves_the_existing_output() {
    let folder = Folder::new().with("out.npy", "old");
    raw(&folder, "sum", &[1.0f32], "absent/out.npy", &[]).fails(WRONG_USAGE, &["absent"]);
    let call = raw(&folder, "xor", &[1.0f32], "out.npy", &[]);
    call.fails(WRONG_USAGE, &["--op xor", "i32 u32 i64 u64", "not of f32"]);
    assert_eq!(folder.read("out.npy"), b"old");
}

#[test]
fn invalid_calls_are_refused() {
    let folder = Folder::new();
    let to = "out.npy";
    raw(&folder, "sum", &[1i32], to, &["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "i32"]);
    raw(&folder, "min", &[1.0f32], to, &["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "min"]);
    raw(&folder, "sum", &[1.0f64], to, &["--acc", "f32"]).fails(WRONG_USAGE, &["--acc f32", "f64"]);
    raw(&folder, "sum", &[1i32], "-", &["--json"]).fails(WRONG_USAGE, &["-o"]);
    raw(&folder, "sum", &[1i32], to, &["--device", "cuda"]).fails(DEVICE_FAILURE, &["CUDA"]);
    without_cuda(&["scan", "x.npy", "--op", "sum"], b"").fails(WRONG_USAGE, &["--output"]);
    assert!(!folder.path(to).exists());
}

#[test]
fn the_result_at_a_nan_is_that_of_the_elements_before_it() {
    let nan = f32::NAN;
    let folder = Folder::new().with("x.npy", npy::of(&[nan, 1.0f32, nan, 3.0, -2.0, nan, 0.5]));
    let of = |op: &str, device: &str| {
        let args = ["scan", "x.npy", "--op", op, "--skip-nan", "-o", "out.npy", "--check"];
        folder.call(&[&args[..], &["--device", device]].concat(), b"").succeeds();
        folder.values::<f32>("out.npy", 7)
    };
    for device in ["cpu", "emulator"] {
        assert_eq!(of("sum", device), [0.0, 1.0, 1.0, 4.0, 2.0, 2.0, 2.5]);
        assert_eq!(of("prod", device), [1.0, 1.0, 1.0, 3.0, -6.0, -6.0, -3.0]);
        assert_eq!(of("max", device), [f32::NEG_INFINITY, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]);
        assert_eq!(of("min", device), [f32::INFINITY, 1.0, 1.0, 1.0, -2.0, -2.0, -2.0]);
    }
    let refused = |args: &[&str], needle: &str| {
        let args = [&["scan", "x.npy", "-o", "out.npy", "--skip-nan", "--op"], args].concat();
        let call = folder.call(&args, b"");
        call.fails(WRONG_USAGE, &[needle]);
    };
    refused(&["count"], "--skip-nan supports --op");
    refused(&["sum", "--acc", "f64"], "leave --acc out");
}

#[test]
fn logsumexp_accumulates_without_overflow() {
    let input: Vec<f32> = (0..2000).map(|i| 1000.0 + (i % 17) as f32).collect();
    let folder = Folder::new().with("x.npy", npy::of(&input));
    let mut written = Vec::new();
    for device in ["cpu", "emulator"] {
        let args = ["scan", "x.npy", "--op", "logsumexp", "-o", "out.npy", "--check", "--device"];
        folder.call(&[&args[..], &[device]].concat(), b"").succeeds();
        written.push(folder.read("out.npy"));
    }
    assert_eq!(written[0], written[1]);
    let found = folder.values::<f64>("out.npy", 2000);
    let mut sum = 0.0;
    for (i, &x) in input.iter().enumerate() {
        sum += (f64::from(x) - 1010.0).exp();
        assert!((found[i] - (1010.0 + sum.ln())).abs() < 1e-4, "{i}: {}", found[i]);
    }
}

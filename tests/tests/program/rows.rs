//! `gridsync reduce --rows`: each row of a matrix compared with a plain loop; its files and its
//! refusals.

use crate::call::{Call, WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use crate::matrix::matrix;
use gridsync_tests::devices::with_cuda;
use gridsync_tests::npy;
use gridsync_tests::oracle::{self, Plain};
use gridsync_verify::{Input, Sample, sample};
use half::f16;
use serde_json::Value;
use std::fs;

/// Columns of the matrices: rows are short, and start at any alignment.
const COLUMNS: usize = 77;

/// An upper bound on the roundings of any element of such a row.
const DEPTH: u64 = 64;

/// A folder with a file `x.npy` of `values` in rows of [`COLUMNS`].
fn matrix<T: Plain>(values: &[T]) -> Folder {
    let shape = format!("({}, {COLUMNS})", values.len() / COLUMNS);
    Folder::new().with("x.npy", npy::shaped(&shape, values))
}

/// Checks `op` on 13 rows of `T`, accumulated in `A`, on every device, with the results in a file.
fn everywhere<T: Plain + Sample, A: Plain>(op: &str, more: &[&str]) {
    let input = sample::<T>(Input::Values, 13 * COLUMNS, 3);
    let folder = matrix(&input);
    let base = ["reduce", "x.npy", "--rows", "--op", op, "-o", "out.npy", "--check", "--json"];
    let reduce = |call: fn(&Folder, &[&str], &[u8]) -> Call, device: &str| {
        let json = call(&folder, &[&base[..], &["--device", device], more].concat(), b"").json();
        assert_eq!((&json["rows"], &json["columns"]), (&13.into(), &COLUMNS.into()));
        assert_eq!(json["check"]["ok"], true, "{json}");
        assert!(json["results"].is_null(), "they are in the file: {json}");
        for (row, got) in folder.values::<A>("out.npy", 13).into_iter().enumerate() {
            let row = &input[row * COLUMNS..][..COLUMNS];
            let expected = oracle::reduce::<T, A>(op, row, DEPTH);
            assert!(expected.admits(got.number()), "{:?}", got.number());
        }
        fs::remove_file(folder.path("out.npy")).expect("it was there");
    };
    reduce(Folder::call, "cpu");
    reduce(Folder::call, "emulator");
    with_cuda(|_| reduce(Folder::gridsync, "cuda"));
}

matrix! {
    sum "sum" []: f16 => f32, f32 => f32, f64 => f64, i32 => i64, u32 => u64, i64 => i64, u64 => u64;
    min "min" []: f32 => f32, f64 => f64, i32 => i32, u32 => u32, i64 => i64, u64 => u64;
    max "max" []: f32 => f32, f64 => f64, i32 => i32, u32 => u32, i64 => i64, u64 => u64;
}

matrix! {
    sum_in_f64 "sum" ["--acc", "f64"]: f16 => f64, f32 => f64;
    sum_compensated "sum" ["--acc", "compensated"]: f32 => f32, f64 => f64;
}

#[test]
fn the_mean_of_rows_of_64_bit_integers_is_exact() {
    let value = 20_150_515_061_816_532_i64;
    let folder = Folder::new()
        .with("x.npy", npy::shaped("(500, 3)", &[value; 1500]))
        .with("y.npy", npy::shaped("(3, 2)", &[u64::MAX, u64::MAX - 2, 0, 1, 1 << 63, 1 << 63]));
    let mean = |line: &str, device: &str| {
        let line = format!("reduce {line} --op mean --check --json --device {device}");
        let json = folder.call(&line.split(' ').collect::<Vec<_>>(), b"").json();
        assert_eq!(json["check"]["ok"], true, "{json}");
        json["results"].clone()
    };
    for device in ["cpu", "emulator"] {
        assert_eq!(mean("x.npy --axis 0", device), Value::from(vec![value as f64; 3]));
        assert_eq!(mean("x.npy --rows", device), Value::from(vec![value as f64; 500]));
        let expected = vec![(u64::MAX - 1) as f64, 0.5, 2f64.powi(63)];
        assert_eq!(mean("y.npy --rows", device), Value::from(expected));
    }
}

#[test]
fn sums_of_rows_that_wrapped_around_are_reported() {
    let folder = Folder::new()
        .with("x.npy", npy::shaped("(3, 2)", &[1i64, 2, i64::MIN, -1, i64::MAX, 1]))
        .with("y.npy", npy::shaped("(1, 2)", &[u64::MAX, 3]));
    for device in ["cpu", "emulator"] {
        let sum = |name: &str, more: &str| {
            let line = format!("reduce {name} --op sum --rows --check --device {device} {more}");
            folder.call(&line.split_whitespace().collect::<Vec<_>>(), b"")
        };
        let says = "2 of 3 sums wrapped around in 64 bits: that of row 1 is -9223372036854775809";
        assert_eq!(
            sum("x.npy", "").says(&[says]).stdout,
            format!("3\n{}\n{}\n", i64::MAX, i64::MIN)
        );
        let json = sum("x.npy", "--json").json();
        let rows = json["wrapped"].as_array().expect("a list");
        assert_eq!((&rows[0]["row"], &rows[1]["row"]), (&1.into(), &2.into()), "{json}");
        assert_eq!(rows[1]["exact"], "9223372036854775808");
        sum("y.npy", "-o out.npy").says(&["that of row 0 is 18446744073709551618"]);
        assert_eq!(folder.read("out.npy"), npy::shaped("(1,)", &[2u64]));
    }
}

#[test]
fn results_are_printed_while_they_are_few() {
    let folder = matrix(&vec![2i32; 103 * COLUMNS]);
    let args = ["reduce", "x.npy", "--rows", "--op", "sum"];
    let printed = folder.call(&[&args[..], &["--quiet"]].concat(), b"").succeeds().stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 101);
    assert!(lines[..100].iter().all(|line| *line == "154"), "{printed}");
    assert!(lines[100].contains("3 more rows") && lines[100].contains("-o FILE"), "{printed}");
    let json = folder.call(&[&args[..], &["--json"]].concat(), b"").json();
    assert_eq!(json["results"].as_array().map(Vec::len), Some(103));
    assert_eq!(json["results"][102], 154);
}

#[test]
fn inputs_that_are_not_matrices_and_unsupported_reductions_are_refused() {
    let folder = matrix(&[1f32; 2 * COLUMNS])
        .with("number.npy", npy::shaped("()", &[0f32]))
        .with("nothing.npy", npy::shaped::<f32>("(1152921504606846976, 0)", &[]));
    let refused = |args: &[&str], says: &[&str]| {
        folder.call(&[&["reduce"], args].concat(), b"").fails(WRONG_USAGE, says);
    };
    refused(&["number.npy", "--rows", "--op", "sum"], &["one dimension or more", "has none"]);
    refused(
        &["nothing.npy", "--rows", "--op", "min"],
        &["min of no elements", "each of 1152921504606846976 rows of 0"],
    );
    refused(
        &["x.npy", "--rows", "--op", "count"],
        &["sum prod min max argmin argmax ptp", "count"],
    );
    refused(&["x.npy", "--rows", "--op", "max", "--acc", "f64"], &["--acc is for sum"]);
    refused(&["x.npy", "--rows", "--op", "sum", "--modulus", "7"], &["--modulus", "--rows"]);
    refused(&["x.npy", "--op", "sum", "-o", "out.npy"], &["--rows"]);
    refused(&["x.npy", "--rows", "--op", "sum", "-o", "-", "--json"], &["standard output"]);
    refused(
        &["x.npy", "--rows", "--op", "sum", "-o", "/no/such/folder/x.npy"],
        &["/no/such/folder/x.npy"],
    );
}

#[test]
fn the_sum_of_a_row_has_the_same_bits_as_alone() {
    let input = sample::<f32>(Input::Values, 5 * COLUMNS, 9);
    let args = ["reduce", "x.npy", "--rows", "--op", "sum", "--json"];
    let json = matrix(&input).call(&args, b"").json();
    for (row, result) in input.chunks(COLUMNS).zip(json["results"].as_array().expect("results")) {
        let args = ["reduce", "-", "--dtype", "f32", "--op", "sum", "--json"];
        let alone = without_cuda(&args, bytemuck::cast_slice(row)).json();
        assert_eq!(&alone["result"], result);
    }
}

#[test]
fn an_array_of_any_rank_has_rows_and_an_empty_row_gives_the_empty_sum() {
    let cube: Vec<i32> = (0..12).collect();
    let folder = Folder::new().with("x.npy", npy::shaped("(2, 2, 3)", &cube));
    let args = ["reduce", "x.npy", "--rows", "--op", "sum", "-o", "out.npy"];
    folder.call(&args, b"").succeeds();
    assert_eq!(folder.read("out.npy"), npy::shaped("(2, 2)", &[3i64, 12, 21, 30]));

    for (shape, rows) in [("(5, 0)", 5), ("(0, 5)", 0), ("(2, 3, 0)", 6), ("(4,)", 1)] {
        let len = if shape == "(4,)" { 4 } else { 0 };
        let file = npy::shaped(shape, &vec![0i32; len]);
        for device in ["cpu", "emulator"] {
            let args = ["reduce", "-", "--rows", "--op", "sum", "--json", "--check"];
            let json = without_cuda(&[&args[..], &["--device", device]].concat(), &file).json();
            assert_eq!(json["results"], Value::from(vec![0; rows]), "{shape} on {device}");
        }
    }
}

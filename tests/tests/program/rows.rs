//! `gridsync reduce --rows`: each row of a matrix compared with a plain loop; its files, and what
//! it refuses.

use crate::call::{Call, WRONG_USAGE, gridsync, without_cuda};
use crate::matrix::matrix;
use gridsync_program::verify::{Kind, Sample, sample};
use gridsync_tests::devices::with_cuda;
use gridsync_tests::npy;
use gridsync_tests::oracle::{self, Plain};
use half::f16;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Columns of the matrices: rows are short, and begin at any alignment.
const COLUMNS: usize = 77;

/// More roundings than any element of such a row goes through.
const DEPTH: u64 = 64;

/// A file of `values` in rows of [`COLUMNS`], and its folder.
fn matrix<T: Plain>(values: &[T]) -> (TempDir, PathBuf) {
    let shape = format!("({}, {COLUMNS})", values.len() / COLUMNS);
    let descr = T::NPY.expect("the format has a name for it");
    let header = npy::header(descr, false, &shape);
    write(&npy::raw(&header, bytemuck::cast_slice(values)))
}

fn write(file: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let path = folder.path().join("input.npy");
    fs::write(&path, file).expect("the input should be written");
    (folder, path)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path should be UTF-8")
}

/// The values of a `.npy` file, after checking that it holds `count` of them.
fn values<T: Plain>(path: &Path, count: usize) -> Vec<T> {
    let file = fs::read(path).expect("the results should be there");
    let header = npy::header(T::NPY.expect("it has a name"), false, &format!("({count},)"));
    let empty = npy::raw(&header, &[]);
    assert!(file.starts_with(&empty), "{:?}", String::from_utf8_lossy(&file));
    let values = file[empty.len()..].chunks_exact(size_of::<T>());
    values.map(bytemuck::pod_read_unaligned).collect()
}

/// Checks `op` on 13 rows of `T`, accumulated in `A`, on every device, with the results in a file.
fn everywhere<T: Plain + Sample, A: Plain>(op: &str, more: &[&str]) {
    let input = sample::<T>(Kind::Values, 13 * COLUMNS, 3);
    let (folder, path) = matrix(&input);
    let out = folder.path().join("out.npy");
    let base = ["reduce", text(&path), "--rows", "--op", op, "-o", text(&out), "--check", "--json"];
    let reduce = |call: fn(&[&str], &[u8]) -> Call, device: &str| {
        let json = call(&[&base[..], &["--device", device], more].concat(), b"").json();
        assert_eq!((&json["rows"], &json["columns"]), (&13.into(), &COLUMNS.into()));
        assert_eq!(json["check"]["ok"], true, "{json}");
        assert!(json["results"].is_null(), "they are in the file: {json}");
        for (row, got) in values::<A>(&out, 13).into_iter().enumerate() {
            let row = &input[row * COLUMNS..][..COLUMNS];
            let expected = oracle::reduce::<T, A>(op, row, DEPTH);
            assert!(expected.admits(got.number()), "{:?}", got.number());
        }
        fs::remove_file(&out).expect("it was there");
    };
    reduce(without_cuda, "cpu");
    reduce(without_cuda, "emulator");
    with_cuda(|_| reduce(gridsync, "cuda"));
}

matrix! {
    sum "sum" []: f16 => f32, f32 => f32, f64 => f64, i32 => i64, u32 => u64, i64 => i64, u64 => u64;
    min "min" []: f32 => f32, f64 => f64, i32 => i32, u32 => u32, i64 => i64, u64 => u64;
    max "max" []: f32 => f32, f64 => f64, i32 => i32, u32 => u32, i64 => i64, u64 => u64;
}

#[test]
fn results_are_printed_while_they_are_few() {
    let (_folder, path) = matrix(&vec![2i32; 103 * COLUMNS]);
    let args = ["reduce", text(&path), "--rows", "--op", "sum"];
    let printed = without_cuda(&[&args[..], &["--quiet"]].concat(), b"").succeeds().stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 101);
    assert!(lines[..100].iter().all(|line| *line == "154"), "{printed}");
    assert!(lines[100].contains("3 rows more") && lines[100].contains("-o FILE"), "{printed}");
    let json = without_cuda(&[&args[..], &["--json"]].concat(), b"").json();
    assert_eq!(json["results"].as_array().map(Vec::len), Some(103));
    assert_eq!(json["results"][102], 154);
}

#[test]
fn what_is_no_matrix_or_has_no_such_reduction_is_refused() {
    let (_folder, matrix) = matrix(&[1f32; 2 * COLUMNS]);
    let (_other, number) = write(&npy::raw(&npy::header("<f4", false, "()"), &[0; 4]));
    let header = npy::header("<f4", false, "(1152921504606846976, 0)");
    let (_third, nothing) = write(&npy::raw(&header, &[]));
    let refused = |args: &[&str], says: &[&str]| {
        without_cuda(&[&["reduce"], args].concat(), b"").fails(WRONG_USAGE, says);
    };
    let (matrix, number, nothing) = (text(&matrix), text(&number), text(&nothing));
    refused(&[number, "--rows", "--op", "sum"], &["one dimension or more", "has none"]);
    refused(
        &[nothing, "--rows", "--op", "min"],
        &["min of no elements", "1152921504606846976 rows"],
    );
    refused(&[matrix, "--rows", "--op", "count"], &["sum min max argmin argmax mean", "count"]);
    refused(&[matrix, "--rows", "--op", "sum", "--acc", "f64"], &["--acc", "--rows"]);
    refused(&[matrix, "--rows", "--op", "sum", "--modulus", "7"], &["--modulus", "--rows"]);
    refused(&[matrix, "--op", "sum", "-o", "x.npy"], &["--rows"]);
    refused(&[matrix, "--rows", "--op", "sum", "-o", "-", "--json"], &["standard output"]);
    refused(
        &[matrix, "--rows", "--op", "sum", "-o", "/no/such/folder/x.npy"],
        &["/no/such/folder/x.npy"],
    );
}

#[test]
fn the_sum_of_a_row_has_the_bits_that_it_has_alone() {
    let input = sample::<f32>(Kind::Values, 5 * COLUMNS, 9);
    let (_folder, path) = matrix(&input);
    let json =
        without_cuda(&["reduce", text(&path), "--rows", "--op", "sum", "--json"], b"").json();
    for (row, result) in input.chunks(COLUMNS).zip(json["results"].as_array().expect("results")) {
        let args = ["reduce", "-", "--dtype", "f32", "--op", "sum", "--json"];
        let alone = without_cuda(&args, bytemuck::cast_slice(row)).json();
        assert_eq!(&alone["result"], result);
    }
}

#[test]
fn an_array_of_any_rank_has_rows_and_a_row_of_nothing_sums_up_to_what_no_elements_do() {
    let cube: Vec<i32> = (0..12).collect();
    let header = npy::header("<i4", false, "(2, 2, 3)");
    let (folder, path) = write(&npy::raw(&header, bytemuck::cast_slice(&cube)));
    let out = folder.path().join("out.npy");
    let args = ["reduce", text(&path), "--rows", "--op", "sum", "-o", text(&out)];
    without_cuda(&args, b"").succeeds();
    let header = npy::header("<i8", false, "(2, 2)");
    let sums = npy::raw(&header, bytemuck::cast_slice(&[3i64, 12, 21, 30]));
    assert_eq!(fs::read(&out).expect("it was written"), sums);

    for (shape, rows) in [("(5, 0)", 5), ("(0, 5)", 0), ("(2, 3, 0)", 6), ("(4,)", 1)] {
        let len = if shape == "(4,)" { 4 } else { 0 };
        let file = npy::raw(&npy::header("<i4", false, shape), &vec![0; 4 * len]);
        for device in ["cpu", "emulator"] {
            let args = ["reduce", "-", "--rows", "--op", "sum", "--json", "--check"];
            let json = without_cuda(&[&args[..], &["--device", device]].concat(), &file).json();
            assert_eq!(json["results"], Value::from(vec![0; rows]), "{shape} on {device}");
        }
    }
}

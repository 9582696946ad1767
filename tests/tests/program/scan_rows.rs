//! `gridsync scan --rows`: scans each row alone, and keeps the shape of the array.

use crate::call::{Call, WRONG_USAGE, without_cuda};
use gridsync_tests::npy;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder with a file of `rows` × `columns` numbers, counted from 1 on.
fn matrix(rows: i32, columns: i32) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let path = folder.path().join("matrix.npy");
    let numbers: Vec<i32> = (1..=rows * columns).collect();
    let header = npy::header("<i4", false, &format!("({rows}, {columns})"));
    fs::write(&path, npy::raw(&header, bytemuck::cast_slice(&numbers)))
        .expect("the folder is there to write to");
    let path = path.to_str().expect("its path should be UTF-8").to_owned();
    (folder, path)
}

fn scan(input: &str, op: &str, to: &Path, more: &[&str]) -> Call {
    let to = to.to_str().expect("its path should be UTF-8");
    without_cuda(&[&["scan", input, "--op", op, "--rows", "-o", to], more].concat(), &[])
}

#[test]
fn each_row_is_summed_up_by_itself() {
    let (rows, columns) = (37, 29);
    for device in ["emulator", "cpu"] {
        for form in [None, Some("--exclusive")] {
            let (folder, input) = matrix(rows, columns);
            let to = folder.path().join("out.npy");
            let more = [&["--device", device, "--check", "--json"], form.as_slice()].concat();
            let json = scan(&input, "sum", &to, &more).json();
            assert_eq!(json["check"]["ok"], true, "{json}");
            let sums: Vec<i64> = (0..rows)
                .flat_map(|row| {
                    (0..columns).scan(0, move |sum, column| {
                        let before = *sum;
                        *sum += i64::from(row * columns + column + 1);
                        Some(if form.is_none() { *sum } else { before })
                    })
                })
                .collect();
            let header = npy::header("<i8", false, &format!("({rows}, {columns})"));
            let expected = npy::raw(&header, bytemuck::cast_slice(&sums));
            let got = fs::read(&to).expect("the output should be there");
            assert!(got == expected, "{device}, {form:?}: other bytes");
        }
    }
}

#[test]
fn rows_are_refused_for_operations_that_have_no_such_kernel_and_beside_parts() {
    let (folder, input) = matrix(2, 3);
    let to = folder.path().join("out.npy");
    let call = scan(&input, "xor", &to, &[]);
    call.fails(WRONG_USAGE, &["--rows scans by sum min max, not by xor"]);
    let call = scan(&input, "sum", &to, &["--part", "1000"]);
    call.fails(WRONG_USAGE, &["--part", "--rows"]);
    assert!(!to.exists(), "nothing is written");
}

//! `gridsync scan --rows`: scans each row alone, and keeps the shape of the array.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use half::{bf16, f16};

/// A folder with a file of `rows` × `columns` numbers: 1, 2, 3…
fn matrix(rows: i32, columns: i32) -> Folder {
    let numbers: Vec<i32> = (1..=rows * columns).collect();
    Folder::new().with("x.npy", npy::shaped(&format!("({rows}, {columns})"), &numbers))
}

/// Scans each row of the file.
fn scan(folder: &Folder, op: &str, more: &[&str]) -> Call {
    let args = ["scan", "x.npy", "--op", op, "--rows", "-o", "out.npy"];
    folder.call(&[&args, more].concat(), b"")
}

#[test]
fn each_row_is_scanned_separately() {
    let (rows, columns) = (37, 29);
    for device in ["emulator", "cpu"] {
        for form in [None, Some("--exclusive")] {
            let folder = matrix(rows, columns);
            let more = [&["--device", device, "--check", "--json"], form.as_slice()].concat();
            let json = scan(&folder, "sum", &more).json();
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
            let expected = npy::shaped(&format!("({rows}, {columns})"), &sums);
            assert!(folder.read("out.npy") == expected, "{device}, {form:?}: other bytes");
        }
    }
}

#[test]
fn rows_of_f16_and_bf16_are_scanned_in_f32() {
    let halves: Vec<f16> = (0..12).map(|i| f16::from_f32(i as f32 * 0.5)).collect();
    let bytes: Vec<bf16> = halves.iter().map(|x| bf16::from_f32(x.to_f32())).collect();
    let sums: Vec<f32> =
        (0..12).map(|at| halves[at / 4 * 4..=at].iter().map(|x| x.to_f32()).sum()).collect();
    let folder = Folder::new().with("x.npy", npy::shaped("(3, 4)", &halves));
    for device in ["cpu", "emulator"] {
        let json = scan(&folder, "sum", &["--check", "--json", "--device", device]).json();
        assert_eq!((&json["stored"], &json["dtype"]), (&"f16".into(), &"f32".into()), "{json}");
        assert!(folder.read("out.npy") == npy::shaped("(3, 4)", &sums), "{device}");
        let args = ["scan", "-", "--dtype", "bf16", "--op", "sum", "--rows", "-o", "out.npy"];
        let call =
            folder.call(&[&args[..], &["--device", device]].concat(), bytemuck::cast_slice(&bytes));
        call.succeeds();
        let all: Vec<f32> = (0..12).map(|at| (0..=at).map(|i| i as f32 * 0.5).sum()).collect();
        assert!(folder.read("out.npy") == npy::shaped("(12,)", &all), "{device}");
    }
}

#[test]
fn rows_are_refused_for_operations_without_such_a_kernel() {
    let folder = matrix(2, 3);
    let call = scan(&folder, "xor", &[]);
    call.fails(WRONG_USAGE, &["--rows scans by sum min max, not by xor"]);
    assert!(!folder.path("out.npy").exists(), "nothing is written");
}

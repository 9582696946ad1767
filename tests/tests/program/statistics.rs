//! `gridsync reduce` by variances, norms and ranges, and without the elements that are NaN.

use crate::call::WRONG_USAGE;
use crate::folder::Folder;
use gridsync_tests::npy;
use serde_json::{Value, json};

/// The result of an operation on each device that runs here.
#[track_caller]
fn is(folder: &Folder, args: &[&str], expected: &Value) {
    for device in ["cpu", "emulator"] {
        let args = [&["reduce", "x.npy", "--json", "--check", "--device", device, "--op"], args];
        let json = folder.call(&args.concat(), b"").json();
        assert_eq!(&json["result"], expected, "{args:?}");
        assert_eq!(json["check"]["ok"], true, "{json}");
    }
}

fn array<T: gridsync_tests::oracle::Plain>(values: &[T]) -> Folder {
    Folder::new().with("x.npy", npy::of(values))
}

#[test]
fn statistics_of_few_numbers_are_those_computed_by_hand() {
    let folder = array(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
    is(&folder, &["var"], &json!(22.5));
    is(&folder, &["var", "--ddof", "1"], &json!(30.0));
    is(&folder, &["std", "--ddof", "1"], &json!(30f64.sqrt()));
    is(&folder, &["ptp"], &json!(12.0));
    let folder = array(&[3.0f32, -4.0, 0.0]);
    is(&folder, &["sum-squares"], &json!(25.0));
    is(&folder, &["norm"], &json!(5.0));
    is(&folder, &["l1"], &json!(7.0));
    is(&folder, &["any"], &json!(true));
    is(&folder, &["all"], &json!(false));
    is(&array::<u32>(&[]), &["any"], &json!(false));
    is(&array::<u32>(&[]), &["all"], &json!(true));
    is(&array::<u32>(&[]), &["norm"], &json!(0.0));
}

#[test]
fn distances_and_magnitudes_of_integers_are_unsigned_and_exact() {
    let folder = array(&[i64::MIN, i64::MAX]);
    is(&folder, &["ptp"], &json!(u64::MAX));
    is(&folder, &["l1"], &json!(u64::MAX));
    is(&folder, &["var"], &json!(2f64.powi(126)));
    let folder = array(&[i64::MIN; 3]);
    is(&folder, &["l1"], &json!(1u64 << 63));
    let args = ["reduce", "x.npy", "--op", "l1", "--json"];
    assert_eq!(folder.call(&args, b"").json()["exact"], "27670116110564327424");
    is(&array(&[i32::MIN, i32::MAX]), &["ptp"], &json!(u32::MAX));
}

#[test]
fn elements_that_are_nan_can_be_skipped() {
    let folder = array(&[f32::NAN, 4.0, f32::NAN, 7.0, 13.0, 16.0, -f32::NAN]);
    is(&folder, &["sum"], &json!("NaN"));
    let skips = |args: &[&str], expected: Value| {
        is(&folder, &[args, &["--skip-nan"]].concat(), &expected);
    };
    skips(&["sum"], json!(40.0));
    skips(&["mean"], json!(10.0));
    skips(&["min"], json!(4.0));
    skips(&["max"], json!(16.0));
    skips(&["ptp"], json!(12.0));
    skips(&["var", "--ddof", "1"], json!(30.0));
    skips(&["std"], json!(22.5f64.sqrt()));
    skips(&["argmin"], json!(1));
    skips(&["argmax"], json!(5));
    is(&array(&[4, 7]), &["sum", "--skip-nan"], &json!(11));

    let folder = array(&[f64::NAN; 5]);
    is(&folder, &["mean", "--skip-nan"], &json!("NaN"));
    is(&folder, &["min", "--skip-nan"], &json!("NaN"));
    let args = ["reduce", "x.npy", "--op", "argmin", "--skip-nan"];
    folder.call(&args, b"").fails(WRONG_USAGE, &["argmin of no numbers", "all 5 are NaN"]);
}

#[test]
fn lines_have_the_statistics_that_they_have_alone() {
    let cells: Vec<f32> = (0..12).map(|i| if i == 5 { f32::NAN } else { (i * i) as f32 }).collect();
    let folder = Folder::new().with("x.npy", npy::shaped("(3, 4)", &cells));
    for ops in
        [&["var", "--ddof", "1"][..], &["std"], &["norm"], &["l1"], &["ptp"], &["sum-squares"]]
    {
        for skip in [&[][..], &["--skip-nan"]] {
            if !skip.is_empty() && !["var", "std", "ptp"].contains(&ops[0]) {
                continue;
            }
            for (axis, lines) in [("0", 4), ("1", 3)] {
                let args = ["reduce", "x.npy", "--axis", axis, "--check", "--json", "--op"];
                let args = [&args[..], ops, skip].concat();
                let of_lines = folder.call(&args, b"").json();
                for line in 0..lines {
                    let cells: Vec<f32> = match axis {
                        "0" => cells[line..].iter().step_by(4).copied().collect(),
                        _ => cells[4 * line..4 * line + 4].to_vec(),
                    };
                    let args = [&["reduce", "x.npy", "--json", "--op"], ops, skip].concat();
                    let alone = array(&cells).call(&args, b"").json();
                    assert_eq!(of_lines["results"][line], alone["result"], "{ops:?}, line {line}");
                }
            }
        }
    }
    let cells = [4.0f32, 7.0, 13.0, 16.0, 5.0, 5.0, 5.0, 5.0];
    let folder = Folder::new().with("x.npy", npy::shaped("(2, 4)", &cells));
    let args = ["reduce", "x.npy", "--rows", "--op", "var", "--ddof", "1", "-o", "out.npy"];
    folder.call(&args, b"").succeeds();
    assert_eq!(folder.read("out.npy"), npy::shaped("(2,)", &[30.0f64, 0.0]));
}

#[test]
fn divisors_and_operations_that_do_not_exist_are_refused() {
    let folder = array(&[1.0f32, 2.0]).with("none.npy", npy::of::<f32>(&[]));
    let refused = |args: &[&str], says: &[&str]| {
        folder.call(&[&["reduce"], args].concat(), b"").fails(WRONG_USAGE, says);
    };
    refused(&["x.npy", "--op", "var", "--ddof", "2"], &["more than 2 elements", "there are 2"]);
    refused(&["x.npy", "--op", "std", "--ddof", "2", "--rows"], &["more than 2", "there are 2"]);
    refused(&["x.npy", "--op", "sum", "--ddof", "1"], &["--ddof is for var and std", "sum"]);
    refused(&["x.npy", "--op", "count", "--skip-nan"], &["--skip-nan supports", "ptp", "count"]);
    refused(&["x.npy", "--op", "sum", "--skip-nan", "--acc", "f64"], &["leave --acc out"]);
    refused(&["x.npy", "--op", "norm", "--acc", "f64"], &["--acc is for sum, prod and mean"]);
    refused(&["none.npy", "--op", "var"], &["var of an empty array is not defined"]);
    refused(&["none.npy", "--op", "ptp"], &["ptp of an empty array is not defined"]);
}

//! `gridsync describe`: its output, its check, and its refusals.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use half::f16;
use serde_json::{Value, json};

/// A folder with an array.
fn array<T: Plain>(values: &[T]) -> Folder {
    Folder::new().with("x.npy", npy::of(values))
}

fn describe(folder: &Folder, more: &[&str]) -> Call {
    folder.call(&[&["describe", "x.npy"], more].concat(), b"")
}

/// Checks these fields of the JSON on each device that runs here.
#[track_caller]
fn has(folder: &Folder, more: &[&str], expected: &Value) {
    for device in ["cpu", "emulator"] {
        let args = [more, &["--json", "--check", "--device", device]].concat();
        let json = describe(folder, &args).json();
        for (field, value) in expected.as_object().expect("fields") {
            assert_eq!(&json[field], value, "{field} on {device}: {json}");
        }
        assert_eq!(json["check"]["ok"], true, "{json}");
    }
}

#[test]
fn a_table_has_the_statistics_computed_by_hand() {
    let folder = array(&[f32::NAN, 4.0, 7.0, -f32::NAN, 13.0, 16.0]);
    let table = "count  4\nNaN    2\nmean   10.0\nstd    5.477225575051661\nmin    4.0\nmax    16.0\nsum    40.0\n";
    for device in ["cpu", "emulator", "emulator:2"] {
        let args = ["--ddof", "1", "--check", "--device", device];
        let said = describe(&folder, &args).says(&["statistics of 6 f32 elements", "right"]);
        assert_eq!(said.stdout, table);
        let quiet = describe(&folder, &["--ddof", "1", "-q", "--device", device]).says_nothing();
        assert_eq!(quiet.stdout, table);
    }
    let all = json!({
        "op": "describe", "n": 6, "ddof": 0, "count": 4, "nan": 2, "mean": 10.0,
        "std": 22.5f64.sqrt(), "min": 4.0, "max": 16.0, "sum": 40.0, "exact": null
    });
    has(&folder, &[], &all);
}

#[test]
fn sums_of_integers_are_exact() {
    has(&array(&[i8::MIN; 3].map(i32::from)), &[], &json!({ "sum": -384, "mean": -128.0 }));
    has(&array(&[u64::MAX]), &[], &json!({ "sum": u64::MAX, "max": u64::MAX, "exact": null }));
    let folder = array(&[i64::MAX; 4]);
    let exact = (4 * i128::from(i64::MAX)).to_string();
    let fields = json!({ "sum": 2f64.powi(65), "exact": exact, "min": i64::MAX, "std": 0.0 });
    has(&folder, &[], &fields);
    let table = describe(&folder, &["-q"]).succeeds().stdout;
    assert!(table.ends_with(&format!("sum    {exact}\n")), "{table}");
}

#[test]
fn what_is_not_defined_is_null_and_a_dash() {
    let of_none = json!({
        "count": 0, "mean": null, "std": null, "min": null, "max": null, "sum": 0.0
    });
    has(&array(&[f64::NAN; 3]), &[], &of_none);
    has(&array::<f64>(&[]), &[], &of_none);
    has(&array(&[2u32, 4]), &["--ddof", "2"], &json!({ "mean": 3.0, "std": null, "sum": 6 }));
    let table = describe(&array::<i32>(&[]), &["-q"]).succeeds().stdout;
    assert_eq!(table, "count  0\nNaN    0\nmean   -\nstd    -\nmin    -\nmax    -\nsum    0\n");
    let infinite = json!({ "mean": "inf", "std": "NaN", "min": 1.0, "max": "inf", "sum": "inf" });
    has(&array(&[1.0, f64::INFINITY]), &[], &infinite);
}

#[test]
fn parts_have_the_statistics_of_the_whole() {
    let values: Vec<f64> =
        (0..700_000).map(|i| f64::from(i % 9973 * 7919 % 10_007) / 7.0).collect();
    let folder = array(&values);
    let table = |more: &[&str]| describe(&folder, &[more, &["-q"]].concat()).succeeds().stdout;
    let whole = table(&["--device", "cpu"]);
    assert_eq!(table(&["--device", "cpu", "--part", "100000"]), whole);
    assert_eq!(table(&["--device", "emulator:2", "--part", "300000"]), whole);
}

#[test]
fn short_floats_and_wrong_flags_are_refused() {
    let types = ["describe supports f32 f64 i32 u32 i64 u64, not f16", "convert"];
    describe(&array(&[f16::ONE]), &[]).fails(WRONG_USAGE, &types);
    describe(&array(&[1i32]), &["--ddof", "x"]).fails(WRONG_USAGE, &["--ddof"]);
    describe(&Folder::new(), &[]).fails(WRONG_USAGE, &["x.npy"]);
}

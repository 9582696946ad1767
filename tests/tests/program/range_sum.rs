//! `gridsync range-sum`: its output, its check, and the queries that it refuses.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use gridsync_verify::{Input, sample, sample_ranges};

/// A folder with an array, and with queries whose header has the shape `shape`.
fn files<T: Plain, Q: Plain>(array: &[T], shape: &str, queries: &[Q]) -> Folder {
    Folder::new().with("data.npy", npy::of(array)).with("queries.npy", npy::shaped(shape, queries))
}

/// Calls the program for the sums.
fn range_sum(folder: &Folder, more: &[&str]) -> Call {
    let args = ["range-sum", "data.npy", "queries.npy", "-o", "out.npy"];
    folder.call(&[&args[..], more].concat(), b"")
}

/// Checks that the call fails with a line that contains `parts`, and writes nothing.
#[track_caller]
fn refuses(folder: &Folder, parts: &[&str]) {
    for device in ["cpu", "emulator"] {
        range_sum(folder, &["--device", device]).fails(WRONG_USAGE, parts);
    }
    assert!(!folder.path("out.npy").exists());
}

#[test]
fn each_query_gets_the_sum_of_its_range() {
    for device in ["cpu", "emulator"] {
        let folder = files(&[3i32, -1, 4, 1, -5], "(4, 2)", &[0i64, 5, 1, 3, 2, 2, 4, 5]);
        let json = range_sum(&folder, &["--check", "--json", "--device", device]).json();
        assert_eq!(folder.values::<i64>("out.npy", 4), [2, 3, 0, -5]);
        assert_eq!((&json["check"]["ok"], &json["queries"]), (&true.into(), &4.into()));
        assert_eq!((&json["n"], &json["dtype"]), (&5.into(), &"i32".into()));
    }
}

#[test]
fn floats_are_summed_in_f64_unless_told_otherwise() {
    let input = sample::<f32>(Input::Values, 3003, 1);
    let queries = sample_ranges(3003, 500, 2);
    let folder = files(&input, "(500, 2)", queries.as_flattened());
    let sums = |device: &str, more: &[&str]| {
        let args = [&["--check", "--device", device][..], more].concat();
        range_sum(&folder, &args).says(&["right"]);
        folder.read("out.npy")
    };
    assert_eq!(sums("cpu", &["--acc", "f32"]), sums("emulator", &["--acc", "f32"]));
    assert_eq!(folder.values::<f32>("out.npy", 500).len(), 500);
    assert_eq!(sums("cpu", &[]), sums("emulator", &[]));
    for (sum, [from, to]) in folder.values::<f64>("out.npy", 500).into_iter().zip(queries) {
        let range = &input[from as usize..to as usize];
        let expected: f64 = range.iter().map(|&x| f64::from(x)).sum();
        assert!((sum - expected).abs() < 1e-6, "{from}..{to}: {sum}, not {expected}");
    }
}

#[test]
fn the_sum_of_an_empty_range_of_floats_is_positive_zero() {
    let folder = files(&[1.0f64, 2.0], "(2, 2)", &[0i64, 0, 1, 1]);
    for more in [&["--device", "cpu"][..], &["--device", "emulator"], &["-q", "--part", "1"]] {
        range_sum(&folder, more).succeeds();
        let sums = folder.values::<f64>("out.npy", 2);
        assert!(sums.iter().all(|sum| sum.to_bits() == 0), "{sums:?} with {more:?}");
    }
}

#[test]
fn sums_that_lose_their_digits_to_larger_elements_are_counted() {
    let folder = files(&[-9e33f64, 1.5, 2.5, 9e33], "(3, 2)", &[0i64, 1, 1, 3, 2, 4]);
    for device in ["cpu", "emulator"] {
        let note = "1 of 3 sums have fewer than three certain digits";
        range_sum(&folder, &["--device", device]).says(&[note, "query 1, 1..3, is 0e0"]);
        let json = range_sum(&folder, &["--device", device, "--json", "--check"]).json();
        assert_eq!(json["uncertain"], 1, "{json}");
    }
}

#[test]
fn zero_queries_give_zero_sums() {
    let folder = files(&[1u32; 3], "(0, 2)", &[0u32; 0]);
    range_sum(&folder, &["-q"]).succeeds();
    assert_eq!(folder.values::<u64>("out.npy", 0), [0u64; 0]);
}

#[test]
fn the_first_invalid_range_is_reported() {
    let array = [1.0f64; 10];
    let of = |queries: &[i64; 6]| files(&array, "(3, 2)", queries);
    refuses(&of(&[0, 5, 5, 3, 0, 99]), &["query 1: 5..3 is not a valid range of 10 elements"]);
    refuses(&of(&[0, 5, 3, 3, 10, 11]), &["query 2: 10..11", "10 elements"]);
    refuses(&of(&[0, 5, -1, 3, 9, 8]), &["query 1: -1..3", "start at 0"]);
}

#[test]
fn invalid_queries_are_refused() {
    let array = [1.0f64; 10];
    refuses(&files(&array, "(6,)", &[0i64; 6]), &["m × 2", "[6]"]);
    refuses(&files(&array, "(2, 3)", &[0i64; 6]), &["m × 2", "[2, 3]"]);
    refuses(&files(&array, "(3, 2)", &[0f32; 6]), &["integers", "f32"]);
    let folder = files(&[1i32; 10], "(1, 2)", &[0i64, 1]);
    range_sum(&folder, &["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "i32"]);
    let folder = files(&array, "(1, 2)", &[0i64, 1]);
    range_sum(&folder, &["--acc", "f32"]).fails(WRONG_USAGE, &["--acc f32", "f64"]);
}

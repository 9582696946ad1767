//! `gridsync kendall`: its output, its check, and its refusals.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::devices::skipped;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use gridsync_verify::Ties;
use std::process::Command;

/// A folder with two arrays.
fn files<T: Plain, U: Plain>(x: &[T], y: &[U]) -> Folder {
    Folder::new().with("x.npy", npy::of(x)).with("y.npy", npy::of(y))
}

/// Correlates the arrays of `folder`.
fn kendall(folder: &Folder, more: &[&str]) -> Call {
    folder.call(&[&["kendall", "x.npy", "y.npy"], more].concat(), b"")
}

const X: [i32; 5] = [12, 2, 1, 12, 2];
const Y: [i32; 5] = [1, 4, 7, 1, 0];

#[test]
fn the_example_of_scipys_documentation_has_its_value_and_counts() {
    for device in ["cpu", "emulator"] {
        let folder = files(&X, &Y);
        let json = kendall(&folder, &["--check", "--json", "--device", device]).json();
        let tau = json["tau"].as_f64().expect("it should be a number");
        assert!((tau + 0.471_404_520_791_031_73).abs() <= 2.0 * f64::EPSILON, "{json}");
        assert_eq!((&json["concordant"], &json["discordant"]), (&2.into(), &6.into()));
        assert_eq!((&json["ties_x"], &json["ties_y"]), (&2.into(), &1.into()));
        assert_eq!(json["ties_both"], 1);
        assert_eq!(json["check"]["ok"], true);
        assert_eq!((&json["n"], &json["dtype"]), (&5.into(), &"i32".into()));
        let call = kendall(&folder, &["--check", "--device", device]).says(&[
            "concordant 2, discordant 6, ties: 2 in x, 1 in y, 1 in both",
            "5 i32 places",
            "right",
        ]);
        assert_eq!(call.stdout, "-0.4714045207910316\n");
        let quiet = kendall(&folder, &["-q", "--device", device]).says_nothing().stdout;
        assert_eq!(quiet, "-0.4714045207910316\n");
    }
}

#[test]
fn arrays_that_cannot_be_ranked_or_paired_are_refused() {
    let x_y = |x: &[f32], y: &[f32], parts: &[&str]| {
        for device in ["cpu", "emulator"] {
            let folder = files(x, y);
            kendall(&folder, &["--device", device]).fails(WRONG_USAGE, parts);
        }
    };
    x_y(&[1.0, f32::NAN, 2.0], &[1.0; 3], &["x[1] is NaN"]);
    x_y(&[1.0; 3], &[1.0, 2.0, f32::NAN], &["y[2] is NaN"]);
    x_y(&[1.0; 3], &[1.0; 2], &["3", "2", "the same length"]);
    kendall(&files(&X, &[1i64; 5]), &[]).fails(WRONG_USAGE, &["i32", "i64", "convert"]);
    let halves = [half::f16::ONE; 3];
    kendall(&files(&halves, &halves), &[]).fails(WRONG_USAGE, &["f16", "convert"]);
}

#[test]
fn many_small_parts_are_reported() {
    let (x, y) = Ties::Few.sample::<f32>(1000, 3);
    let folder = files(&x, &y);
    let call = kendall(&folder, &["--device", "cpu", "--part", "20"]);
    let says = "parts of 20 of 1000 elements need 5050 correlations: a larger --part is faster";
    assert!(call.code == Some(0) && call.stderr.contains(says), "{call:?}");
    kendall(&folder, &["--device", "cpu", "--part", "500"]).succeeds();
    kendall(&folder, &["--device", "cpu", "--part", "20", "-q"]).says_nothing();
}

#[test]
fn tau_of_a_constant_or_empty_array_is_undefined() {
    for (x, y) in [(&[1, 1, 1][..], &[1, 2, 3][..]), (&[], &[])] {
        let json = kendall(&files(x, y), &["--json"]).json();
        assert_eq!(json["tau"], "NaN", "{json}");
    }
}

#[test]
fn tau_is_that_of_scipy_to_the_last_digits() {
    let script = "import sys, numpy, scipy.stats\n\
                  x, y = (numpy.load(path) for path in sys.argv[1:])\n\
                  print(repr(float(scipy.stats.kendalltau(x, y).statistic)))";
    for ties in [Ties::Few, Ties::Many, Ties::Blocks] {
        let (x, y) = ties.sample::<f64>(5000, 3);
        let folder = files(&x, &y);
        let mut python = Command::new("python3");
        python.args(["-c", script]).args([folder.path("x.npy"), folder.path("y.npy")]);
        let Some(output) = python.output().ok().filter(|output| output.status.success()) else {
            return skipped("no Python with SciPy");
        };
        let expected: f64 = String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .expect("SciPy should print a number");
        let json = kendall(&folder, &["--json"]).json();
        let tau = json["tau"].as_f64().expect("it should be a number");
        assert!((tau - expected).abs() <= 4.0 * f64::EPSILON, "{tau} and {expected}");
    }
}

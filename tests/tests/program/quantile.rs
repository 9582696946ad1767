//! `gridsync quantile`: its text, its JSON, its check, and its refusals.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use half::{bf16, f16};
use serde_json::{Value, json};

/// Computes quantiles of `input`, raw on standard input.
fn raw<T: Plain>(input: &[T], more: &[&str]) -> Call {
    let args = ["quantile", "-", "--dtype", T::NAME];
    Folder::new().call(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

/// The quantiles of `input` on the CPU and in the emulator, as JSON.
#[track_caller]
fn everywhere<T: Plain>(input: &[T], more: &[&str]) -> Vec<Value> {
    let on = |device| {
        let json = raw(input, &[more, &["--check", "--json", "--device", device]].concat()).json();
        assert_eq!((&json["check"]["ok"], &json["device"]), (&true.into(), &device.into()));
        assert_eq!((&json["op"], &json["n"]), (&"quantile".into(), &input.len().into()));
        json["quantiles"].as_array().expect("the quantiles").clone()
    };
    let found = on("cpu");
    assert_eq!(found, on("emulator"), "{} {more:?}", T::NAME);
    found
}

/// The values of these quantiles.
#[track_caller]
fn values<T: Plain>(input: &[T], more: &[&str]) -> Vec<f64> {
    let found = everywhere(input, more);
    found.iter().map(|quantile| quantile["value"].as_f64().expect("a number")).collect()
}

#[test]
fn elements_of_every_type_have_quartiles() {
    // From 0 to 120, 12 times, in another order.
    let numbers = || (0..1452u32).map(|i| (i * 37 % 121) as u8);
    let quartiles = [30.0, 60.0, 90.0];
    macro_rules! types {
        ($($ty:ident)*) => {$(
            let input: Vec<$ty> = numbers().map(<$ty>::from).collect();
            assert_eq!(values(&input, &[]), quartiles, stringify!($ty));
        )*};
    }
    types! { f16 bf16 f32 f64 i32 u32 i64 u64 }
}

#[test]
fn each_method_gives_the_results_of_numpy() {
    // By numpy.quantile of NumPy 2.4.6.
    let input = [16.0, 1.0, 8.0, 2.0, 32.0, 4.0];
    for (method, expected) in [
        ("inverted_cdf", [2.0, 2.0, 4.0, 32.0]),
        ("averaged_inverted_cdf", [2.0, 2.0, 6.0, 32.0]),
        ("closest_observation", [1.0, 2.0, 4.0, 16.0]),
        ("interpolated_inverted_cdf", [1.2, 1.5, 4.0, 22.4]),
        ("hazen", [1.7, 2.0, 6.0, 30.4]),
        ("weibull", [1.4, 1.75, 6.0, 32.0]),
        ("linear", [2.0, 2.5, 6.0, 24.0]),
        ("median_unbiased", [1.6, 23.0 / 12.0, 6.0, 32.0]),
        ("normal_unbiased", [1.625, 1.9375, 6.0, 32.0]),
    ] {
        let found = values::<f64>(&input, &["0.2", "0.25", "0.5", "0.9", "--method", method]);
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{method}: {found}, not {expected}");
        }
    }
}

#[test]
fn any_number_of_quantiles_is_computed_in_the_order_of_the_call() {
    let input: Vec<i32> = (0..101).rev().collect();
    let qs: Vec<String> = (0..=100).rev().map(|percent| format!("0.{percent:02}")).collect();
    let qs: Vec<&str> = qs.iter().map(|q| if q == "0.100" { "1" } else { q }).collect();
    let found = values(&input, &qs);
    assert_eq!((found.len(), found[0], found[100]), (101, 100.0, 0.0));
    assert!(found.is_sorted_by(|a, b| a > b), "{found:?}");
    assert_eq!(values(&input, &["1", "0", "0.5", "0.5"]), [100.0, 0.0, 50.0, 50.0]);
}

#[test]
fn the_first_dimension_of_quantiles_of_lines_is_that_of_the_quantiles() {
    let input: Vec<f32> = (0..12u8).map(|i| f32::from(i * 7 % 12)).collect();
    let folder = Folder::new().with("x.npy", npy::shaped("(2, 3, 2)", &input));
    let of_pairs = [[1.75, 3.75, 5.75, 2.25, 4.25, 6.25], [3.5, 5.5, 7.5, 3.5, 5.5, 7.5]].concat();
    let of_ends = [[1.5, 2.5, 3.5, 4.5, 5.5, 6.5], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]].concat();
    let of_columns = [[1.0, 8.0, 7.0, 2.0], [2.0, 9.0, 8.0, 3.0]].concat();
    for (lines, shape, expected) in [
        (&["--axis", "0"][..], "(2, 3, 2)", of_ends),
        (&["--axis", "1"], "(2, 2, 2)", of_columns),
        (&["--rows"], "(2, 2, 3)", of_pairs),
    ] {
        for device in ["cpu", "emulator"] {
            let args = ["quantile", "x.npy", "0.25", "0.5", "-o", "q.npy", "--check", "--json"];
            let json = folder.call(&[&args, lines, &["--device", device]].concat(), b"").json();
            assert_eq!(json["check"]["ok"], true, "{lines:?}");
            assert_eq!((&json["output"], &json["quantiles"]), (&"q.npy".into(), &Value::Null));
            assert!(folder.read("q.npy") == npy::shaped(shape, &expected), "{lines:?} on {device}");
        }
    }
    let args = ["quantile", "x.npy", "--rows"];
    folder.call(&args, b"").fails(WRONG_USAGE, &["--rows prints nothing", "-o"]);
}

#[test]
fn a_nan_makes_every_quantile_nan() {
    let mut input = vec![1.0f32; 3000];
    input[1234] = f32::NAN;
    let nans = json!([{ "q": 0.0, "value": "NaN" }, { "q": 1.0, "value": "NaN" }]);
    assert_eq!(everywhere(&input, &["0", "1"]), *nans.as_array().expect("two"));
    let infinite = [f64::INFINITY, 1.0, f64::NEG_INFINITY];
    let ends = json!([{ "q": 0.0, "value": "-inf" }, { "q": 1.0, "value": "inf" }]);
    assert_eq!(everywhere(&infinite, &["0", "1"]), *ends.as_array().expect("two"));
}

#[test]
fn narrow_elements_are_widened() {
    for device in ["cpu", "emulator"] {
        let args = ["quantile", "-", "0.5", "--dtype", "i8", "--device", device, "-q"];
        let call = Folder::new().call(&args, &[255, 3, 254, 7]).says_nothing();
        assert_eq!(call.stdout, "0.5  1.0\n");
    }
}

#[test]
fn the_text_has_a_line_for_each_quantile() {
    let call = raw(&[4i32, 1, 3, 2], &["--check"])
        .says(&["quantiles (linear) of 4 i32 elements", "by comparisons on the CPU: right"]);
    assert_eq!(call.stdout, "0.25  1.75\n0.5   2.5\n0.75  3.25\n");
    let call = raw(&[4.5f32], &["1", "--method", "inverted_cdf", "-q"]).says_nothing();
    assert_eq!(call.stdout, "1.0  4.5\n");
}

#[test]
fn an_array_of_any_shape_and_order_is_accepted() {
    for header in [npy::header("<f4", false, "(2, 3)"), npy::header("<f4", true, "(2, 3)")] {
        let file = npy::raw(&header, bytemuck::cast_slice(&[6.0f32, 5.0, 4.0, 3.0, 2.0, 1.0]));
        let call = Folder::new().call(&["quantile", "-", "0", "0.5", "-q"], &file).says_nothing();
        assert_eq!(call.stdout, "0.0  1.0\n0.5  3.5\n");
    }
}

#[test]
fn invalid_calls_are_refused() {
    let folder = Folder::new();
    let refused = |args: &[&str], parts: &[&str]| {
        folder.call(&[&["quantile", "-"], args].concat(), &[0; 8]).fails(WRONG_USAGE, parts);
    };
    refused(&[], &["--dtype"]);
    refused(&["--dtype", "f8"], &["f8", "f16, bf16, f32"]);
    refused(&["--dtype", "f32", "1.5"], &["1.5 is not a quantile", "from 0 to 1"]);
    refused(&["--dtype", "f32", "0.5", "-0.1"], &["-0.1 is not a quantile", "from 0 to 1"]);
    refused(&["--dtype", "f32", "nan"], &["NaN is not a quantile"]);
    refused(&["--dtype", "f32", "half"], &["half", "number from 0 to 1"]);
    refused(&["--dtype", "f32", "--method", "mean"], &["mean", "inverted_cdf", "linear"]);
    for device in ["cpu", "emulator"] {
        let empty = folder.call(&["quantile", "-", "--device", device], &npy::of::<f32>(&[]));
        empty.fails(WRONG_USAGE, &["an empty array has no quantiles"]);
    }
    assert!(folder.names().is_empty());
}

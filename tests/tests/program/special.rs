//! Empty arrays, NaN, infinities and zeros, as the help of `reduce` documents them.

use crate::call::{WRONG_USAGE, without_cuda};
use gridsync_tests::oracle::Plain;
use serde_json::{Value, json};

fn result<T: Plain>(op: &str, input: &[T], device: &str) -> Value {
    let args = [
        "reduce",
        "-",
        "--json",
        "--op",
        op,
        "--dtype",
        T::NAME,
        "--device",
        device,
        "--check",
    ];
    let json = without_cuda(&args, bytemuck::cast_slice(input)).json();
    assert_eq!(json["check"]["ok"], true, "{json}");
    json["result"].clone()
}

#[test]
fn nothing_reduces_to_the_identity() {
    for device in ["cpu", "emulator"] {
        for op in ["sum", "count", "xor", "or"] {
            assert_eq!(result::<u32>(op, &[], device), json!(0), "{op}");
        }
        assert_eq!(result::<i64>("prod", &[], device), json!(1));
        assert_eq!(result::<f64>("prod", &[], device), json!(1.0));
        let bits = |sum: Value| sum.as_f64().map(f64::to_bits);
        let negative_zero = Some((-0.0f64).to_bits());
        assert_eq!(bits(result::<f32>("sum", &[], device)), negative_zero);
        assert_eq!(bits(result::<f64>("sum", &[], device)), negative_zero);
        assert_eq!(result::<u32>("and", &[], device), json!(u32::MAX));
        assert_eq!(result::<i32>("and", &[], device), json!(-1));
    }
}

#[test]
fn nothing_has_no_extreme_and_no_mean() {
    for op in ["min", "max", "argmin", "argmax", "mean"] {
        for dtype in ["f32", "i64", "bf16"] {
            let args = ["reduce", "-", "--op", op, "--dtype", dtype];
            without_cuda(&args, b"").fails(WRONG_USAGE, &[op, "empty"]);
        }
    }
}

#[test]
fn one_nan_makes_all_but_the_count_nan() {
    let input = [1.0f32, f32::NAN, f32::INFINITY, -2.0];
    for device in ["cpu", "emulator"] {
        for op in ["sum", "prod", "min", "max", "mean"] {
            assert_eq!(result(op, &input, device), json!("NaN"), "{op} on {device}");
        }
        assert_eq!(result("count", &input, device), json!(4));
    }
}

#[test]
fn infinities_are_spelt_out_where_json_has_no_number() {
    for device in ["cpu", "emulator"] {
        assert_eq!(
            result("sum", &[1.0f64, f64::INFINITY], device),
            json!("inf")
        );
        assert_eq!(
            result("min", &[1.0f32, f32::NEG_INFINITY], device),
            json!("-inf")
        );
        assert_eq!(
            result("sum", &[f64::INFINITY, f64::NEG_INFINITY], device),
            json!("NaN")
        );
    }
}

#[test]
fn negative_zero_is_less_than_zero_and_does_not_count() {
    let sign = |value: Value| value.as_f64().map(f64::is_sign_negative);
    for device in ["cpu", "emulator"] {
        for input in [[0.0f64, -0.0], [-0.0, 0.0]] {
            assert_eq!(sign(result("min", &input, device)), Some(true));
            assert_eq!(sign(result("max", &input, device)), Some(false));
            assert_eq!(sign(result("sum", &input, device)), Some(false));
            assert_eq!(result("count", &input, device), json!(0));
        }
        assert_eq!(sign(result("sum", &[-0.0f32], device)), Some(true));
    }
}

#[test]
fn integers_wrap_around_at_64_bits() {
    for device in ["cpu", "emulator"] {
        assert_eq!(
            result("sum", &[u32::MAX; 3], device),
            json!(3 * u64::from(u32::MAX))
        );
        assert_eq!(result("sum", &[u64::MAX, 3], device), json!(2));
        assert_eq!(result("sum", &[i64::MAX, 1], device), json!(i64::MIN));
        assert_eq!(result("prod", &[i64::MAX, 2], device), json!(-2));
    }
}

#[test]
fn a_mean_whose_sum_wraps_around_is_refused() {
    let mean = |dtype, input: &[u8]| {
        let args = ["reduce", "-", "--json", "--op", "mean", "--dtype", dtype];
        without_cuda(&args, input)
    };
    mean("u64", bytemuck::cast_slice(&[u64::MAX, 1]))
        .fails(WRONG_USAGE, &["18446744073709551616", "f64"]);
    mean("i64", bytemuck::cast_slice(&[i64::MIN, -1]))
        .fails(WRONG_USAGE, &["-9223372036854775809", "f64"]);
    // On its way a sum may wrap, and back.
    let json = mean("i64", bytemuck::cast_slice(&[i64::MAX, 1, -9])).json();
    let right = (i128::from(i64::MAX) - 8) as f64 / 3.0;
    assert_eq!(json["result"].as_f64(), Some(right));
}

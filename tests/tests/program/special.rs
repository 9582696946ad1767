//! Empty arrays, NaN, infinities and zeros give the results that the help of `reduce` states.

use crate::call::{WRONG_USAGE, without_cuda};
use gridsync_tests::oracle::Plain;
use serde_json::{Value, json};

fn result<T: Plain>(op: &str, input: &[T], device: &str) -> Value {
    let args =
        ["reduce", "-", "--json", "--op", op, "--dtype", T::NAME, "--device", device, "--check"];
    let json = without_cuda(&args, bytemuck::cast_slice(input)).json();
    assert_eq!(json["check"]["ok"], true, "{json}");
    json["result"].clone()
}

#[test]
fn an_empty_array_reduces_to_the_identity() {
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
fn min_max_and_mean_of_empty_are_errors() {
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
fn infinities_are_strings_in_json() {
    for device in ["cpu", "emulator"] {
        assert_eq!(result("sum", &[1.0f64, f64::INFINITY], device), json!("inf"));
        assert_eq!(result("min", &[1.0f32, f32::NEG_INFINITY], device), json!("-inf"));
        assert_eq!(result("sum", &[f64::INFINITY, f64::NEG_INFINITY], device), json!("NaN"));
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
        assert_eq!(result("sum", &[u32::MAX; 3], device), json!(3 * u64::from(u32::MAX)));
        assert_eq!(result("sum", &[u64::MAX, 3], device), json!(2));
        assert_eq!(result("sum", &[i64::MAX, 1], device), json!(i64::MIN));
        assert_eq!(result("prod", &[i64::MAX, 2], device), json!(-2));
    }
}

#[test]
fn a_mean_is_exact_even_if_its_sum_exceeds_64_bits() {
    for device in ["cpu", "emulator"] {
        let mean = |dtype, input: &[u8]| {
            let args = ["reduce", "-", "--json", "--op", "mean", "--dtype", dtype];
            let more = ["--check", "--device", device];
            let json = without_cuda(&[&args[..], &more].concat(), input).json();
            assert_eq!(json["check"]["ok"], true, "{json}");
            json["result"].as_f64()
        };
        let of_u64 = mean("u64", bytemuck::cast_slice(&[u64::MAX, u64::MAX - 2]));
        assert_eq!(of_u64, Some((u64::MAX - 1) as f64));
        let of_i64 = mean("i64", bytemuck::cast_slice(&[i64::MIN, i64::MIN, -2]));
        assert_eq!(of_i64, Some((2 * i128::from(i64::MIN) - 2) as f64 / 3.0));
    }
}

#[test]
fn a_mean_of_large_floats_is_finite() {
    let input = [3e38f32; 2];
    for more in [&["--device", "cpu"][..], &["--device", "emulator"], &["--rows"], &["--axis", "0"]]
    {
        for acc in [&[][..], &["--acc", "compensated"]] {
            let args = ["reduce", "-", "--op", "mean", "--dtype", "f32", "--check", "--json"];
            let args = [&args[..], more, acc].concat();
            let json = without_cuda(&args, bytemuck::cast_slice(&input)).json();
            let mean = if json["rows"] == 1 { &json["results"][0] } else { &json["result"] };
            assert_eq!(mean.as_f64(), Some(f64::from(3e38f32)), "{json}");
            assert_eq!(json["check"]["ok"], true, "{json}");
        }
    }
}

#[test]
fn a_sum_that_wrapped_around_is_reported_with_its_exact_value() {
    let sum = |dtype, input: &[u8], more: &[&str]| {
        let args = ["reduce", "-", "--op", "sum", "--dtype", dtype, "--check"];
        without_cuda(&[&args[..], more].concat(), input)
    };
    let (u64s, i64s) = ([u64::MAX, 3], [i64::MIN, -1]);
    for device in ["cpu", "emulator"] {
        let of_u64 = sum("u64", bytemuck::cast_slice(&u64s), &["--device", device]);
        let of_u64 = of_u64.says(&["wrapped around", "it is 18446744073709551618"]);
        assert_eq!(of_u64.stdout, "2\n");
        let args = ["--device", device, "--json"];
        let json = sum("i64", bytemuck::cast_slice(&i64s), &args).json();
        assert_eq!(json["result"], i64::MAX);
        assert_eq!(json["exact"], "-9223372036854775809");
        let quiet = sum("u64", bytemuck::cast_slice(&u64s), &["-q"]).says_nothing();
        assert_eq!(quiet.stdout, "2\n");
    }
    // A sum may wrap around in between, and then back.
    let input = [i64::MAX, 1, -9];
    let back = sum("i64", bytemuck::cast_slice(&input), &["--json"]).json();
    assert_eq!((&back["result"], &back["exact"]), (&(i64::MAX - 8).into(), &Value::Null));
}

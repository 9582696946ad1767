//! `gridsync reduce`: every operation on every type, compared with plain loops; its JSON and its
//! check.

use crate::call::{Call, WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use crate::matrix::{inputs, matrix};
use gridsync_tests::devices::with_cuda;
use gridsync_tests::npy;
use gridsync_tests::oracle::{self, Expected, Number, Plain};
use gridsync_verify::Sample;
use half::{bf16, f16};
use serde_json::Value;

/// Elements of the inputs: an odd number, for two blocks of most types.
const LEN: usize = 5003;

/// An upper bound on the roundings of any element of such an input, in any variant.
const DEPTH: u64 = 512;

/// The number of type `A` in a JSON value. An f32 is printed in its shortest decimal form, which
/// gives the same number when it is parsed as f32.
fn number<A: Plain>(value: &Value) -> Number {
    match value {
        Value::Number(n) if A::NAME == "f32" => {
            let x: f32 = n.to_string().parse().expect("it is a number");
            Number::Float(x.into())
        }
        Value::String(text) => Number::Float(text.parse().expect("a number should be spelt")),
        Value::Number(n) if n.is_f64() => Number::Float(n.as_f64().expect("it is f64")),
        Value::Number(n) => {
            let unsigned = n.as_u64().map(i128::from);
            Number::Int(unsigned.or(n.as_i64().map(i128::from)).expect("it is 64 bits wide"))
        }
        other => panic!("{other} is no number"),
    }
}

/// One of the two ways to call the program.
type Caller = fn(&Folder, &[&str], &[u8]) -> Call;

/// Reduces `input` from a `.npy` file, or raw if the format has no name for its type.
fn reduce<T: Plain>(call: Caller, op: &str, input: &[T], more: &[&str]) -> Call {
    if T::NPY.is_none() {
        return raw_by(call, op, input, more);
    }
    let folder = Folder::new().with("input.npy", npy::of(input));
    call(&folder, &[&["reduce", "--op", op, "--json", "input.npy"], more].concat(), b"")
}

/// Reduces `input` as raw bytes on standard input, without CUDA.
fn raw<T: Plain>(op: &str, input: &[T], more: &[&str]) -> Call {
    raw_by(Folder::call, op, input, more)
}

fn raw_by<T: Plain>(call: Caller, op: &str, input: &[T], more: &[&str]) -> Call {
    let args = ["reduce", "-", "--json", "--op", op, "--dtype", T::NAME];
    call(&Folder::new(), &[&args[..], more].concat(), bytemuck::cast_slice(input))
}

#[track_caller]
fn is<T: Plain, A: Plain>(json: &Value, op: &str, expected: Expected) {
    assert_eq!(json["op"], op);
    assert_eq!(json["dtype"], T::NAME);
    assert_eq!(json["n"], LEN);
    let got = number::<A>(&json["result"]);
    assert!(expected.admits(got), "{json} is not {expected:?}");
}

/// Checks one operation on one type, accumulated in `A`, on every device.
fn everywhere<T: Plain + Sample, A: Plain>(op: &str, more: &[&str]) {
    let input = inputs::<T>(op, LEN);
    let expected = oracle::reduce::<T, A>(op, &input, DEPTH);
    for device in ["cpu", "emulator"] {
        let args = [more, &["--device", device]].concat();
        let json = reduce(Folder::call, op, &input, &args).json();
        is::<T, A>(&json, op, expected);
        assert_eq!(json["device"], device);
        assert!(json["check"].is_null(), "{json}");
        is::<T, A>(&raw(op, &input, &args).json(), op, expected);
    }
    let json = reduce(Folder::call, op, &input, &[more, &["--check"]].concat()).json();
    is::<T, A>(&json, op, expected);
    assert_eq!(json["check"]["ok"], true, "{json}");
    with_cuda(|_| {
        let args = [more, &["--check", "--device", "cuda"]].concat();
        let json = reduce(Folder::gridsync, op, &input, &args).json();
        is::<T, A>(&json, op, expected);
        assert_eq!(json["check"]["ok"], true, "{json}");
    });
}

matrix! {
    sum "sum" []: f16 => f32, bf16 => f32, f32 => f32, f64 => f64, i32 => i64, u32 => u64, i64 => i64, u64 => u64;
    sum_in_f64 "sum" ["--acc", "f64"]: f16 => f64, bf16 => f64, f32 => f64;
    sum_compensated "sum" ["--acc", "compensated"]: f32 => f32, f64 => f64;
    prod "prod" []: f16 => f32, bf16 => f32, f32 => f32, f64 => f64, i32 => i64, u32 => u64, i64 => i64, u64 => u64;
    prod_in_f64 "prod" ["--acc", "f64"]: f16 => f64, bf16 => f64, f32 => f64;
    prod_mod "prod-mod" ["--modulus", "4294967291"]: i32 => u32, u32 => u32, i64 => u32, u64 => u32;
    min "min" []: f16 => f32, bf16 => f32, f32 => f32, f64 => f64, i32 => i32, u32 => u32, i64 => i64, u64 => u64;
    max "max" []: f16 => f32, bf16 => f32, f32 => f32, f64 => f64, i32 => i32, u32 => u32, i64 => i64, u64 => u64;
    argmin "argmin" []: f16 => u64, bf16 => u64, f32 => u64, f64 => u64, i32 => u64, u32 => u64, i64 => u64, u64 => u64;
    argmax "argmax" []: f16 => u64, bf16 => u64, f32 => u64, f64 => u64, i32 => u64, u32 => u64, i64 => u64, u64 => u64;
    xor "xor" []: i32 => i32, u32 => u32, i64 => i64, u64 => u64;
    and "and" []: i32 => i32, u32 => u32, i64 => i64, u64 => u64;
    or "or" []: i32 => i32, u32 => u32, i64 => i64, u64 => u64;
    count "count" []: f16 => u64, bf16 => u64, f32 => u64, f64 => u64, i32 => u64, u32 => u64, i64 => u64, u64 => u64;
}

/// Checks the mean of `input`: the sum, which may be rounded, divided once.
fn mean_everywhere<T: Plain, A: Plain>(input: &[T]) {
    let sum = oracle::reduce::<T, A>("sum", input, DEPTH);
    let value = match sum.value {
        Number::Float(x) => x,
        Number::Int(x) => x as f64,
    } / LEN as f64;
    let expected = Expected {
        value: Number::Float(value),
        allowed: sum.allowed / LEN as f64 + 2.0 * f64::EPSILON * value.abs(),
    };
    for device in ["cpu", "emulator"] {
        let args = ["--check", "--device", device];
        let json = reduce(Folder::call, "mean", input, &args).json();
        is::<T, f64>(&json, "mean", expected);
        assert_eq!(json["check"]["ok"], true, "{json}");
    }
}

#[test]
fn the_mean_of_every_type_is_its_sum_divided() {
    mean_everywhere::<f16, f32>(&inputs("mean", LEN));
    mean_everywhere::<bf16, f32>(&inputs("mean", LEN));
    mean_everywhere::<f32, f32>(&inputs("mean", LEN));
    mean_everywhere::<f64, f64>(&inputs("mean", LEN));
    mean_everywhere::<i32, i64>(&inputs("mean", LEN));
    mean_everywhere::<u32, u64>(&inputs("mean", LEN));
    // Small enough that the sum of 5003 elements fits in 64 bits.
    mean_everywhere::<i64, i64>(
        &inputs("mean", LEN).iter().map(|x: &i64| x >> 13).collect::<Vec<_>>(),
    );
    mean_everywhere::<u64, u64>(
        &inputs("mean", LEN).iter().map(|x: &u64| x >> 13).collect::<Vec<_>>(),
    );
}

#[test]
fn the_json_of_an_index_also_has_the_element() {
    for device in ["cpu", "emulator"] {
        let args = ["--check", "--device", device];
        let json = raw("argmax", &[1.5f32, 7.25, f32::NEG_INFINITY, 7.25], &args).json();
        assert_eq!(json["result"], 1);
        assert_eq!(json["value"], 7.25);
        assert_eq!(json["check"]["reference"], 1);
        let json = raw("argmin", &[1.5f32, 7.25, f32::NEG_INFINITY, 7.25], &args).json();
        assert_eq!((&json["result"], &json["value"]), (&2.into(), &"-inf".into()));
    }
}

#[test]
fn a_compensated_mean_keeps_what_cancels() {
    let json = raw("mean", &[1e9f32, 0.5, -1e9, 0.5], &["--acc", "compensated", "--check"]).json();
    assert_eq!(json["result"], 0.25);
    assert_eq!(json["check"]["ok"], true, "{json}");
}

#[test]
fn quiet_prints_the_result_alone() {
    let args = ["reduce", "-", "--dtype", "i32", "--op", "sum", "-q"];
    let call = without_cuda(&args, bytemuck::cast_slice(&[4i32, -9])).succeeds();
    assert_eq!(call.stdout, "-5\n");
}

#[test]
fn the_check_prints_the_difference_the_bound_and_the_verdict() {
    let args = ["reduce", "-", "--dtype", "f32", "--op", "sum", "--check"];
    let call = without_cuda(&args, bytemuck::cast_slice(&[0.1f32; 100]));
    call.says(&["reference ", "off by ", "allowed ", "right"]);
}

#[test]
fn verbose_prints_only_to_standard_error() {
    let args = ["reduce", "-", "--dtype", "i32", "--op", "sum", "--json", "-v"];
    let call = without_cuda(&args, bytemuck::cast_slice(&[4i32]));
    assert_eq!(call.code, Some(0));
    assert!(call.stderr.contains("1 i32 elements"), "{call:?}");
    let json: Value = serde_json::from_str(&call.stdout).expect("stdout should be JSON alone");
    assert_eq!(json["result"], 4);
}

#[test]
fn a_npy_file_of_any_rank_can_be_piped() {
    for (shape, n) in [("()", 1), ("(6,)", 6), ("(2, 3)", 6), ("(1, 2, 3, 1)", 6), ("(0, 5)", 0)] {
        let values: Vec<i64> = (1..=n).collect();
        let file = npy::shaped(shape, &values);
        let json = without_cuda(&["reduce", "-", "--op", "sum", "--json"], &file).json();
        assert_eq!(json["result"], n * (n + 1) / 2, "{shape}");
        assert_eq!(json["n"], n, "{shape}");
        assert_eq!(json["dtype"], "i64");
    }
}

#[test]
fn a_vector_in_fortran_order_is_accepted() {
    let header = npy::header("<i4", true, "(3,)");
    let file = npy::raw(&header, bytemuck::cast_slice(&[1i32, 2, 3]));
    let json = without_cuda(&["reduce", "-", "--op", "sum", "--json"], &file).json();
    assert_eq!(json["result"], 6);
}

#[test]
fn invalid_calls_are_refused() {
    let floats = |more: &[&str]| raw("sum", &[1.0f32], more);
    floats(&["--variant", "tiles", "--device", "cpu"]).fails(WRONG_USAGE, &["emulator"]);
    floats(&["--variant", "rayon", "--device", "emulator"]).fails(WRONG_USAGE, &["--device cpu"]);
    for op in ["xor", "and", "or"] {
        raw(op, &[1.0f32], &[]).fails(WRONG_USAGE, &["i32 u32 i64 u64", "not f32"]);
    }
    raw("sum", &[1i32], &["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "i32"]);
    raw("min", &[1.0f32], &["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "min"]);
    raw("argmin", &[1.0f32], &["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "argmin"]);
    let compensated = ["--acc", "compensated"];
    raw("sum", &[f16::ONE], &compensated).fails(WRONG_USAGE, &["f16", "--acc f64"]);
    raw("prod", &[1.0f32], &compensated).fails(WRONG_USAGE, &["sum", "prod"]);
    raw("sum", &[1i32], &compensated).fails(WRONG_USAGE, &["--acc", "i32"]);
    raw("prod-mod", &[1i32], &[]).fails(WRONG_USAGE, &["--modulus M"]);
    raw("prod-mod", &[1i32], &["--modulus", "0"]).fails(WRONG_USAGE, &["is 0", "4294967296"]);
    let beyond = ["--modulus", "4294967297"];
    raw("prod-mod", &[1i32], &beyond).fails(WRONG_USAGE, &["4294967297", "4294967296"]);
    raw("prod-mod", &[1.0f32], &["--modulus", "7"]).fails(WRONG_USAGE, &["u64", "not f32"]);
    raw("sum", &[1i32], &["--modulus", "7"]).fails(WRONG_USAGE, &["--modulus", "sum"]);
    raw("sum", &[1.0f64], &["--acc", "f32"]).fails(WRONG_USAGE, &["--acc f32", "f64"]);
}

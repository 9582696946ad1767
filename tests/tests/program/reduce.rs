//! `gridsync reduce`: every operation on every type, against plain loops; its JSON, its check.

use crate::call::{Call, WRONG_USAGE, gridsync, without_cuda};
use gridsync_program::verify::{Kind, Sample, sample};
use gridsync_tests::devices::with_cuda;
use gridsync_tests::npy;
use gridsync_tests::oracle::{self, Expected, Number, Plain};
use half::{bf16, f16};
use serde_json::Value;
use std::fs;

/// Elements of the inputs: an odd number, for two blocks of most types.
const LEN: usize = 5003;

/// More roundings than any element of such an input goes through, in any variant.
const DEPTH: u64 = 512;

/// The number of type `A` in a JSON value. An f32 is printed in its shortest decimal form, which
/// gives the same number when it is read as f32.
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
type Caller = fn(&[&str], &[u8]) -> Call;

/// Reduces `input` from a `.npy` file, or raw if the format has no name for its type.
fn reduce<T: Plain>(call: Caller, op: &str, input: &[T], more: &[&str]) -> Call {
    let base = ["reduce", "--op", op, "--json"];
    match npy::of(input) {
        Some(file) => {
            let folder = tempfile::tempdir().expect("a folder should be there to write to");
            let path = folder.path().join("input.npy");
            fs::write(&path, file).expect("the input should be written");
            let path = path.to_str().expect("its path should be UTF-8");
            call(&[&base[..], &[path], more].concat(), b"")
        }
        None => raw_by(call, op, input, more),
    }
}

/// Reduces `input` as raw bytes on standard input, without CUDA.
fn raw<T: Plain>(op: &str, input: &[T], more: &[&str]) -> Call {
    raw_by(without_cuda, op, input, more)
}

fn raw_by<T: Plain>(call: Caller, op: &str, input: &[T], more: &[&str]) -> Call {
    let args = ["reduce", "-", "--json", "--op", op, "--dtype", T::NAME];
    call(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

#[track_caller]
fn is<T: Plain, A: Plain>(json: &Value, op: &str, expected: Expected) {
    assert_eq!(json["op"], op);
    assert_eq!(json["dtype"], T::NAME);
    assert_eq!(json["n"], LEN);
    let got = number::<A>(&json["result"]);
    assert!(expected.admits(got), "{json} is not {expected:?}");
}

fn inputs<T: Sample>(op: &str) -> Vec<T> {
    let kind = match op {
        "prod" | "prod-mod" => Kind::Factors,
        "and" => Kind::FewZeros,
        "or" => Kind::FewOnes,
        _ => Kind::Values,
    };
    sample(kind, LEN, 42)
}

/// Checks one operation on one type, accumulated in `A`, on every device.
fn everywhere<T: Plain + Sample, A: Plain>(op: &str, more: &[&str]) {
    let input = inputs::<T>(op);
    let expected = oracle::reduce::<T, A>(op, &input, DEPTH);
    for device in ["cpu", "emulator"] {
        let args = [more, &["--device", device]].concat();
        let json = reduce(without_cuda, op, &input, &args).json();
        is::<T, A>(&json, op, expected);
        assert_eq!(json["device"], device);
        assert!(json["check"].is_null(), "{json}");
        is::<T, A>(&raw(op, &input, &args).json(), op, expected);
    }
    let json = reduce(without_cuda, op, &input, &[more, &["--check"]].concat()).json();
    is::<T, A>(&json, op, expected);
    assert_eq!(json["check"]["ok"], true, "{json}");
    with_cuda(|_| {
        let args = [more, &["--check", "--device", "cuda"]].concat();
        let json = reduce(gridsync, op, &input, &args).json();
        is::<T, A>(&json, op, expected);
        assert_eq!(json["check"]["ok"], true, "{json}");
    });
}

macro_rules! matrix {
    ($($name:ident: $op:literal $element:ident => $accumulator:ident $($more:literal)*;)*) => {$(
        #[test]
        fn $name() {
            everywhere::<$element, $accumulator>($op, &[$($more),*]);
        }
    )*};
}
matrix! {
    sum_of_f16: "sum" f16 => f32;
    sum_of_bf16: "sum" bf16 => f32;
    sum_of_f32: "sum" f32 => f32;
    sum_of_f64: "sum" f64 => f64;
    sum_of_i32: "sum" i32 => i64;
    sum_of_u32: "sum" u32 => u64;
    sum_of_i64: "sum" i64 => i64;
    sum_of_u64: "sum" u64 => u64;
    sum_of_f16_in_f64: "sum" f16 => f64 "--acc" "f64";
    sum_of_bf16_in_f64: "sum" bf16 => f64 "--acc" "f64";
    sum_of_f32_in_f64: "sum" f32 => f64 "--acc" "f64";
    prod_of_f16: "prod" f16 => f32;
    prod_of_bf16: "prod" bf16 => f32;
    prod_of_f32: "prod" f32 => f32;
    prod_of_f64: "prod" f64 => f64;
    prod_of_i32: "prod" i32 => i64;
    prod_of_u32: "prod" u32 => u64;
    prod_of_i64: "prod" i64 => i64;
    prod_of_u64: "prod" u64 => u64;
    prod_of_f16_in_f64: "prod" f16 => f64 "--acc" "f64";
    prod_of_bf16_in_f64: "prod" bf16 => f64 "--acc" "f64";
    prod_of_f32_in_f64: "prod" f32 => f64 "--acc" "f64";
    min_of_f16: "min" f16 => f32;
    min_of_bf16: "min" bf16 => f32;
    min_of_f32: "min" f32 => f32;
    min_of_f64: "min" f64 => f64;
    min_of_i32: "min" i32 => i32;
    min_of_u32: "min" u32 => u32;
    min_of_i64: "min" i64 => i64;
    min_of_u64: "min" u64 => u64;
    max_of_f16: "max" f16 => f32;
    max_of_bf16: "max" bf16 => f32;
    max_of_f32: "max" f32 => f32;
    max_of_f64: "max" f64 => f64;
    max_of_i32: "max" i32 => i32;
    max_of_u32: "max" u32 => u32;
    max_of_i64: "max" i64 => i64;
    max_of_u64: "max" u64 => u64;
    xor_of_i32: "xor" i32 => i32;
    xor_of_u32: "xor" u32 => u32;
    xor_of_i64: "xor" i64 => i64;
    xor_of_u64: "xor" u64 => u64;
    and_of_i32: "and" i32 => i32;
    and_of_u32: "and" u32 => u32;
    and_of_i64: "and" i64 => i64;
    and_of_u64: "and" u64 => u64;
    or_of_i32: "or" i32 => i32;
    or_of_u32: "or" u32 => u32;
    or_of_i64: "or" i64 => i64;
    or_of_u64: "or" u64 => u64;
    count_of_f16: "count" f16 => u64;
    count_of_bf16: "count" bf16 => u64;
    count_of_f32: "count" f32 => u64;
    count_of_f64: "count" f64 => u64;
    count_of_i32: "count" i32 => u64;
    count_of_u32: "count" u32 => u64;
    count_of_i64: "count" i64 => u64;
    count_of_u64: "count" u64 => u64;
    sum_of_f32_compensated: "sum" f32 => f32 "--acc" "compensated";
    sum_of_f64_compensated: "sum" f64 => f64 "--acc" "compensated";
    prod_mod_of_i32: "prod-mod" i32 => u32 "--modulus" "4294967291";
    prod_mod_of_u32: "prod-mod" u32 => u32 "--modulus" "4294967291";
    prod_mod_of_i64: "prod-mod" i64 => u32 "--modulus" "4294967291";
    prod_mod_of_u64: "prod-mod" u64 => u32 "--modulus" "4294967291";
    argmin_of_f16: "argmin" f16 => u64;
    argmin_of_bf16: "argmin" bf16 => u64;
    argmin_of_f32: "argmin" f32 => u64;
    argmin_of_f64: "argmin" f64 => u64;
    argmin_of_i32: "argmin" i32 => u64;
    argmin_of_u32: "argmin" u32 => u64;
    argmin_of_i64: "argmin" i64 => u64;
    argmin_of_u64: "argmin" u64 => u64;
    argmax_of_f16: "argmax" f16 => u64;
    argmax_of_bf16: "argmax" bf16 => u64;
    argmax_of_f32: "argmax" f32 => u64;
    argmax_of_f64: "argmax" f64 => u64;
    argmax_of_i32: "argmax" i32 => u64;
    argmax_of_u32: "argmax" u32 => u64;
    argmax_of_i64: "argmax" i64 => u64;
    argmax_of_u64: "argmax" u64 => u64;
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
        let json = reduce(without_cuda, "mean", input, &args).json();
        is::<T, f64>(&json, "mean", expected);
        assert_eq!(json["check"]["ok"], true, "{json}");
    }
}

#[test]
fn the_mean_of_every_type_is_its_sum_divided() {
    mean_everywhere::<f16, f32>(&inputs("mean"));
    mean_everywhere::<bf16, f32>(&inputs("mean"));
    mean_everywhere::<f32, f32>(&inputs("mean"));
    mean_everywhere::<f64, f64>(&inputs("mean"));
    mean_everywhere::<i32, i64>(&inputs("mean"));
    mean_everywhere::<u32, u64>(&inputs("mean"));
    // Small enough that the sum of 5003 of them fits in 64 bits.
    mean_everywhere::<i64, i64>(&inputs("mean").iter().map(|x: &i64| x >> 13).collect::<Vec<_>>());
    mean_everywhere::<u64, u64>(&inputs("mean").iter().map(|x: &u64| x >> 13).collect::<Vec<_>>());
}

#[test]
fn the_json_of_an_index_has_the_element_too() {
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
fn verbose_speaks_on_standard_error_only() {
    let args = ["reduce", "-", "--dtype", "i32", "--op", "sum", "--json", "-v"];
    let call = without_cuda(&args, bytemuck::cast_slice(&[4i32]));
    assert_eq!(call.code, Some(0));
    assert!(call.stderr.contains("1 i32 elements"), "{call:?}");
    let json: Value = serde_json::from_str(&call.stdout).expect("stdout should be JSON alone");
    assert_eq!(json["result"], 4);
}

#[test]
fn a_npy_file_may_come_through_a_pipe_and_have_any_rank() {
    for (shape, n) in [("()", 1), ("(6,)", 6), ("(2, 3)", 6), ("(1, 2, 3, 1)", 6), ("(0, 5)", 0)] {
        let values: Vec<i64> = (1..=n).collect();
        let header = npy::header("<i8", false, shape);
        let file = npy::raw(&header, bytemuck::cast_slice(&values));
        let json = without_cuda(&["reduce", "-", "--op", "sum", "--json"], &file).json();
        assert_eq!(json["result"], n * (n + 1) / 2, "{shape}");
        assert_eq!(json["n"], n, "{shape}");
        assert_eq!(json["dtype"], "i64");
    }
}

#[test]
fn fortran_order_of_a_vector_is_no_obstacle() {
    let header = npy::header("<i4", true, "(3,)");
    let file = npy::raw(&header, bytemuck::cast_slice(&[1i32, 2, 3]));
    let json = without_cuda(&["reduce", "-", "--op", "sum", "--json"], &file).json();
    assert_eq!(json["result"], 6);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let floats = |more: &[&str]| raw("sum", &[1.0f32], more);
    floats(&["--variant", "tiles", "--device", "cpu"]).fails(WRONG_USAGE, &["emulator"]);
    floats(&["--variant", "rayon", "--device", "emulator"]).fails(WRONG_USAGE, &["--device cpu"]);
    for op in ["xor", "and", "or"] {
        raw(op, &[1.0f32], &[]).fails(WRONG_USAGE, &["integers", "f32"]);
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
    raw("prod-mod", &[1.0f32], &["--modulus", "7"]).fails(WRONG_USAGE, &["integers", "f32"]);
    raw("sum", &[1i32], &["--modulus", "7"]).fails(WRONG_USAGE, &["--modulus", "sum"]);
    raw("sum", &[1.0f64], &["--acc", "f32"]).fails(WRONG_USAGE, &["--acc f32", "f64"]);
}

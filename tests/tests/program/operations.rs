//! `gridsync reduce --op sum,max`: several operations in one read.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use gridsync_verify::{Input, sample};
use serde_json::{Value, json};

/// A folder with an array.
fn array<T: Plain>(values: &[T]) -> Folder {
    Folder::new().with("x.npy", npy::of(values))
}

fn reduce(folder: &Folder, ops: &str, more: &[&str]) -> Call {
    folder.call(&[&["reduce", "x.npy", "--op", ops], more].concat(), b"")
}

/// Checks that the operations of `ops` print what each prints alone.
#[track_caller]
fn as_alone(folder: &Folder, ops: &str, more: &[&str]) {
    let more = [more, &["-q"]].concat();
    let together = reduce(folder, ops, &more).says_nothing().stdout;
    let width = ops.split(',').map(str::len).max().expect("an operation");
    let alone = ops.split(',').map(|op| {
        let result = reduce(folder, op, &more).says_nothing().stdout;
        format!("{op:width$}  {result}")
    });
    assert_eq!(together, alone.collect::<String>(), "{ops} {more:?}");
}

#[test]
fn several_operations_read_the_input_once() {
    // The sum depends on the order of the additions, and there are several parts.
    let mut values = sample::<f32>(Input::Values, (1 << 20) + 100_001, 7);
    values.iter_mut().step_by(7).for_each(|x| *x *= 1e30);
    let bytes: &[u8] = bytemuck::cast_slice(&values);
    let folder = Folder::new();
    let piped = |ops: &str, device: &str| {
        let args = ["reduce", "-", "--dtype", "f32", "--op", ops, "--device", device, "-q"];
        let args = [&args[..], &["--part", "400000"]].concat();
        folder.call(&args, bytes).says_nothing().stdout
    };
    let ops = ["sum", "max", "mean", "argmin", "count"];
    let alone: Vec<_> = ops.iter().map(|op| format!("{op:6}  {}", piped(op, "cpu"))).collect();
    for device in ["cpu", "emulator", "emulator:3"] {
        // A pipe can be read only once.
        assert_eq!(piped(&ops.join(","), device), alone.concat(), "{device}");
    }
}

#[test]
fn several_operations_have_the_bits_of_each_alone() {
    let floats: Vec<f64> = sample(Input::Values, 5003, 1);
    let integers: Vec<i64> = sample(Input::Values, 5003, 2);
    let narrow = npy::raw(&npy::header("<i2", false, "(3,)"), &[3, 0, 0xF9, 0xFF, 12, 0]);
    let narrow = Folder::new().with("x.npy", narrow);
    for device in ["cpu", "emulator", "emulator:2"] {
        let (on, floats) = (["--device", device], array(&floats));
        as_alone(&floats, "sum,prod,min,max,argmin,argmax,ptp,mean,var,std", &on);
        as_alone(&floats, "logsumexp,norm,l1,sum-squares,any,all,count", &on);
        as_alone(&array(&integers), "max,sum,xor,l1,and,or,std", &on);
        as_alone(&narrow, "argmax,sum,min", &on);
        as_alone(&array::<f32>(&[]), "sum,prod", &on);
    }
}

#[test]
fn results_are_a_table_in_the_order_of_the_operations() {
    let folder = array(&[1.0f32, 2.0, 3.0, -4.0]);
    let table = "max     3.0\nargmax  2\nsum     2.0\n";
    for device in ["cpu", "emulator"] {
        let more = ["--check", "--device", device];
        let said = reduce(&folder, "max,argmax,sum", &more).says(&[
            "max, argmax, sum of 4 f32 elements",
            "argmax: the element there is 3.0",
            "max: reference 3.0: off by 0, allowed 0: right",
            "sum: reference 2.0",
        ]);
        assert_eq!(said.stdout, table);
        let quiet = reduce(&folder, "max,argmax,sum", &["-q", "--device", device]);
        assert_eq!(quiet.says_nothing().stdout, table);
    }
    reduce(&array(&[i64::MAX, 1]), "min,sum", &[])
        .says(&["sum: the sum wrapped around in 64 bits: it is 9223372036854775808"]);
}

#[test]
fn json_has_the_result_and_the_check_of_each() {
    let folder = array(&[i64::MAX, 1]);
    for device in ["cpu", "emulator"] {
        let json = reduce(&folder, "sum,argmin", &["--json", "--device", device]).json();
        let results = json!([
            { "op": "sum", "result": i64::MIN, "exact": "9223372036854775808", "check": null },
            { "op": "argmin", "result": 1, "value": 1, "check": null },
        ]);
        assert_eq!((&json["op"], &json["results"]), (&json!("sum,argmin"), &results));
        assert_eq!((&json["n"], &json["check"]), (&json!(2), &Value::Null));
        let more = ["--json", "--check", "--device", device];
        let json = reduce(&folder, "sum,argmin", &more).json();
        assert_eq!(json["check"], json!({ "ok": true }));
        for one in json["results"].as_array().expect("two results") {
            assert_eq!(one["check"]["ok"], true, "{json}");
            assert_eq!(one["check"]["bound"], 0.0, "{json}");
        }
    }
}

#[test]
fn each_operation_takes_the_flags_that_it_has() {
    let folder = array(&[4.0f32, f32::NAN, 7.0, 13.0, 16.0]);
    let all = ["--skip-nan", "--ddof", "1", "-q"];
    let table = "var    30.0\ncount  5\nmax    16.0\n";
    assert_eq!(reduce(&folder, "var,count,max", &all).succeeds().stdout, table);
    let acc = ["--acc", "compensated", "-q"];
    let folder = array(&[1e8f32, 1.0, -1e8, 2.0]);
    assert_eq!(reduce(&folder, "sum,prod", &acc).succeeds().stdout, "sum   3.0\nprod  -2e16\n");
    let modulus = reduce(&array(&[5u32, 4]), "prod-mod,sum", &["--modulus", "7", "-q"]);
    assert_eq!(modulus.succeeds().stdout, "prod-mod  6\nsum       9\n");
}

#[test]
fn a_flag_that_no_operation_has_is_refused() {
    let folder = array(&[1.0f32]);
    let none = ["--ddof is for var and std; --op min has none"];
    reduce(&folder, "min,sum", &["--ddof", "1"]).fails(WRONG_USAGE, &none);
    let none = ["--acc is for sum, prod and mean; min does not round"];
    reduce(&folder, "min,max", &["--acc", "f64"]).fails(WRONG_USAGE, &none);
    let none = ["--skip-nan supports --op", "not count"];
    reduce(&folder, "count,prod", &["--skip-nan"]).fails(WRONG_USAGE, &none);
}

#[test]
fn an_operation_given_twice_is_an_error() {
    let folder = array(&[1i32]);
    let twice = ["--op names sum twice"];
    reduce(&folder, "sum,max,sum", &[]).fails(WRONG_USAGE, &twice);
    reduce(&folder, "sum,sum", &["--rows"]).fails(WRONG_USAGE, &twice);
    reduce(&folder, "sum,median", &[]).fails(WRONG_USAGE, &["'median'", "sum, prod, min"]);
    reduce(&folder, "sum", &["--op", "max"]).fails(WRONG_USAGE, &["--op"]);
}

#[test]
fn rows_and_ranks_need_one_operation() {
    let folder = array(&[1i32]);
    for flags in [&["--rows"][..], &["--axis", "0"], &["--ranks"]] {
        let why = format!("{} needs one operation, and --op names sum, max", flags[0]);
        reduce(&folder, "sum,max", flags).fails(WRONG_USAGE, &[&why]);
    }
}

#[test]
fn an_operation_that_cannot_be_is_refused() {
    reduce(&array(&[1.0f32]), "sum,xor", &[]).fails(WRONG_USAGE, &["--op xor supports i32 u32"]);
    let empty = ["the max of an empty array is not defined"];
    reduce(&array::<f32>(&[]), "sum,max", &[]).fails(WRONG_USAGE, &empty);
    let nan = ["the argmax of no numbers is not defined: all 1 are NaN"];
    reduce(&array(&[f32::NAN]), "min,argmax", &["--skip-nan"]).fails(WRONG_USAGE, &nan);
}

#[test]
fn indices_and_sums_of_an_array_in_fortran_order_need_two_calls() {
    let header = npy::header("<f4", true, "(2, 2)");
    let values = [1.0f32, 9.0, 5.0, 2.0];
    let folder = Folder::new().with("x.npy", npy::raw(&header, bytemuck::cast_slice(&values)));
    as_alone(&folder, "argmin,argmax", &[]);
    as_alone(&folder, "sum,max", &[]);
    let why = ["in C order", "reduce it in two calls"];
    reduce(&folder, "argmax,sum", &[]).fails(WRONG_USAGE, &why);
}

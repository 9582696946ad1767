//! `gridsync bench`.

use crate::call::{DEVICE_FAILURE, WRONG_USAGE, gridsync, without_cuda};
use gridsync_tests::devices::with_cuda;

#[test]
fn the_time_of_an_emulated_grid_is_refused() {
    for device in ["auto", "emulator"] {
        for suite in ["barrier", "reduce"] {
            let call = without_cuda(&["bench", suite, "--device", device], b"");
            call.fails(WRONG_USAGE, &["emulated", "needs a GPU"]);
        }
    }
    without_cuda(&["bench", "barrier", "--device", "cuda"], b"").fails(DEVICE_FAILURE, &["driver"]);
}

#[test]
fn a_suite_a_design_or_a_shape_that_is_not_there_is_refused() {
    let bench = |args: &[&str]| without_cuda(&[&["bench"], args].concat(), b"");
    bench(&["nothing"]).fails(WRONG_USAGE, &["nothing", "barrier"]);
    bench(&["barrier", "--only", "split,spilt"]).fails(WRONG_USAGE, &["spilt", "split, split-4"]);
    bench(&["barrier", "--blocks", "132,0"]).fails(WRONG_USAGE, &["--blocks", "0"]);
    bench(&["barrier", "--threads", "many"]).fails(WRONG_USAGE, &["--threads", "many"]);
    bench(&["reduce", "--ops", "sum,mean"]).fails(WRONG_USAGE, &["mean", "sum, min, max"]);
    bench(&["reduce", "--dtypes", "f16"]).fails(WRONG_USAGE, &["f16", "f32, f64, i32, u64"]);
    bench(&["reduce", "--sizes", "2^20,2^64"]).fails(WRONG_USAGE, &["2^64", "up to 2^56"]);
}

#[test]
fn a_flag_of_another_suite_is_refused() {
    let bench = |args: &[&str]| without_cuda(&[&["bench"], args].concat(), b"");
    for flag in [["--only", "split"], ["--blocks", "4"], ["--threads", "32"]] {
        bench(&["reduce", flag[0], flag[1]]).fails(
            WRONG_USAGE,
            &[flag[0], "reduce", "--ops, --dtypes, --sizes"],
        );
    }
    for flag in [["--ops", "sum"], ["--dtypes", "f32"], ["--sizes", "1000"]] {
        for suite in ["barrier", "all-reduce"] {
            bench(&[suite, flag[0], flag[1]]).fails(
                WRONG_USAGE,
                &[flag[0], suite, "--only, --blocks, --threads"],
            );
        }
    }
}

#[test]
fn the_time_of_a_reduction_moves_its_bytes_on_cuda() {
    with_cuda(|_cuda| {
        let args = [
            "bench",
            "reduce",
            "--ops",
            "sum",
            "--dtypes",
            "f32",
            "--sizes",
            "1000,2^20",
            "--json",
        ];
        let records = gridsync(&args, b"").json();
        let records = records.as_array().expect("an array of records");
        let told: Vec<_> = records
            .iter()
            .map(|r| {
                (
                    r["variant"].as_str(),
                    r["params"]["n"].as_u64(),
                    r["bytes"].as_u64(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (Some("tiles"), Some(1000), Some(4000)),
                (Some("f32 in f64"), Some(1000), Some(4000)),
                (Some("tiles"), Some(1 << 20), Some(4 << 20)),
                (Some("f32 in f64"), Some(1 << 20), Some(4 << 20)),
            ]
        );
        for record in records {
            assert!(record["gb_per_s"].as_f64() > Some(0.0), "{record}");
            assert!(record["peer"].is_null(), "{record}");
        }
    });
}

#[test]
fn its_records_have_the_keys_that_scripts_read_on_cuda() {
    with_cuda(|_cuda| {
        let args = ["bench", "barrier", "--only", "split,phase", "--json"];
        let records = gridsync(&args, b"").json();
        let records = records.as_array().expect("an array of records");
        assert!(records.len() >= 32, "two barriers over the shapes that fit");
        for record in records {
            for key in [
                "suite", "variant", "device", "params", "unit", "median", "min", "max", "samples",
                "bytes", "gb_per_s", "peer", "warnings",
            ] {
                assert!(record.get(key).is_some(), "{key} in {record}");
            }
            let [min, median, max] = ["min", "median", "max"].map(|key| record[key].as_f64());
            assert!(min <= median && median <= max, "{record}");
        }
    });
}

#[test]
fn what_is_asked_for_is_measured_and_nothing_else_on_cuda() {
    with_cuda(|_cuda| {
        let bench = |shape: &[&str]| {
            let args = ["bench", "barrier", "--only", "phase", "--json"];
            gridsync(&[&args, shape].concat(), b"")
        };
        let records = bench(&["--blocks", "2,4", "--threads", "64"]).json();
        let records = records.as_array().expect("an array of records");
        let blocks: Vec<_> = records
            .iter()
            .map(|r| r["params"]["blocks"].as_u64())
            .collect();
        assert_eq!(blocks, [Some(2), Some(4)]);
        for record in records {
            assert_eq!(record["variant"], "phase");
            assert_eq!(record["params"]["threads"], 64);
            assert!(record["samples"].as_u64() >= Some(7), "{record}");
        }
        bench(&["--blocks", "1000000"]).fails(WRONG_USAGE, &["1 designs", "gridsync devices"]);
    });
}

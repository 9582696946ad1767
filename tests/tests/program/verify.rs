//! `gridsync verify`.

use crate::call::{WRONG_USAGE, without_cuda};
use crate::demo::fits_a_terminal;
use crate::schemas;
use gridsync_tests::program;
use gridsync_verify::{Primitive, kinds};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn every_kernel_is_proved_right_on_the_emulator() {
    let args = ["verify", "--device", "emulator", "--max-log2", "2", "--seconds", "0", "--json"];
    let json = without_cuda(&args, b"").json();
    schemas::holds_for(&schemas::validator("verify.json"), &json, "cases");
    assert_eq!(json["device"], "emulator");
    let cases = json["cases"].as_array().expect("there should be cases");
    let of = |primitive: &str| {
        let named = |case: &&Value| {
            let name = case["case"].as_str().unwrap_or_default();
            name.starts_with(&format!("{primitive} "))
        };
        cases.iter().filter(named).count()
    };
    let all = |primitive| kinds(primitive).count();
    let reductions = [Primitive::Reduce, Primitive::Rows, Primitive::Segments];
    assert_eq!(of("reduce"), reductions.map(all).iter().sum::<usize>());
    assert_eq!(of("by key"), all(Primitive::ByKey));
    assert_eq!(of("dot"), all(Primitive::Dot));
    assert_eq!(of("scan"), all(Primitive::Scan));
    assert_eq!(of("select"), all(Primitive::Select));
    assert_eq!(of("ranges,"), all(Primitive::Ranges));
    assert_eq!(of("kendall"), all(Primitive::Kendall));
    assert_eq!(of("sort"), all(Primitive::Sort));
    assert_eq!(of("histogram"), all(Primitive::Histogram));
    assert_eq!(of("top"), all(Primitive::Rank));
    assert_eq!(of("softmax"), all(Primitive::Softmax));
    assert!(cases.iter().any(|case| case["case"] == "barrier, grid"), "{json}");
    for case in cases {
        assert!(case["passed"].as_u64() > Some(0), "{case}");
        assert_eq!(case["failed"], serde_json::json!([]), "{case}");
    }
}

#[test]
fn the_table_fits_a_terminal_and_ends_with_the_sum_and_the_device() {
    let args = ["verify", "--max-log2", "0", "--seeds", "2", "--seconds", "0"];
    let verify = without_cuda(&args, b"").succeeds();
    fits_a_terminal(&verify.stdout);
    let last = verify.stdout.lines().last().unwrap_or_default();
    assert!(last.contains(" passed, 0 failed, on emulator in "), "{last}");
    let is_row = |line: &&str| line.starts_with("scan sum f32  ");
    assert_eq!(verify.stdout.lines().filter(is_row).count(), 1);
}

/// The numbers of a key, summed over all kernels.
fn sum(json: &Value, key: &str) -> u64 {
    let cases = json["cases"].as_array().expect("there should be cases");
    cases.iter().filter_map(|case| case[key].as_u64()).sum()
}

#[test]
#[ignore = "takes minutes"]
fn a_thorough_run_adds_exactly_the_omitted_cases() {
    let verify = |more: &[&str]| {
        let args = ["verify", "--device", "emulator", "--max-log2", "8"];
        without_cuda(&[&args, more].concat(), b"")
    };
    let (limited, thorough) =
        (verify(&["--json"]).json(), verify(&["--json", "--thorough"]).json());
    assert_eq!(sum(&thorough, "left_out"), 0);
    let all = sum(&limited, "passed") + sum(&limited, "left_out");
    assert_eq!(all, sum(&thorough, "passed"));
}

#[test]
fn without_time_every_kernel_is_tried_and_skipped_inputs_are_reported() {
    let args = ["verify", "--device", "emulator", "--seconds", "0"];
    let text = without_cuda(&args, b"").succeeds().stdout;
    let last = text.lines().last().unwrap_or_default();
    assert!(last.contains("longer inputs were left out: --thorough"), "{last}");
    let rows = text.lines().skip(2).filter_map(|line| {
        let mut numbers = line.split_whitespace().rev();
        let (failed, passed) = (numbers.next()?, numbers.next()?);
        Some((passed.parse::<u64>().ok()?, failed.parse::<u64>().ok()?))
    });
    let rows: Vec<_> = rows.collect();
    let primitives = [Primitive::Reduce, Primitive::Rows, Primitive::Scan];
    let kernels = primitives.into_iter().flat_map(kinds).count();
    assert!(rows.len() > kernels, "a row for each kernel: {}", rows.len());
    assert!(rows.iter().all(|&(passed, failed)| passed > 0 && failed == 0), "{text}");
}

#[test]
fn a_stopped_run_has_printed_its_results_so_far() {
    let mut child = Command::new(program::path())
        .args(["verify", "--max-log2", "0", "--thorough"])
        .args(["--device", "emulator"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program should start");
    let stdout = child.stdout.take().expect("stdout is piped");
    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let row = lines.find(|line| line.starts_with("reduce sum f32 "));
    child.kill().expect("it should run");
    child.wait().expect("it should end");
    assert!(row.is_some(), "a row should come");
    let rest: Vec<_> = lines.collect();
    assert!(!rest.iter().any(|line| line.contains(" passed, ")), "{rest:?}");
}

#[test]
fn invalid_arguments_of_verify_are_refused() {
    without_cuda(&["verify", "--seeds", "0"], b"").fails(WRONG_USAGE, &["--seeds", "at least 1"]);
    without_cuda(&["verify", "--max-log2", "35"], b"").fails(WRONG_USAGE, &["35", "34"]);
    without_cuda(&["verify", "--device", "cpu"], b"").fails(WRONG_USAGE, &["emulator"]);
}

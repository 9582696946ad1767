//! `gridsync bench compare`: two runs, line by line.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use serde_json::{Value, json};

const WRONG: i32 = 1;

/// A file with a line for each variant: its median, with the smallest and the largest sample 1 %
/// apart.
fn file(device: &str, lines: &[(&str, f64)]) -> String {
    noisy_file(device, &lines.iter().map(|&(name, us)| (name, us, 0.01)).collect::<Vec<_>>())
}

/// Like `file`; the difference between the smallest and the largest sample is the last number times
/// the median.
fn noisy_file(device: &str, lines: &[(&str, f64, f64)]) -> String {
    let line = |&(variant, median, noise): &(&str, f64, f64)| {
        let record = json!({
            "suite": "barrier", "variant": variant, "device": device,
            "params": { "blocks": 132, "threads": 256 }, "unit": "us", "median": median,
            "min": (1.0 - noise / 2.0) * median, "max": (1.0 + noise / 2.0) * median, "samples": 7, "bytes": null,
            "gb_per_s": null, "peer": null, "warnings": [],
        });
        format!("{record}\n")
    };
    lines.iter().map(line).collect()
}

/// A folder with two runs of one device: one line slower, one faster, one within the noise, and one
/// in each run that the other run lacks.
fn two_runs() -> Folder {
    let before = [("grid", 1.0), ("late", 1.0), ("split", 1.0), ("gone", 1.0)];
    let after = [("grid", 1.05), ("late", 0.9), ("split", 1.005), ("new", 1.0)];
    let folder = Folder::new().with("before.jsonl", file("a GPU", &before));
    folder.with("after.jsonl", file("a GPU", &after))
}

fn compare(folder: &Folder, flags: &[&str]) -> Call {
    folder.call(&[&["bench", "compare", "before.jsonl", "after.jsonl"], flags].concat(), b"")
}

#[test]
fn a_comparison_lists_slower_faster_and_unmatched_lines() {
    let call = compare(&two_runs(), &[]).says_nothing();
    for part in [
        "slower",
        "barrier grid, blocks 132, threads 256  1.000      1.050  +5.0",
        "barrier late, blocks 132, threads 256  1.000      0.900  -10.0",
        "Only before:\n  barrier gone, blocks 132, threads 256\n",
        "Only after:\n  barrier new, blocks 132, threads 256\n",
        "3 lines: 1 slower, 1 faster, 1 within the noise; median change +0.5 %; 1 only before, 1 only after",
    ] {
        assert!(call.stdout.contains(part), "{part:?}: {call:?}");
    }
    assert!(!call.stdout.contains("split"), "it is within the noise: {call:?}");
}

#[test]
fn a_comparison_is_json_with_every_line() {
    let json = compare(&two_runs(), &["--json"]).json();
    let verdicts: Vec<_> = json["lines"]
        .as_array()
        .expect("the lines")
        .iter()
        .map(|line| (line["variant"].as_str(), line["verdict"].as_str()))
        .collect();
    let expected = [("grid", "slower"), ("late", "faster"), ("split", "same")];
    assert_eq!(verdicts, expected.map(|(variant, verdict)| (Some(variant), Some(verdict))));
    assert_eq!(json["lines"][0]["after"]["median"], 1.05);
    assert_eq!(json["devices_differ"], Value::Bool(false));
    assert_eq!(json["only_after"][0]["variant"], "new");
}

#[test]
fn fail_over_ignores_reads_copies_numpy_and_scipy() {
    let not_ours = ["read", "copy", "numpy.cumsum", "scipy.stats.kendalltau"];
    let folder = Folder::new()
        .with("before.jsonl", file("a GPU", &not_ours.map(|variant| (variant, 1.0))))
        .with("after.jsonl", file("a GPU", &not_ours.map(|variant| (variant, 1.5))));
    compare(&folder, &["--fail-over", "4"]).succeeds();
}

#[test]
fn fail_over_fails_only_lines_slower_by_more_than_their_noise_plus_the_limit() {
    let folder = two_runs();
    // `grid` is slower by 5 %, and its noise is 1.05 %.
    let message = "1 of 3 lines are slower by more than their noise plus 3.9 %; the worst, barrier \
        grid, blocks 132, threads 256, is slower by 5.0 %, and its noise is 1.";
    let call = compare(&folder, &["--fail-over", "3.9"]);
    assert_eq!(call.code, Some(WRONG), "{call:?}");
    assert!(call.stderr.contains(message), "{call:?}");
    assert!(call.stdout.contains("+5.0"), "the comparison is printed all the same: {call:?}");
    compare(&folder, &["--fail-over", "4"]).succeeds();
    compare(&folder, &["--fail-over", "-1"])
        .fails(WRONG_USAGE, &["--fail-over", "percentage of 0 or more"]);
}

#[test]
fn fail_over_allows_a_noisy_line_its_noise_before_or_after() {
    let code = |before: (f64, f64), after: (f64, f64)| {
        let file = |(us, noise)| noisy_file("a GPU", &[("grid", us, noise)]);
        let folder = Folder::new().with("before.jsonl", file(before));
        compare(&folder.with("after.jsonl", file(after)), &["--fail-over", "10"]).code
    };
    let (quiet, noisy) = (0.01, 0.495);
    assert_eq!(code((1.0, noisy), (1.54, quiet)), Some(0), "the noise of the run before counts");
    assert_eq!(code((1.0, quiet), (1.54, noisy / 1.54)), Some(0), "that of the run after too");
    assert_eq!(code((1.0, quiet), (1.54, quiet)), Some(WRONG), "as much slower, but quiet");
    assert_eq!(code((1.0, noisy), (2.0, quiet)), Some(WRONG), "much slower");
}

#[test]
fn another_device_is_compared_with_a_warning() {
    let folder = two_runs().with("after.jsonl", file("another GPU", &[("grid", 1.0)]));
    let call = compare(&folder, &[]);
    assert_eq!(call.code, Some(0), "{call:?}");
    assert!(
        call.stderr.contains("the devices differ: a GPU before, another GPU after"),
        "{call:?}"
    );
}

#[test]
fn runs_that_cannot_be_compared_are_refused_in_one_line() {
    let folder = two_runs().with("after.jsonl", file("a GPU", &[("new", 1.0)]));
    compare(&folder, &[]).fails(WRONG_USAGE, &["nothing to compare", "4 lines", "1 in"]);
    let folder = folder.with("after.jsonl", "\n{\"suite\": 1}\n");
    compare(&folder, &[]).fails(WRONG_USAGE, &["after.jsonl:2: not a record: "]);
    let folder = folder.with("after.jsonl", "");
    compare(&folder, &[]).fails(WRONG_USAGE, &["no records in after.jsonl"]);
    folder
        .call(&["bench", "compare", "before.jsonl", "gone"], b"")
        .fails(WRONG_USAGE, &["gone: no such file"]);
}

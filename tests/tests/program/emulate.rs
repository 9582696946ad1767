//! `gridsync emulate`.

use crate::call::{WRONG_USAGE, without_cuda};
use serde_json::Value;

#[test]
fn each_protocol_is_listed_once_and_runs_by_its_name_and_by_its_kind() {
    let shown = without_cuda(&["emulate", "--list"], b"").says_nothing();
    let names: Vec<&str> = shown.stdout.lines().collect();
    assert!(names.len() > 40 && names.contains(&"barrier/tree"), "{names:?}");
    let locks = names.iter().filter(|name| name.starts_with("lock/")).count();
    let shown = without_cuda(&["emulate", "lock", "barrier/tree", "--schedules", "3"], b"");
    let shown = shown.says_nothing();
    let right = shown.stdout.lines().filter(|line| line.contains(": right under ")).count();
    assert_eq!(right, locks + 1, "{}", shown.stdout);
}

#[test]
fn a_weakened_barrier_is_reported_site_by_site_with_the_check_that_caught_it() {
    let call = ["emulate", "barrier/phase", "--weaken", "--schedules", "40"];
    let shown = without_cuda(&call, b"").says_nothing();
    let head = "barrier/phase: ";
    assert!(shown.stdout.starts_with(head), "{}", shown.stdout);
    assert!(shown.stdout.contains("barrier/word.rs:"), "{}", shown.stdout);
    assert!(shown.stdout.contains("release atomic, device scope → relaxed"), "{}", shown.stdout);

    let shown = without_cuda(&[&call[..], &["--json"]].concat(), b"").says_nothing();
    let report: Value = serde_json::from_str(&shown.stdout).expect("one JSON value");
    let sites = report["protocols"][0]["sites"].as_array().expect("sites");
    assert!(sites.len() > 5, "{report}");
    for site in sites {
        assert!(site["caught"]["by"].is_string(), "every order of this barrier is needed: {site}");
        assert!(site["file"].as_str().is_some_and(|file| file.ends_with(".rs")), "{site}");
    }
}

#[test]
fn an_unknown_protocol_is_refused_with_a_pointer_to_the_list() {
    without_cuda(&["emulate", "barrier/trea"], b"").fails(WRONG_USAGE, &["barrier/trea", "--list"]);
    without_cuda(&["--device", "cpu", "emulate", "lock"], b"")
        .fails(WRONG_USAGE, &["leave --device out"]);
}

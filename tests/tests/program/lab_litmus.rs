//! `gridsync lab litmus`.

use crate::call::{WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use litmus::shapes;
use serde_json::{Value, json};
use std::sync::LazyLock;

fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON value a line")).collect()
}

/// Outcomes that the emulator's README lists as exceptions: load buffering, racing writes that have
/// an order, and updates whose scopes do not include each other.
const EXCEPTED: [&str; 4] = ["LB+", "CoWR+", "CoRW2+", "RMW+"];

/// The reports on the classic shapes.
static CLASSIC: LazyLock<Vec<Value>> =
    LazyLock::new(|| lines(&without_cuda(&["lab", "litmus", "--json"], b"").says_nothing().stdout));

#[test]
fn the_classic_shapes_have_the_verdicts_that_were_derived_by_hand_and_the_emulator_agrees() {
    let shapes = shapes::all();
    assert_eq!(CLASSIC.len(), shapes.len() + 3);
    for (report, shape) in CLASSIC.iter().zip(&shapes) {
        assert_eq!(report["file"], shape.name);
        let expected = if shape.allowed { "reachable" } else { "unreachable" };
        assert_eq!(report["model"], expected, "{}", shape.name);
        if report["emulator"].is_null() || EXCEPTED.iter().any(|it| shape.name.starts_with(it)) {
            continue;
        }
        let reached = report["emulator"]["states"].as_array().expect("states").len();
        assert_eq!(reached, report["states"].as_array().expect("states").len(), "{report}");
    }
    let run = CLASSIC.iter().filter(|report| !report["emulator"].is_null()).count();
    assert!(run > 500, "{run}");
}

#[test]
fn a_reader_sees_the_second_write_without_the_first_unless_fences_and_strong_accesses_forbid_it() {
    let stale = json!({ "P1:r0": 20, "P1:r1": 1 });
    for (name, is_reachable) in [
        ("writeXY+readXY", true),
        ("writeXY+readXY+fences", true),
        ("writeXY+readXY+strong+fences", false),
    ] {
        let report = CLASSIC.iter().find(|report| report["file"] == name).expect("it is there");
        for states in [&report["states"], &report["emulator"]["states"]] {
            let states = states.as_array().expect("states");
            assert_eq!(states.contains(&stale), is_reachable, "{report}");
        }
    }
}

/// A spinning lock whose holder never releases it.
const STUCK: &str = "PTX stuck
    { lock=1; }
    P0@cta 0,gpu 0           | P1@cta 0,gpu 0 ;
    again:                   | mov r0, 1 ;
    ld.relaxed.gpu r0, lock  | ;
    bne r0, 0, again         | ;
    exists (P0:r0 == 0)";

#[test]
fn an_endless_wait_is_reported_and_shown() {
    let folder = Folder::new().with("stuck.litmus", STUCK);
    let call = folder.call(&["lab", "litmus", "stuck.litmus", "--schedules", "20", "--json"], b"");
    let report = call.json();
    assert_eq!((&report["terminates"], &report["model"]), (&json!(false), &json!("unreachable")));
    assert_eq!(report["emulator"]["endless"], true);
    assert_eq!(report["gpu"], Value::Null);
    let text = folder.call(&["lab", "litmus", "stuck.litmus"], b"").says_nothing().stdout;
    assert!(text.contains("stuck.litmus") && text.contains("and no end"), "{text}");
}

#[test]
fn a_bad_file_is_refused_with_its_line() {
    let folder = Folder::new().with("bad.litmus", STUCK.replace("relaxed", "relaxing"));
    folder
        .call(&["lab", "litmus", "bad.litmus"], b"")
        .fails(WRONG_USAGE, &["bad.litmus: line 5", "relaxing"]);
    folder.call(&["lab", "litmus", "none.litmus"], b"").fails(WRONG_USAGE, &["none.litmus"]);
}

#[test]
fn several_files_are_several_lines() {
    let folder = Folder::new().with("a.litmus", STUCK).with("b.litmus", STUCK);
    let args = ["lab", "litmus", "a.litmus", "b.litmus", "--json", "--schedules", "3"];
    let call = folder.call(&args, b"").says_nothing();
    let names: Vec<_> = lines(&call.stdout).iter().map(|line| line["file"].clone()).collect();
    assert_eq!(names, ["a.litmus", "b.litmus"]);
}

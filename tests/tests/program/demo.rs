//! `gridsync demo`.

use crate::call::{WRONG_USAGE, gridsync, without_cuda};
use gridsync_tests::program::workspace;
use serde_json::Value;
use std::fs;

/// The three forms in the order of the output: their names, and their numbers of wrong runs.
fn forms(demo: &Value) -> Vec<(String, u64)> {
    let forms = demo["forms"].as_array().expect("there should be forms");
    forms
        .iter()
        .map(|form| {
            let name = form["form"].as_str().expect("a form has a name");
            let wrong = form["wrong_runs"].as_u64().expect("runs are counted");
            (name.to_owned(), wrong)
        })
        .collect()
}

#[track_caller]
fn shows_the_fault_and_the_cure(demo: &Value) {
    let [none, block, grid] = &forms(demo)[..] else {
        panic!("three forms: {demo}");
    };
    assert_eq!(none.0, "no barrier");
    assert_eq!(block.0, "block barrier");
    assert_eq!(grid.0, "grid barrier");
    assert!(none.1 > 0, "{demo}");
    assert!(block.1 > 0, "{demo}");
    assert_eq!(grid.1, 0, "{demo}");
}

#[test]
fn the_first_two_forms_fail_and_the_third_never_does() {
    shows_the_fault_and_the_cure(&gridsync(&["demo", "--json"], b"").json());
    shows_the_fault_and_the_cure(&without_cuda(&["demo", "--json"], b"").json());
}

#[test]
fn one_run_is_enough_to_show_the_fault() {
    let args = ["demo", "--device", "emulator", "--runs", "1", "--json"];
    shows_the_fault_and_the_cure(&gridsync(&args, b"").json());
}

#[test]
fn another_shape_shows_the_fault_too() {
    let args = ["demo", "-n", "192", "--blocks", "3", "--threads", "64", "--runs", "4", "--json"];
    let demo = without_cuda(&args, b"").json();
    shows_the_fault_and_the_cure(&demo);
    assert_eq!(demo["n"], 192);
    assert_eq!(demo["blocks"], 3);
    assert_eq!(demo["threads"], 64);
}

#[test]
fn the_table_shows_the_device_and_the_results() {
    let demo = without_cuda(&["demo", "--runs", "5"], b"").succeeds();
    for part in ["emulator", "no barrier", "block barrier", "grid barrier", "0 of 5"] {
        assert!(demo.stdout.contains(part), "{part:?}: {}", demo.stdout);
    }
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let readme = workspace().join("host/program/README.md");
    let readme = fs::read_to_string(readme).expect("the README should be there");
    let (_, shown) = readme
        .split_once("$ cargo run --release -- demo\n")
        .expect("the README should show the demo");
    let demo = without_cuda(&["demo"], b"").succeeds();
    assert!(
        shown.starts_with(&format!("{}```", demo.stdout)),
        "the README should show:\n{}",
        demo.stdout
    );
}

#[test]
fn tables_fit_a_terminal_and_have_no_trailing_blanks() {
    for args in [
        &["demo"][..],
        &["devices"],
        &["lab", "ladder", "-n", "4096"],
        &["lab", "scans", "-n", "4096"],
        &["lab", "sorts", "-n", "4096"],
        &["lab", "stress", "--rounds", "1"],
    ] {
        let args = [args, &["--device", "emulator"]].concat();
        fits_a_terminal(&without_cuda(&args, b"").succeeds().stdout);
    }
}

/// Checks that no row of a table is too long for a terminal or ends in blanks.
#[track_caller]
pub(crate) fn fits_a_terminal(text: &str) {
    assert!(text.lines().count() > 2, "{text}");
    for line in text.lines() {
        assert_eq!(line, line.trim_end(), "{line:?}");
        // A terminal wraps long lines. Prose remains readable then, but columns do not.
        let is_row = line.contains("  ") && !line.contains(": ");
        assert!(!is_row || line.chars().count() <= 80, "{line}");
    }
}

/// The rows of the table: the name of each form, and its number of wrong runs.
fn wrong_runs(text: &str) -> Vec<(&str, u32)> {
    let row = |line: &'static str, text: &str| {
        let row = text.lines().find(|row| row.trim_start().starts_with(line));
        let row = row.unwrap_or_else(|| panic!("{line}: {text}"));
        let rest = row.trim_start()[line.len()..].trim_start_matches([' ', '*']);
        let wrong = rest.split(' ').next().and_then(|word| word.parse().ok());
        (line, wrong.unwrap_or_else(|| panic!("a number: {row}")))
    };
    ["no barrier", "block barrier", "grid barrier"].map(|line| row(line, text)).to_vec()
}

#[test]
fn no_schedule_claims_a_fault_that_it_does_not_show() {
    for (n, no_barrier_fails, block_barrier_fails) in [
        (1, false, false),
        (2, false, false),
        (3, false, false),
        (32, false, false),
        (33, true, false),
        (64, true, false),
        (65, true, true),
        (128, true, true),
    ] {
        let n = n.to_string();
        let demo = without_cuda(&["demo", "-n", &n, "--device", "emulator"], b"").succeeds();
        let text = &demo.stdout;
        let wrong = wrong_runs(text);
        assert_eq!(wrong[0].1 > 0, no_barrier_fails, "{text}");
        assert_eq!(wrong[1].1 > 0, block_barrier_fails, "{text}");
        assert_eq!(wrong[2].1, 0, "{text}");
        assert_eq!(text.contains("one warp has all elements"), !no_barrier_fails, "{text}");
        assert_eq!(text.contains("one block has all elements"), !block_barrier_fails, "{text}");
        let claims = text.contains("a schedule that shows it was chosen");
        assert!(!claims || no_barrier_fails || block_barrier_fails, "{text}");
        let marked = text.lines().filter(|line| line.contains("barrier *"));
        for line in marked {
            assert!(claims, "{line}: {text}");
        }
    }
}

#[test]
fn one_warp_alone_is_right_in_every_form() {
    let args = ["demo", "-n", "32", "--blocks", "1", "--threads", "32", "--runs", "3", "--json"];
    let demo = without_cuda(&args, b"").json();
    assert!(forms(&demo).iter().all(|(_, wrong)| *wrong == 0), "{demo}");
}

#[test]
fn a_grid_that_does_not_fit_is_refused_with_the_largest_that_fits() {
    // The emulator has 8 multiprocessors; each holds 1024 threads and 16 blocks.
    without_cuda(&["demo", "--blocks", "100000"], b"")
        .fails(WRONG_USAGE, &["100000", "64 threads", "at most 128 blocks"]);
    without_cuda(&["demo", "--blocks", "129"], b"").fails(WRONG_USAGE, &["129", "128"]);
    gridsync(&["demo", "--blocks", "100000"], b"")
        .fails(WRONG_USAGE, &["100000", "launch at most"]);
}

#[test]
fn invalid_grid_shapes_are_refused() {
    let demo = |args: &[&str]| without_cuda(&[&["demo"], args].concat(), b"");
    demo(&["-n", "0"]).fails(WRONG_USAGE, &["--elements", "from 1 to 65536"]);
    demo(&["--blocks", "0"]).fails(WRONG_USAGE, &["0 blocks"]);
    demo(&["--threads", "0"]).fails(WRONG_USAGE, &["0 threads", "1 to 1024"]);
    demo(&["--threads", "2000"]).fails(WRONG_USAGE, &["2000 threads", "1 to 1024"]);
    demo(&["--runs", "0"]).fails(WRONG_USAGE, &["--runs", "at least 1"]);
    demo(&["--blocks", "-1"]).fails(WRONG_USAGE, &["-1"]);
    demo(&["--device", "cpu"]).fails(WRONG_USAGE, &["--device emulator"]);
}

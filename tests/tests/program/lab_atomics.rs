//! `gridsync lab atomics`.

use crate::call::{WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::{Value, json};

/// The measured costs, one for each type and target.
fn costs(shown: &Value) -> &[Value] {
    shown["costs"].as_array().expect("there should be costs")
}

fn cost<'a>(shown: &'a Value, ty: &str, target: &str, with_result: bool) -> &'a Value {
    let is_this = |cost: &&Value| {
        cost["type"] == ty && cost["target"] == target && cost["with_result"] == with_result
    };
    costs(shown).iter().find(is_this).expect("the cost should be there")
}

#[test]
fn every_addition_is_right_for_any_grid_and_the_emulator_counts_it() {
    for (blocks, threads) in [("1", "32"), ("3", "96"), ("4", "256")] {
        let args = ["lab", "atomics", "--blocks", blocks, "--threads", threads, "--json"];
        let shown = without_cuda(&args, b"").json();
        assert_eq!(shown["device"], "emulator");
        assert_eq!(shown["threads"].to_string(), threads);
        assert_eq!(costs(&shown).len(), 4 * (7 + 5));
        for cost in costs(&shown) {
            assert_eq!(cost["right"], true, "{cost}");
            assert!(cost["additions_per_ns"].is_null(), "{cost}");
        }
    }
}

#[test]
fn an_addition_of_a_warp_touches_each_sector_of_its_lanes_once() {
    let shown = without_cuda(&["lab", "atomics", "--blocks", "2", "--json"], b"").json();
    for with_result in [false, true] {
        for (target, of_4_bytes, of_8_bytes) in [
            ("one for all", 1.0, 1.0),
            ("one for each block", 1.0, 1.0),
            ("one for each warp", 1.0, 1.0),
            ("one for each lane", 4.0, 8.0),
            ("a line for each lane", 32.0, 32.0),
        ] {
            let types = [
                ("u32", of_4_bytes),
                ("f32", of_4_bytes),
                ("u64", of_8_bytes),
                ("f64", of_8_bytes),
            ];
            for (ty, sectors) in types {
                let cost = cost(&shown, ty, target, with_result);
                assert_eq!(cost["sectors"], json!(sectors), "{cost}");
                assert_eq!(cost["global_accesses"], json!(1.0), "{cost}");
            }
        }
    }
}

#[test]
fn the_remedies_replace_global_accesses_with_shared_ones_and_shuffles() {
    let shown = without_cuda(&["lab", "atomics", "--blocks", "2", "--json"], b"").json();
    for (ty, shuffles) in [("u32", 5.0), ("u64", 10.0), ("f32", 5.0), ("f64", 10.0)] {
        let shared = cost(&shown, ty, "shared memory first", false);
        assert_eq!(shared["global_accesses"], json!(0.0), "{shared}");
        assert_eq!(shared["shared_accesses"], json!(1.0), "{shared}");
        let warp = cost(&shown, ty, "warp first", false);
        assert_eq!(warp["sectors"], json!(1.0), "{warp}");
        assert_eq!(warp["shuffles"], json!(shuffles), "{warp}");
    }
}

#[test]
fn the_page_has_the_question_the_counts_an_explanation_and_a_chart() {
    let folder = Folder::new();
    let shown = folder.call(&["lab", "atomics", "-o", "."], b"").succeeds().stdout;
    for part in [
        "What does an atomic addition cost",
        "one for each block",
        "4 or 8",
        "shared memory first",
        "only a GPU can tell",
    ] {
        assert!(shown.contains(part), "{part:?}: {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_eq!(folder.names(), ["atomics.svg"]);
    let quiet = without_cuda(&["lab", "atomics", "--quiet"], b"").succeeds().stdout;
    assert!(!quiet.contains("What does") && quiet.contains("shuffles"), "{quiet}");
}

#[test]
fn a_grid_that_cannot_be_checked_is_refused() {
    for (args, parts) in [
        (&["--threads", "48"][..], ["--threads 48", "multiple of 32"]),
        (&["--threads", "2048"], ["--threads", "32 to 1024"]),
        (&["--blocks", "0"], ["--blocks", "1 to 32768"]),
        (&["--blocks", "2000", "--threads", "1024"], ["2000 blocks", "1048576 threads"]),
    ] {
        let args = [&["lab", "atomics"], args].concat();
        without_cuda(&args, b"").fails(WRONG_USAGE, &parts);
    }
}

#[test]
fn a_gpu_adds_right_and_has_a_rate_for_each_type_and_target_on_cuda() {
    with_cuda(|_cuda| {
        let folder = Folder::new();
        let shown = folder.gridsync(&["lab", "atomics", "--json", "-o", "."], b"").json();
        assert_eq!(costs(&shown).len(), 4 * (7 + 5));
        for cost in costs(&shown) {
            assert_eq!(cost["right"], true, "{cost}");
            let [min, median, max] =
                ["min", "additions_per_ns", "max"].map(|key| cost[key].as_f64());
            assert!(Some(0.0) < min && min <= median && median <= max, "{cost}");
        }
        let rate = |target| {
            let found = cost(&shown, "f64", target, false)["additions_per_ns"].as_f64();
            found.expect("a rate")
        };
        assert!(rate("one for each lane") > rate("one for all"), "{shown}");
        for name in ["atomics.svg", "atomics-floats.svg"] {
            assert!(folder.path(name).is_file(), "{name}");
        }
        let text = gridsync(&["lab", "atomics"], b"").succeeds().stdout;
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    });
}

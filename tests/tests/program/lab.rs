//! `gridsync lab`.

use crate::call::{DEVICE_FAILURE, WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use gridsync_verify::{DESIGNS, MUTANTS};
use std::fs;

#[test]
fn spin_prints_each_form_and_its_ptx() {
    let shown = without_cuda(&["lab", "spin"], b"").succeeds();
    for part in [
        "compute_75",
        "naive: a plain load",
        "The load has left the loop",
        "ld.volatile.global",
        "ld.relaxed.gpu.global",
        "ld.acquire.gpu.global",
    ] {
        assert!(shown.stdout.contains(part), "{part:?}: {}", shown.stdout);
    }
    let kept = shown.stdout.matches("loads the word anew").count();
    assert_eq!(kept, 3, "{}", shown.stdout);
}

#[test]
fn under_stress_every_design_holds_and_every_mutant_is_caught() {
    let args = ["lab", "stress", "--device", "emulator", "--rounds", "200", "--json"];
    let shown = without_cuda(&args, b"").json();
    assert_eq!(shown["device"], "emulator");
    assert_eq!(shown["absent"], serde_json::json!([]));
    let list = |key: &str| shown[key].as_array().expect("a list").clone();
    let (designs, mutants) = (list("designs"), list("mutants"));
    assert_eq!(designs.len(), DESIGNS.len());
    for design in &designs {
        assert_eq!(design["held"], true, "{design}");
        assert_eq!(design["settings"], shown["settings"], "{design}");
        assert!(design["crossings"].as_u64() >= Some(200), "{design}");
    }
    assert_eq!(mutants.len(), MUTANTS.len());
    for mutant in &mutants {
        assert_eq!(mutant["held"], false, "{mutant}");
        assert!(mutant["first"].is_string(), "{mutant}");
    }
    assert_eq!(shown["caught"], MUTANTS.len());
}

#[test]
fn under_stress_every_design_holds_on_cuda() {
    with_cuda(|_cuda| {
        let shown = gridsync(&["lab", "stress", "--rounds", "2000", "--json"], b"").json();
        let designs = shown["designs"].as_array().expect("there should be designs");
        assert!(designs.len() >= 12, "{shown}");
        assert!(designs.iter().all(|design| design["held"] == true), "{shown}");
        assert!(shown["caught"].as_u64() >= Some(5), "{shown}");
    });
}

#[test]
fn ladder_prints_a_row_for_each_rung_and_draws_what_it_counted() {
    let folder = Folder::new();
    let shown = folder.call(&["lab", "ladder", "-n", "300", "-o", "."], b"").succeeds();
    for part in ["300 f32 on emulator", "one thread", "warps first", "105"] {
        assert!(shown.stdout.contains(part), "{part:?}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("GB/s"), "{}", shown.stdout);
    assert_eq!(folder.names(), ["operations.svg"]);
}

#[test]
fn ladder_times_every_rung_and_reading_alone_on_cuda() {
    with_cuda(|_cuda| {
        let folder = Folder::new();
        let args = ["lab", "ladder", "-n", "1000003", "--json", "-o", "."];
        let shown = folder.gridsync(&args, b"").json();
        assert!(shown["reading_gb_per_s"].as_f64() > Some(1.0), "{shown}");
        let rungs = shown["rungs"].as_array().expect("there should be rungs");
        assert_eq!(rungs.len(), 18);
        for rung in rungs {
            let [min, median, max] = ["min", "us", "max"].map(|key| rung[key].as_f64());
            assert!(Some(0.0) < min && min <= median && median <= max, "{rung}");
        }
        for name in ["ladder.svg", "operations.svg", "ladder.jsonl"] {
            assert!(folder.path(name).is_file(), "{name}");
        }
    });
}

#[test]
fn scans_climbs_all_eleven_rungs_by_default() {
    let shown = without_cuda(&["lab", "scans", "--json"], b"").json();
    let climbed = shown["rungs"].as_array().expect("there should be rungs");
    assert_eq!(climbed.len(), 11, "{shown}");
    assert_eq!(shown["absent"], serde_json::json!([]));
}

#[test]
fn scans_prints_a_row_for_each_rung_and_draws_what_it_counted() {
    let folder = Folder::new();
    let shown = folder.call(&["lab", "scans", "-n", "300", "-o", "."], b"").succeeds();
    for part in [
        "300 u32 on emulator",
        "one thread",
        "look-back",
        "525",
        "without the library's, bulk copies",
    ] {
        assert!(shown.stdout.contains(part), "{part:?}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("GB/s"), "{}", shown.stdout);
    assert_eq!(folder.names(), ["scan-operations.svg"]);
}

#[test]
fn scans_times_every_rung_and_a_copy_on_cuda() {
    with_cuda(|_cuda| {
        let folder = Folder::new();
        let args = ["lab", "scans", "-n", "1000003", "--json", "-o", "."];
        let shown = folder.gridsync(&args, b"").json();
        assert!(shown["copy_gb_per_s"].as_f64() > Some(1.0), "{shown}");
        let rungs = shown["rungs"].as_array().expect("there should be rungs");
        assert!(rungs.len() >= 10, "{shown}");
        for rung in rungs {
            let [min, median, max] = ["min", "us", "max"].map(|key| rung[key].as_f64());
            assert!(Some(0.0) < min && min <= median && median <= max, "{rung}");
        }
        for name in ["scans.svg", "scan-operations.svg", "scans.jsonl"] {
            assert!(folder.path(name).is_file(), "{name}");
        }
    });
}

#[test]
fn sorts_climbs_all_seven_rungs_by_default() {
    let shown = without_cuda(&["lab", "sorts", "--json"], b"").json();
    let climbed = shown["rungs"].as_array().expect("there should be rungs");
    assert_eq!(climbed.len(), 7, "{shown}");
    assert_eq!(shown["absent"], serde_json::json!([]));
}

#[test]
fn sorts_prints_a_row_for_each_rung_and_draws_what_it_counted() {
    let folder = Folder::new();
    let arguments = ["lab", "sorts", "-n", "3000", "-o", ".", "--device", "emulator"];
    let shown = folder.call(&arguments, b"").succeeds();
    for part in ["3000 u32 on emulator", "odd-even", "1024", "one sweep", "library's"] {
        assert!(shown.stdout.contains(part), "{part:?}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("GB/s"), "{}", shown.stdout);
    assert_eq!(folder.names(), ["sort-operations.svg"]);
}

#[test]
fn sorts_times_every_rung_and_a_copy_on_cuda() {
    with_cuda(|_cuda| {
        let folder = Folder::new();
        let args = ["lab", "sorts", "-n", "1000003", "--json", "-o", "."];
        let shown = folder.gridsync(&args, b"").json();
        assert!(shown["pass_gb_per_s"].as_f64() > Some(1.0), "{shown}");
        let rungs = shown["rungs"].as_array().expect("there should be rungs");
        assert_eq!(rungs.len(), 7, "{shown}");
        for rung in rungs {
            let [min, median, max] = ["min", "us", "max"].map(|key| rung[key].as_f64());
            assert!(Some(0.0) < min && min <= median && median <= max, "{rung}");
        }
        for name in ["sorts.svg", "sort-operations.svg", "sorts.jsonl"] {
            assert!(folder.path(name).is_file(), "{name}");
        }
    });
}

#[test]
fn invalid_arguments_of_lab_are_refused() {
    let call = |args: &[&str]| without_cuda(&[&["lab"], args].concat(), b"");
    call(&["spin", "--arch", "80"]).fails(WRONG_USAGE, &["80", "75 and 90"]);
    call(&["nothing"]).fails(WRONG_USAGE, &["nothing"]);
    call(&["threads", "--block", "1024,2"]).fails(WRONG_USAGE, &["--block", "limit of 1024"]);
    call(&["threads", "--device", "cpu"]).fails(WRONG_USAGE, &["emulator"]);
    call(&["fences", "--device", "emulator"]).fails(WRONG_USAGE, &["emulated", "needs a GPU"]);
    call(&["fences"]).fails(DEVICE_FAILURE, &["needs a GPU", "driver"]);
    call(&["fences", "--device", "cuda"]).fails(DEVICE_FAILURE, &["driver"]);
    call(&["launches", "--device", "emulator"]).fails(WRONG_USAGE, &["emulated", "needs a GPU"]);
    call(&["launches", "--device", "cuda"]).fails(DEVICE_FAILURE, &["driver"]);
    call(&["launches", "--rounds", "0"]).fails(WRONG_USAGE, &["--rounds", "0"]);
    call(&["launches", "--elements", "65537"]).fails(WRONG_USAGE, &["--elements", "65537"]);
    call(&["ladder", "-n", "0"]).fails(WRONG_USAGE, &["--elements", "from 1 to"]);
    call(&["ladder", "--dtype", "f64"]).fails(WRONG_USAGE, &["f64", "f32"]);
    call(&["ladder", "--device", "cpu"]).fails(WRONG_USAGE, &["emulator"]);
    call(&["scans", "-n", "0"]).fails(WRONG_USAGE, &["--elements", "from 1 to"]);
    call(&["scans", "--dtype", "f32"]).fails(WRONG_USAGE, &["--dtype"]);
    call(&["scans", "--device", "cpu"]).fails(WRONG_USAGE, &["emulator"]);
    call(&["sorts", "-n", "0"]).fails(WRONG_USAGE, &["--elements", "from 1 to"]);
    call(&["sorts", "--dtype", "u64"]).fails(WRONG_USAGE, &["--dtype"]);
    call(&["sorts", "--device", "cpu"]).fails(WRONG_USAGE, &["emulator"]);
    call(&["stress", "--rounds", "0"]).fails(WRONG_USAGE, &["--rounds", "from 1 to"]);
    call(&["stress", "--designs", "seed"]).fails(WRONG_USAGE, &["seed", "split"]);
    call(&["stress", "--device", "cpu"]).fails(WRONG_USAGE, &["emulator"]);
}

#[test]
fn fences_reports_a_cost_for_every_operation_grid_and_number_of_stores_on_cuda() {
    with_cuda(|_cuda| {
        let shown = gridsync(&["lab", "fences", "--json"], b"").json();
        assert!(shown["clock_mhz"].as_f64() > Some(100.0), "{shown}");
        let costs = shown["costs"].as_array().expect("there should be costs");
        assert_eq!(costs.len(), 10 * 2 * 3);
        for cost in costs {
            let [min, median, max] = ["min", "cycles", "max"].map(|key| cost[key].as_f64());
            assert!(min <= median && median <= max, "{cost}");
            assert!(cost["ns"].is_number() && cost["instruction"].is_string(), "{cost}");
        }
    });
}

#[test]
fn launches_writes_no_file_when_refused() {
    let folder = Folder::new();
    let call = folder.call(&["lab", "launches", "-o", "figures"], b"");
    call.fails(DEVICE_FAILURE, &["needs a GPU"]);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn the_help_of_launches_lists_forms_and_files_and_mkl_is_an_alias() {
    let help = without_cuda(&["lab", "launches", "--help"], b"").succeeds();
    let alias = without_cuda(&["lab", "mkl", "--help"], b"").succeeds();
    assert_eq!(alias.stdout, help.stdout);
    for part in ["graph", "--rounds", "[default: 100]", "fig5-launches.svg", "cost-model.txt"] {
        assert!(help.stdout.contains(part), "{part:?}: {}", help.stdout);
    }
}

#[test]
fn launches_reports_the_time_of_every_form_and_writes_every_figure_on_cuda() {
    with_cuda(|cuda| {
        let folder = Folder::new();
        let args = ["lab", "launches", "--rounds", "10", "--elements", "64", "--json", "-o", "."];
        let shown = folder.gridsync(&args, b"").json();
        let forms = shown["forms"].as_array().expect("there should be forms");
        let expected = if cuda.properties().compute < 90 { 9 } else { 11 };
        assert_eq!(forms.len(), expected, "{shown}");
        assert_eq!(shown["plan"], "single");
        for form in forms {
            let [min, median, max] =
                ["min", "us_per_transform", "max"].map(|key| form[key].as_f64());
            assert!(Some(0.0) < min && min <= median && median <= max, "{form}");
        }
        for name in ["fig5-launches.svg", "fig5-graph.svg", "fig6.svg"] {
            let svg = fs::read_to_string(folder.path(name)).expect("it should be written");
            assert!(svg.starts_with("<svg"), "{name}");
        }
        let records = fs::read_to_string(folder.path("launches.jsonl")).expect("it is written");
        assert_eq!(records.lines().count(), expected + 120);
        assert!(folder.path("cost-model.txt").is_file());
    });
}

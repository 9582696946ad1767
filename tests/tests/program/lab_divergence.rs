//! `gridsync lab divergence`.

use crate::call::{WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::Value;
use std::fs;

/// The kernels, each with the diverged branches and the branches of a warp, if blocks consist of
/// whole warps.
const KERNELS: [(&str, u64, u64); 6] = [
    ("math1", 1, 1),
    ("math2", 0, 1),
    ("math3", 1, 1),
    ("math3, two ifs", 2, 2),
    ("math4", 0, 1),
    ("math4 in C", 0, 1),
];

/// The entries of a list.
fn list<'a>(shown: &'a Value, key: &str) -> &'a [Value] {
    shown[key].as_array().expect("there should be a list")
}

/// Checks the counts of a grid of `warps` whole warps.
#[track_caller]
fn counts_whole_warps(shown: &Value, warps: u64) {
    let kernels = list(shown, "kernels");
    assert_eq!(kernels.len(), KERNELS.len());
    for (kernel, (name, diverged, branches)) in kernels.iter().zip(KERNELS) {
        assert_eq!(kernel["kernel"], name);
        assert_eq!(kernel["branches"], warps * branches, "{kernel}");
        assert_eq!(kernel["diverged"], warps * diverged, "{kernel}");
        let efficiency = 100.0 * (branches - diverged) as f64 / branches as f64;
        assert_eq!(kernel["efficiency"], efficiency, "{kernel}");
        assert_eq!(kernel["counted_by_warps"]["branches"], kernel["branches"], "{kernel}");
        assert_eq!(kernel["counted_by_warps"]["diverged"], kernel["diverged"], "{kernel}");
        // The store of 32 elements is one instruction, and its 128 bytes are four sectors.
        assert_eq!(kernel["instructions"], warps * (branches + 1), "{kernel}");
        assert_eq!(kernel["sectors"], 4 * warps, "{kernel}");
        assert_eq!(kernel["least_sectors"], 4 * warps, "{kernel}");
        assert_eq!(kernel["ptx_branches"], 0, "{kernel}");
        assert!(kernel["ptx_branches_with_loops"].as_u64() >= Some(1), "{kernel}");
    }
}

#[test]
fn emulator_and_warps_count_the_same_branches_and_ptx_without_loops_has_none() {
    let args = ["lab", "divergence", "--size", "5000", "--json"];
    let shown = without_cuda(&args, b"").json();
    assert_eq!((&shown["block"], &shown["blocks"]), (&64.into(), &79.into()));
    counts_whole_warps(&shown, 158);
    for kernel in list(&shown, "kernels") {
        assert!(kernel["us"].is_null() && kernel["us_with_loops"].is_null(), "{kernel}");
    }
}

#[test]
fn blocks_with_partial_warps_make_math2_diverge() {
    let args = ["lab", "divergence", "--block", "40", "--size", "4000"];
    let shown = without_cuda(&[&args[..], &["--json"]].concat(), b"").json();
    let kernels = list(&shown, "kernels");
    assert!(kernels[1]["diverged"].as_u64() > Some(0), "{}", kernels[1]);
    assert_eq!(kernels[1]["diverged"], kernels[4]["diverged"]);
    assert_eq!(kernels[5]["diverged"], 0);
    for kernel in kernels {
        assert_eq!(kernel["counted_by_warps"]["diverged"], kernel["diverged"], "{kernel}");
    }
    let shown = without_cuda(&args, b"").succeeds();
    assert!(shown.stdout.contains("no whole warps"), "{}", shown.stdout);
}

#[test]
fn the_page_shows_the_condition_in_c_and_draws_the_cost_of_paths() {
    let folder = Folder::new();
    let args = ["lab", "divergence", "--size", "640", "-o", "."];
    let shown = folder.call(&args, b"").succeeds();
    for part in ["(tid >> 5) & (1 == 0)", "binds weaker", "selp", "math3, two ifs", "0 %"] {
        assert!(shown.stdout.contains(part), "{part:?}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("µs"), "{}", shown.stdout);
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{}", shown.stdout);
    assert_eq!(folder.names(), ["divergence.svg"]);
    let svg = fs::read_to_string(folder.path("divergence.svg")).expect("it should be written");
    assert!(svg.starts_with("<svg") && svg.contains("dealt to warps"), "{svg}");
}

#[test]
fn an_impossible_launch_is_refused() {
    let call = |args: &[&str]| without_cuda(&[&["lab", "divergence"], args].concat(), b"");
    call(&["--block", "0"]).fails(WRONG_USAGE, &["--block", "from 1 to 1024"]);
    call(&["--block", "1025"]).fails(WRONG_USAGE, &["--block", "1025"]);
    call(&["--size", "0"]).fails(WRONG_USAGE, &["--size", "from 1 to"]);
    call(&["--size", "2^21"]).fails(WRONG_USAGE, &["--size", "2^21"]);
    call(&["--device", "cpu"]).fails(WRONG_USAGE, &["emulator"]);
}

#[test]
fn different_paths_of_a_warp_take_longer_than_one_on_cuda() {
    with_cuda(|_cuda| {
        let shown = gridsync(&["lab", "divergence", "--json"], b"").json();
        counts_whole_warps(&shown, 2048);
        for kernel in list(&shown, "kernels") {
            for time in ["us", "us_with_loops"] {
                assert!(kernel[time]["median"].as_f64() > Some(0.0), "{kernel}");
            }
        }
        let cycles = |paths: u64, dealt_to: &str| {
            let is_it = |cost: &&Value| cost["paths"] == paths && cost["dealt_to"] == dealt_to;
            let cost = list(&shown, "paths").iter().find(is_it).expect("it should be there");
            cost["cycles"]["median"].as_f64().expect("it is measured")
        };
        // With 32 times the work in each warp, the ratio is near 32 on any GPU.
        assert!(cycles(32, "lanes") > 8.0 * cycles(1, "lanes"), "{shown}");
        assert!(cycles(32, "warps") < 4.0 * cycles(1, "warps"), "{shown}");
    });
}

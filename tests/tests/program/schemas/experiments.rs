//! Experiments, proofs and demonstrations: outputs without a GPU, and records of GPUs.

use super::{holds, holds_for, validator};
use crate::call::without_cuda;
use crate::folder::Folder;
use gridsync_lab::{fences, limits, litmus, spin, stress, threads};
use gridsync_tests::program::workspace;
use serde_json::Value;
use std::fs;

/// The schema, a call without a GPU, and a field that its output must have.
const CALLS: [(&str, &str, &str); 35] = [
    ("devices", "devices", "no_cuda"),
    ("devices", "devices --device cpu", "cpu"),
    ("demo", "demo --runs 2", "forms"),
    ("demo", "demo -n 192 --blocks 3 --threads 64 --runs 2", "device"),
    ("emulate", "emulate --list", "protocols"),
    ("emulate", "emulate lock/ticket barrier/grid --schedules 3 --seed 9", "schedules"),
    ("emulate", "emulate lock/ticket --weaken --schedules 4", "protocols"),
    ("dag", "dag", "methods"),
    ("dag", "dag --chain 20 -n 40", "critical_path"),
    ("dag", "dag --random 3 --nodes 30 --blocks 3", "edges"),
    ("dag", "dag --diamond --microseconds 20 --threads 64", "critical_path_us"),
    ("dag", "dag --chain 6 --by graph --by kernel-edges", "elements"),
    ("lab", "lab", "experiments"),
    ("lab-threads", "lab threads", "records"),
    ("lab-threads", "lab threads --block 5,3,2", "block"),
    ("lab-divergence", "lab divergence --size 64", "first_launch_us"),
    ("lab-divergence", "lab divergence --size 100 --block 48", "paths"),
    ("lab-limits", "lab limits", "tried"),
    ("lab-spin", "lab spin", "forms"),
    ("lab-spin", "lab spin --arch 90", "arch"),
    ("lab-litmus", "lab litmus stuck.litmus --schedules 5", "emulator"),
    ("lab-litmus", "lab litmus forall.litmus --schedules 5", "quantifier"),
    ("lab-litmus", "lab litmus not.litmus --schedules 5", "gpu"),
    ("lab-atomics", "lab atomics --blocks 2 --threads 64", "costs"),
    ("lab-locks", "lab locks --blocks 1 --threads 2 --sections 4", "sections"),
    ("lab-banks", "lab banks --bytes 4", "loads"),
    ("lab-banks", "lab banks --bytes 16", "tiles"),
    ("lab-ladder", "lab ladder -n 1", "reading_gb_per_s"),
    ("lab-ladder", "lab ladder -n 1000 --dtype u32", "rungs"),
    ("lab-scans", "lab scans -n 1", "copy_gb_per_s"),
    ("lab-scans", "lab scans -n 1000", "absent"),
    ("lab-sorts", "lab sorts -n 1", "pass_gb_per_s"),
    ("lab-sorts", "lab sorts -n 1000", "rungs"),
    ("lab-stress", "lab stress --rounds 1 --designs grid --right-only", "mutants"),
    ("lab-stress", "lab stress --rounds 1 --designs tree", "caught"),
];

/// A test that waits forever in some runs, with this question.
fn litmus_test(question: &str) -> String {
    format!(
        "PTX stuck
{{ lock=1; }}
P0@cta 0,gpu 0           | P1@cta 0,gpu 0 ;
again:                   | mov r0, 1 ;
ld.relaxed.gpu r0, lock  | ;
bne r0, 0, again         | ;
{question} (P0:r0 == 0)
"
    )
}

#[test]
fn outputs_without_a_gpu_match_their_schema() {
    let folder = Folder::new()
        .with("stuck.litmus", litmus_test("exists"))
        .with("forall.litmus", litmus_test("forall"))
        .with("not.litmus", litmus_test("~exists"));
    for (schema, call, needed) in CALLS {
        let args: Vec<&str> = call.split(' ').chain(["--json"]).collect();
        let output = folder.call(&args, b"").json();
        holds_for(&validator(&format!("{schema}.json")), &output, needed);
    }
}

#[test]
fn each_line_of_the_classic_shapes_matches_its_schema() {
    let validator = validator("lab-litmus.json");
    let call = without_cuda(&["lab", "litmus", "--schedules", "1", "--json"], b"").succeeds();
    for line in call.stdout.lines() {
        holds(&validator, &serde_json::from_str(line).expect("a JSON value"));
    }
    assert!(call.stdout.lines().count() > 800);
}

/// Records of GPUs whose experiments still print the same fields: the schema, and the file in
/// `bench/runs`.
const RECORDS: [(&str, &str); 15] = [
    ("dag", "2026-11-23-nvidia-h200/dag-chain-1000-n1.json"),
    ("dag", "2026-11-23-nvidia-h200/dag-chain-1000-n256.json"),
    ("dag", "2026-11-23-nvidia-h200/dag-chain-1000-n32.json"),
    ("dag", "2026-11-23-nvidia-h200/dag-chain-200-peers.json"),
    ("dag", "2026-11-23-nvidia-h200/dag-diamond-50us.json"),
    ("dag", "2026-11-23-nvidia-h200/dag-random-1000-n32.json"),
    ("dag", "2026-11-23-nvidia-h200/dag-random-1000.json"),
    ("lab-atomics", "2026-11-23-nvidia-h200/lab-atomics.json"),
    ("lab-banks", "2026-11-23-nvidia-h200/lab-banks.json"),
    ("lab-divergence", "2026-11-23-nvidia-h200/lab-divergence.json"),
    ("lab-fences", "2026-11-23-nvidia-h200/lab-fences.json"),
    ("lab-limits", "2026-11-23-nvidia-h200/lab-limits.json"),
    ("lab-locks", "2026-11-23-nvidia-h200/lab-locks.json"),
    ("lab-memory", "2026-11-23-nvidia-h200/lab-memory.json"),
    ("lab-threads", "2026-11-23-nvidia-h200/lab-threads.json"),
];

#[test]
fn records_of_gpus_match_their_schema() {
    for (schema, file) in RECORDS {
        let text = fs::read_to_string(workspace().join("bench/runs").join(file));
        let record: Value = serde_json::from_str(&text.expect("it is there")).expect("JSON");
        holds(&validator(&format!("{schema}.json")), &record);
    }
}

/// Reads each JSON as a type, and compares it with what that serializes to.
macro_rules! read_back {
    ($($ty:ty: $json:expr;)*) => {$(
        let json: Value = $json;
        let read: $ty = serde_json::from_value(json.clone()).expect("a result");
        assert_eq!(serde_json::to_value(read).expect("JSON"), json);
    )*};
}

#[test]
fn json_of_experiments_is_read_back_without_loss() {
    let record = |name: &str| -> Value {
        let runs = workspace().join("bench/runs/2026-11-23-nvidia-h200");
        let text = fs::read_to_string(runs.join(format!("lab-{name}.json")));
        serde_json::from_str(&text.expect("it is there")).expect("JSON")
    };
    let folder = Folder::new().with("stuck.litmus", litmus_test("~exists"));
    let output = |call: &str| {
        let args: Vec<&str> = ["lab"].into_iter().chain(call.split(' ')).collect();
        folder.call(&[&args[..], &["--json"]].concat(), b"").json()
    };
    read_back! {
        fences::Report: record("fences");
        limits::Report: record("limits");
        threads::Report: record("threads");
        spin::Report: output("spin");
        limits::Report: output("limits");
        stress::Report: output("stress --rounds 1 --designs tree");
        litmus::Answer: output("litmus stuck.litmus --schedules 5");
    }
}

#[test]
fn the_table_of_schemas_lists_exactly_the_schemas() {
    let folder = workspace().join("docs/schemas");
    let table = fs::read_to_string(folder.join("README.md")).expect("it is there");
    let mut told: Vec<&str> = table
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| [")?.split_once(']')?.0))
        .collect();
    told.sort_unstable();
    let mut there: Vec<String> = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("plain"))
        .filter(|name| name.ends_with(".json"))
        .collect();
    there.sort_unstable();
    assert_eq!(told, there);
}
